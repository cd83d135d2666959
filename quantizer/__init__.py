"""Quantizes models: full integers after calibration, stored weights only, or activations at run time.

`quantize` (pipeline.py) is the whole of it; its subpackages hold the steps, each usable alone (docs/architecture.md).
"""

from __future__ import annotations
