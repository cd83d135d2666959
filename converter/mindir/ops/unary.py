"""One tensor in, one tensor of the same shape out, element by element."""

from __future__ import annotations

from ._declare import Operator, boolean, operator, real


@operator(1, layout="elementwise", tflite="ABS", onnx="Abs", tensorflow="Abs")
class Abs(Operator):
    """Absolute value."""


@operator(29, layout="elementwise", tflite="CEIL", onnx="Ceil", tensorflow="Ceil")
class Ceil(Operator):
    """Smallest integer not below each element."""


@operator(30, inputs="x [min] [max]", layout="elementwise", onnx="Clip")
class Clip(Operator):
    """Limits each element to [min, max]."""

    max: float = real(0)
    min: float = real(1)


@operator(37, layout="elementwise", tflite="COS", onnx="Cos", tensorflow="Cos")
class Cos(Operator):
    """Cosine, in radians."""


@operator(178, layout="elementwise", onnx="Erf")
class Erf(Operator):
    """Gauss error function."""


@operator(55, layout="elementwise", tflite="EXP", onnx="Exp", tensorflow="Exp", caffe="Exp")
class ExpFusion(Operator):
    """base^(scale * x + shift); base -1 stands for e."""

    base: float = real(0, -1.0)
    scale: float = real(1, 1.0)
    shift: float = real(2)


@operator(63, layout="elementwise", tflite="FLOOR", onnx="Floor", tensorflow="Floor")
class Floor(Operator):
    """Largest integer not above each element."""


@operator(180, layout="elementwise", tensorflow="IsFinite")
class IsFinite(Operator):
    """True where an element is neither infinite nor NaN."""


@operator(79, layout="elementwise", tflite="LOG", onnx="Log", tensorflow="Log")
class Log(Operator):
    """Natural logarithm."""


@operator(212, layout="elementwise", since_1_3=False, tensorflow="Log1p")
class Log1p(Operator):
    """Natural logarithm of 1 + x."""


@operator(82, layout="elementwise", tflite="LOGICAL_NOT", onnx="Not logical_not", tensorflow="LogicalNot")
class LogicalNot(Operator):
    """Logical negation."""


@operator(101, layout="elementwise", tflite="NEG", onnx="Neg", tensorflow="Neg")
class Neg(Operator):
    """Negation."""


@operator(116, layout="elementwise", onnx="Reciprocal")
class Reciprocal(Operator):
    """1 / x."""


@operator(125, layout="elementwise", tflite="ROUND", onnx="Round", tensorflow="Round")
class Round(Operator):
    """Rounds half to even."""


@operator(126, layout="elementwise", tflite="RSQRT", tensorflow="Rsqrt")
class Rsqrt(Operator):
    """1 / sqrt(x)."""


@operator(133, layout="elementwise", tflite="SIN", onnx="Sin", tensorflow="Sin")
class Sin(Operator):
    """Sine, in radians."""


@operator(146, layout="elementwise", tflite="SQRT", onnx="Sqrt", tensorflow="Sqrt")
class Sqrt(Operator):
    """Square root."""


@operator(148, layout="elementwise", tflite="SQUARE", tensorflow="Square")
class Square(Operator):
    """x * x."""


@operator(
    28, inputs="x [dst_type]", layout="elementwise", tflite="CAST DEQUANTIZE QUANTIZE", onnx="Cast", tensorflow="Cast"
)
class Cast(Operator):
    """Changes the element type; the second input is a TypeId number."""


# ---- of mslite: functions that MindIR does not have ----


@operator(1000, layout="elementwise", onnx="Sinh", custom_type="mslite.Sinh")
class Sinh(Operator):
    """Hyperbolic sine."""


@operator(1001, layout="elementwise", onnx="Cosh", custom_type="mslite.Cosh")
class Cosh(Operator):
    """Hyperbolic cosine."""


@operator(1002, layout="elementwise", onnx="Tan", custom_type="mslite.Tan")
class Tan(Operator):
    """Tangent, in radians."""


@operator(1003, layout="elementwise", onnx="Asin", custom_type="mslite.Asin")
class Asin(Operator):
    """Inverse sine, in [-pi/2, pi/2]."""


@operator(1004, layout="elementwise", onnx="Acos", custom_type="mslite.Acos")
class Acos(Operator):
    """Inverse cosine, in [0, pi]."""


@operator(1005, layout="elementwise", onnx="Atan", custom_type="mslite.Atan")
class Atan(Operator):
    """Inverse tangent, in [-pi/2, pi/2]."""


@operator(1006, layout="elementwise", onnx="Asinh", custom_type="mslite.Asinh")
class Asinh(Operator):
    """Inverse hyperbolic sine."""


@operator(1007, layout="elementwise", onnx="Acosh", custom_type="mslite.Acosh")
class Acosh(Operator):
    """Inverse hyperbolic cosine; NaN below 1."""


@operator(1008, layout="elementwise", onnx="Atanh", custom_type="mslite.Atanh")
class Atanh(Operator):
    """Inverse hyperbolic tangent."""


@operator(1009, layout="elementwise", tflite="SIGN", onnx="Sign", tensorflow="Sign", custom_type="mslite.Sign")
class Sign(Operator):
    """-1, 0 or 1; NaN stays."""


@operator(1010, layout="elementwise", onnx="IsNaN", tensorflow="IsNan", custom_type="mslite.IsNaN")
class IsNaN(Operator):
    """True where an element is not a number."""


@operator(1011, layout="elementwise", onnx="IsInf", tensorflow="IsInf", custom_type="mslite.IsInf")
class IsInf(Operator):
    """True where an element is infinite, of the signs asked for."""

    detect_negative: bool = boolean(0, True)
    detect_positive: bool = boolean(1, True)


@operator(1012, layout="elementwise", onnx="BitwiseNot", tensorflow="Invert", custom_type="mslite.BitwiseNot")
class BitwiseNot(Operator):
    """All bits of an integer flipped."""
