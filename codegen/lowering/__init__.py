"""From a model file to a `Program`: shapes fixed, constants folded, kernels of the target chosen, prepared and packed."""

from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.lower import lower, lower_ms

__all__ = ["LoweringError", "lower", "lower_ms"]
