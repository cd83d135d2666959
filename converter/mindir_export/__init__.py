"""Writes MindIR modules as MindSpore's `.mindir` files."""

from __future__ import annotations

from .files import save_mindir

__all__ = ["save_mindir"]
