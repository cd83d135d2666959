"""The table of operators that random graphs are made of: one small function each, by family."""

from __future__ import annotations

from . import (
    control_flow,
    elementwise,
    indexing,
    layers,
    matrices,
    movement,
    normalisation,
    patterns,
    pooling,
    quantised,
    recurrent,
    reductions,
)
from .registry import OPERATORS

__all__ = [
    "OPERATORS",
    "control_flow",
    "elementwise",
    "indexing",
    "layers",
    "matrices",
    "movement",
    "normalisation",
    "patterns",
    "pooling",
    "quantised",
    "recurrent",
    "reductions",
]
