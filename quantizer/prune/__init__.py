"""Weights or channels that matter least are removed from the float model before it is quantized."""
