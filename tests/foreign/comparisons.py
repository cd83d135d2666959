"""All comparisons with other runtimes; imports the modules that declare them."""

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
