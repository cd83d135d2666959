"""Caffe 1.0: prototxt and caffemodel -> MindIR."""

from __future__ import annotations

from .parser import parse

__all__ = ["parse"]
