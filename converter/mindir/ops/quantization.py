"""Quantization and dequantization."""

from __future__ import annotations

from ._declare import Ints, Operator, boolean, integers, long, operator


@operator(
    113,
    layout="elementwise",
    tflite="DEQUANTIZE QUANTIZE",
    onnx="QuantizeLinear DequantizeLinear Int8Quantize Int8Dequantize AscendDequant AscendQuant",
    caffe="Quant DeQuant",
)
class QuantDTypeCast(Operator):
    """Quantizes, dequantizes or requantizes."""

    src_t: int = long(0)
    """TypeId number of the input"""
    dst_t: int = long(1)
    """TypeId number of the output"""
    axis: int = long(2)
    """per-channel axis"""


@operator(203, since_1_3=False)
class DynamicQuant(Operator):
    """Quantizes with a range that is computed at run time."""

    symmetric: bool = boolean(0)
    dst_type: int = long(1, 32)
    """TypeId number of output (32 int8)"""
    activation_channel: bool = boolean(2)
    prefer_axis: int = long(3)
    transpose: bool = boolean(4)
    prefer_axes: Ints = integers(5)
    """axes with separate scales; prefer_axis is the older form for one axis"""


@operator(57, inputs="x min max", layout="elementwise", tensorflow="FakeQuantWithMinMaxVars")
class FakeQuantWithMinMaxVars(Operator):
    """Quantizes and dequantizes."""

    num_bits: int = long(0)
    narrow_range: bool = boolean(1)


@operator(58, inputs="x min max", layout="elementwise")
class FakeQuantWithMinMaxVarsPerChannel(Operator):
    """Quantizes and dequantizes per channel."""

    num_bits: int = long(0)
    narrow_range: bool = boolean(1)


@operator(
    1222, outputs="y scale zero", layout="any", onnx="DynamicQuantizeLinear", custom_type="mslite.DynamicQuantizeLinear"
)
class DynamicQuantizeLinear(Operator):
    """Quantizes to uint8 by the range of x and 0; scale and zero point are also outputs. Computed in float32.

    scale = (high - low) / 255, or 1 if all elements are 0; zero = round(-low / scale); y = round(x / scale) + zero;
    rounded half to even and clamped to 8 bits.
    """
