"""Quantization-aware tuning: the float model teaches its own quantized form on the calibration data."""
