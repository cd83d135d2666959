"""Time and memory of a step of training in mslite and in PyTorch, measured interleaved in one run."""
