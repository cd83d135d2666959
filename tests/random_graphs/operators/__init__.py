"""The table of operators for random graphs: a function for each, by family."""

from __future__ import annotations

from . import (
    bodies,
    control_flow,
    elementwise,
    indexing,
    layers,
    matrices,
    microsoft,
    microsoft_integers,
    movement,
    newer,
    normalization,
    patterns,
    pooling,
    quantized,
    recurrent,
    reductions,
    scikit,
    sequences,
)
from .registry import OPERATORS

__all__ = [
    "OPERATORS",
    "bodies",
    "control_flow",
    "elementwise",
    "indexing",
    "layers",
    "matrices",
    "microsoft",
    "microsoft_integers",
    "movement",
    "newer",
    "normalization",
    "patterns",
    "pooling",
    "quantized",
    "recurrent",
    "reductions",
    "scikit",
    "sequences",
]
