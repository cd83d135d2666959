"""Quantises models: full integers after calibration, stored weights only, or activations at run time.

`quantise` (pipeline.py) is the whole of it; the other modules are its steps, each usable alone.
"""

from __future__ import annotations
