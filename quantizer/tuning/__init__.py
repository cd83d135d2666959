"""Quantisation-aware tuning: the float model teaches its own quantised form on the calibration data."""
