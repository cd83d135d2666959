"""Gradient rules, one per operator: from the gradient of a node's result to those of its operands.

A rule returns one entry per operand: a value of the operand's shape, or None where nothing depends on it. It is asked for nodes
whose fused activations were taken apart (`normalize.py`).
"""

from mslite.converter.training.gradients import (  # each of them adds its rules to the table
    blocks,
    functions,
    indexing,
    movements,
    normalization,
    pooling,
    products,
    resizing,
    trigonometry,
)
from mslite.converter.training.gradients.rule import RULES, RULES_OF_SEVERAL, Call, NoGradientError, shape_of

__all__ = [
    "RULES",
    "RULES_OF_SEVERAL",
    "Call",
    "NoGradientError",
    "blocks",
    "functions",
    "indexing",
    "movements",
    "normalization",
    "pooling",
    "products",
    "resizing",
    "shape_of",
    "trigonometry",
]
