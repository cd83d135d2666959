"""Parser for Caffe 1.0 models (prototxt and caffemodel)."""

from __future__ import annotations

from .parser import parse

__all__ = ["parse"]
