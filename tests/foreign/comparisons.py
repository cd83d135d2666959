"""All comparisons with another runtime; the modules that declare them are imported here."""

from __future__ import annotations

from . import (  # noqa: F401
    arithmetic,
    assembly,
    detection,
    indexing,
    integers,
    layers,
    matrices,
    reductions,
    sequences,
    sparse,
    text,
    windows,
)
from .registry import COMPARISONS, check

__all__ = ["COMPARISONS", "check"]
