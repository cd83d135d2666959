"""Two tensors with NumPy broadcasting, element by element."""

from __future__ import annotations

from ._declare import Operator, enum, long, operator, real
from .enums import ActivationType, EltwiseMode, Format


@operator(5, inputs="a b", layout="elementwise", tflite="ADD", onnx="Add Int8Add", tensorflow="Add AddV2")
class AddFusion(Operator):
    """a + b, then the fused activation."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)


@operator(152, inputs="a b", layout="elementwise", tflite="SUB", onnx="Sub", tensorflow="Sub")
class SubFusion(Operator):
    """a - b, then the fused activation."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)


@operator(99, inputs="a b", layout="elementwise", tflite="MUL", onnx="Mul", tensorflow="Mul")
class MulFusion(Operator):
    """a * b, then the fused activation."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)


@operator(47, inputs="a b", layout="elementwise", tflite="DIV", onnx="Div", tensorflow="Div RealDiv")
class DivFusion(Operator):
    """a / b (integers truncate), then the fused activation."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)


@operator(117, inputs="a b", layout="elementwise")
class RealDiv(Operator):
    """a / b."""


@operator(64, inputs="a b", layout="elementwise", tflite="FLOOR_DIV", tensorflow="FloorDiv")
class FloorDiv(Operator):
    """floor(a / b)."""


@operator(65, inputs="a b", layout="elementwise", tflite="FLOOR_MOD", tensorflow="FloorMod")
class FloorMod(Operator):
    """a - floor(a / b) * b."""


@operator(98, inputs="a b", layout="elementwise", onnx="Mod")
class Mod(Operator):
    """Remainder with the sign of the dividend (C's fmod)."""


@operator(90, inputs="a b", layout="elementwise", tflite="MAXIMUM", onnx="Max", tensorflow="Maximum")
class Maximum(Operator):
    """The larger of a and b."""


@operator(96, inputs="a b", layout="elementwise", tflite="MINIMUM", onnx="Min", tensorflow="Minimum")
class Minimum(Operator):
    """The smaller of a and b."""


@operator(149, inputs="a b", layout="elementwise", tflite="SQUARED_DIFFERENCE", tensorflow="SquaredDifference")
class SquaredDifference(Operator):
    """(a - b)^2."""


@operator(110, inputs="x [exponent]", layout="elementwise", tflite="POW", onnx="Pow", tensorflow="Pow", caffe="Power")
class PowFusion(Operator):
    """(scale * x + shift)^exponent."""

    scale: float = real(0, 1.0)
    shift: float = real(1)


@operator(52, inputs="a b", layout="elementwise", onnx="Sum", caffe="Eltwise")
class Eltwise(Operator):
    """Product, sum or maximum of two tensors of one shape."""

    mode: EltwiseMode = enum(0, EltwiseMode.PROD)


@operator(8, inputs="x*", layout="elementwise", tflite="ADD_N", tensorflow="AddN")
class AddN(Operator):
    """Sum of tensors of one shape."""


@operator(23, inputs="x bias", layout="nhwc", onnx="BiasAdd", tensorflow="BiasAdd")
class BiasAdd(Operator):
    """Adds a vector along the last dimension."""

    format: Format = enum(0, Format.NCHW)


@operator(127, inputs="x scale [offset]", layout="axis", caffe="Scale")
class ScaleFusion(Operator):
    """x * scale + offset, the operands covering dimensions from `axis` on."""

    axis: int = long(0)
    activation_type: ActivationType = enum(1, ActivationType.NO_ACTIVATION)


# ---- of mslite: integer logic that MindIR does not have ----


@operator(
    1030,
    inputs="a b",
    layout="elementwise",
    onnx="BitwiseAnd",
    tensorflow="BitwiseAnd",
    custom_type="mslite.BitwiseAnd",
)
class BitwiseAnd(Operator):
    """a & b of integers."""


@operator(
    1031, inputs="a b", layout="elementwise", onnx="BitwiseOr", tensorflow="BitwiseOr", custom_type="mslite.BitwiseOr"
)
class BitwiseOr(Operator):
    """a | b of integers."""


@operator(
    1032,
    inputs="a b",
    layout="elementwise",
    tflite="BITWISE_XOR",
    onnx="BitwiseXor",
    tensorflow="BitwiseXor",
    custom_type="mslite.BitwiseXor",
)
class BitwiseXor(Operator):
    """a ^ b of integers."""


@operator(1033, inputs="a b", layout="elementwise", onnx="BitShift", custom_type="mslite.ShiftLeft")
class ShiftLeft(Operator):
    """a shifted left by b bits; 0 when b is not below the width."""


@operator(
    1034, inputs="a b", layout="elementwise", tflite="RIGHT_SHIFT", onnx="BitShift", custom_type="mslite.ShiftRight"
)
class ShiftRight(Operator):
    """a shifted right by b bits, keeping the sign of signed integers."""


@operator(1035, inputs="a b", layout="elementwise", tflite="ATAN2", tensorflow="Atan2", custom_type="mslite.Atan2")
class Atan2(Operator):
    """The angle of the point (b, a), in [-pi, pi]."""
