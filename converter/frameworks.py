"""The frameworks of source models."""

from __future__ import annotations

from enum import IntEnum


class FmkType(IntEnum):
    """Frameworks of source models; the values are MindSpore Lite's, except for THIRDPARTY."""

    TF = 0
    CAFFE = 1
    ONNX = 2
    MINDIR = 3
    TFLITE = 4
    PYTORCH = 5
    MSLITE = 6
    THIRDPARTY = 8
    """A format that a registered model parser reads."""
