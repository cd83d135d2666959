"""Models that learn: the API in Python and what it computes; the C++ API is tested in tests/runtime."""
