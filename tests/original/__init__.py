"""Compares with the original, the wheel mindspore-lite 2.0.0, which needs CPython 3.7. `make check-original` runs these tests."""
