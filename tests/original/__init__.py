"""Beside the original: the wheel mindspore-lite 2.0.0, which only CPython 3.7 can load. `make check-original` runs these."""
