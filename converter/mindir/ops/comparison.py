"""Comparisons and logic, with broadcasting."""

from __future__ import annotations

from ._declare import Operator, operator


@operator(53, inputs="a b", layout="elementwise", tflite="EQUAL", onnx="Equal", tensorflow="Equal")
class Equal(Operator):
    """a == b."""


@operator(71, inputs="a b", layout="elementwise", tflite="GREATER", onnx="Greater", tensorflow="Greater")
class Greater(Operator):
    """a > b."""


@operator(
    72, inputs="a b", layout="elementwise", tflite="GREATER_EQUAL", onnx="GreaterOrEqual", tensorflow="GreaterEqual"
)
class GreaterEqual(Operator):
    """a >= b."""


@operator(77, inputs="a b", layout="elementwise", tflite="LESS", onnx="Less", tensorflow="Less")
class Less(Operator):
    """a < b."""


@operator(78, inputs="a b", layout="elementwise", tflite="LESS_EQUAL", onnx="LessOrEqual", tensorflow="LessEqual")
class LessEqual(Operator):
    """a <= b."""


@operator(103, inputs="a b", layout="elementwise", tflite="NOT_EQUAL", tensorflow="NotEqual")
class NotEqual(Operator):
    """a != b."""


@operator(81, inputs="a b", layout="elementwise", tflite="LOGICAL_AND", onnx="And", tensorflow="LogicalAnd")
class LogicalAnd(Operator):
    """a and b."""


@operator(83, inputs="a b", layout="elementwise", tflite="LOGICAL_OR", onnx="Or", tensorflow="LogicalOr")
class LogicalOr(Operator):
    """a or b."""


@operator(170, inputs="condition a* b*", outputs="y*", tensorflow="Select")
class Select(Operator):
    """For each k: a_k where the condition holds, else b_k."""


@operator(168, inputs="condition [a] [b]", tflite="WHERE", onnx="NonZero Where", tensorflow="Where")
class Where(Operator):
    """With one input, the indices of true elements; with three, a where the condition holds, else b."""


@operator(173)
class NonZero(Operator):
    """Indices of nonzero elements."""


@operator(
    1040, inputs="a b", layout="elementwise", onnx="Xor", tensorflow="LogicalXor", custom_type="mslite.LogicalXor"
)
class LogicalXor(Operator):
    """True if exactly one of a and b is true."""
