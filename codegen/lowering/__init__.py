"""Lowers a model file to a `Program`: fixes shapes, folds constants, selects the target's kernels and packs their
weights."""

from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.lower import lower, lower_ms

__all__ = ["LoweringError", "lower", "lower_ms"]
