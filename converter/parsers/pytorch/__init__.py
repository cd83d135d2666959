"""PyTorch programs -> ONNX, by torch's own exporter."""

from __future__ import annotations

from .export import export_onnx

__all__ = ["export_onnx"]
