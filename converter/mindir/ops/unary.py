"""One tensor in, one tensor of the same shape out, element by element."""

from __future__ import annotations

from ._declare import Operator, operator, real


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
