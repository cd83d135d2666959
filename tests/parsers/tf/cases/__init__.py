"""Small TensorFlow models by family. `CASES` has the order in which the families are imported."""

from __future__ import annotations

from . import control_flow, elementwise, fused, images, indexing, products, rearrange, recurrent, signals, windows
from .registry import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "control_flow",
    "elementwise",
    "fused",
    "images",
    "indexing",
    "products",
    "rearrange",
    "recurrent",
    "signals",
    "windows",
]
