"""Where models come from."""

from __future__ import annotations

from enum import IntEnum


class FmkType(IntEnum):
    """Frameworks that models come from; numbers are MindSpore Lite's, but for THIRDPARTY."""

    TF = 0
    CAFFE = 1
    ONNX = 2
    MINDIR = 3
    TFLITE = 4
    PYTORCH = 5
    MSLITE = 6
    THIRDPARTY = 8
    """Formats that only a registered model parser reads."""
