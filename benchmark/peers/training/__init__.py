"""Compares time and memory of a training step in mslite and in PyTorch, measured interleaved in one run."""
