"""Converts ONNX models to MindIR."""

from __future__ import annotations

from .parser import parse

__all__ = ["parse"]
