"""Gradient rules, one per operator: compute the gradients of a node's inputs from the gradient of its output.

A rule returns one entry per input: a value of the input's shape, or None if the gradient is not needed. It is called
for nodes without fused activations (`normalize.py`).
"""

from mslite.converter.training.gradients import (  # registers the rules
    elementwise,
    indexing,
    matmul,
    normalization,
    pooling,
    rearrange,
    resizing,
    space_to_batch,
    trigonometry,
)
from mslite.converter.training.gradients.rule import RULES, RULES_OF_SEVERAL, Call, NoGradientError, shape_of

__all__ = [
    "RULES",
    "RULES_OF_SEVERAL",
    "Call",
    "NoGradientError",
    "elementwise",
    "indexing",
    "matmul",
    "normalization",
    "pooling",
    "rearrange",
    "resizing",
    "shape_of",
    "space_to_batch",
    "trigonometry",
]
