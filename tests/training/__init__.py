"""Tests of training with the Python API; the C++ API is tested in tests/runtime."""
