"""MindIR nodes on stored 8-bit integers -> a TensorFlow Lite file that computes the same bits.

The inverse of `parsers/tflite`, for those who read nothing else: `registry.py` has the operators, one module per family.
"""

from mslite.converter.tflite_writer.registry import WRITERS
from mslite.converter.tflite_writer.write import File, refusal, write_tflite

__all__ = ["WRITERS", "File", "refusal", "write_tflite"]
