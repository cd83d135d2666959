"""Quantizes models: full quantization with calibration, weight quantization, or dynamic quantization.

`quantize` in pipeline.py runs all steps. The subpackages implement the steps (docs/architecture.md).
"""

from __future__ import annotations
