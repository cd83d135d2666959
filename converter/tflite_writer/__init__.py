"""Writes int8 MindIR nodes as a TensorFlow Lite file with bit-identical results.

The inverse of `parsers/tflite`, for tools that only read TensorFlow Lite files. `registry.py` has the operators; there
is a module for each family.
"""

from mslite.converter.tflite_writer.registry import WRITERS
from mslite.converter.tflite_writer.write import File, refusal, write_tflite

__all__ = ["WRITERS", "File", "refusal", "write_tflite"]
