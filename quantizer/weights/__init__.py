"""Quantizes weights: rounding (nearest, learned, GPTQ, AWQ), per-block scales, and their encodings in a file."""
