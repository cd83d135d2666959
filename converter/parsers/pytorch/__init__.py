"""Converts PyTorch programs (.pt2) to ONNX with torch's exporter."""

from __future__ import annotations

from .export import export_onnx
from .reference import ProgramRunError, ProgramRuns, run_program
from .variables import with_variables

__all__ = ["ProgramRunError", "ProgramRuns", "export_onnx", "run_program", "with_variables"]
