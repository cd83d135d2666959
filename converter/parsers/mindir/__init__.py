"""Parser for MindSpore's `.mindir` models."""

from __future__ import annotations

from .parser import parse
from .training_step import training_settings

__all__ = ["parse", "training_settings"]
