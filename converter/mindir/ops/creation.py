"""Creation of tensors."""

from __future__ import annotations

from ._declare import Floats, Operator, long, operator, real, reals


@operator(38, inputs="shape", onnx="ConstantOfShape")
class ConstantOfShape(Operator):
    """A tensor filled with one value."""

    data_type: int = long(0)
    """TypeId number"""
    value: Floats = reals(1)


@operator(66, inputs="value shape", tflite="FILL", tensorflow="Fill")
class Fill(Operator):
    """A tensor filled with one value."""


@operator(221, inputs="shape value", since_1_3=False)
class FillV2(Operator):
    """A tensor filled with one value (training models)."""


@operator(106, layout="elementwise")
class OnesLike(Operator):
    """Ones in the shape of x."""


@operator(169, layout="elementwise", tflite="ZEROS_LIKE", tensorflow="ZerosLike")
class ZerosLike(Operator):
    """Zeros in the shape of x."""


@operator(115, inputs="start [limit] [delta]", tflite="RANGE", onnx="Range", tensorflow="Range")
class Range(Operator):
    """start, start + delta, ... below limit."""

    d_type: int = long(0)
    """type number: 34 int32, 43 float32; inputs, if given, override start, limit and delta"""
    start: int = long(1)
    limit: int = long(2)
    delta: int = long(3, 1)


@operator(195, inputs="starts limits deltas", outputs="splits values", tensorflow="RaggedRange")
class RaggedRange(Operator):
    """Several ranges, concatenated."""


@operator(181, inputs="start stop num", tensorflow="LinSpace")
class LinSpace(Operator):
    """Evenly spaced numbers."""


@operator(206, inputs="shape", since_1_3=False, onnx="RandomNormal RandomNormalLike")
class RandomNormal(Operator):
    """Normally distributed numbers."""

    seed: float = real(0)
    mean: float = real(1)
    scale: float = real(2)


@operator(176, inputs="shape", tensorflow="RandomStandardNormal")
class RandomStandardNormal(Operator):
    """Standard normally distributed numbers."""

    seed: int = long(0)
    seed2: int = long(1)


@operator(182, inputs="shape", tensorflow="RandomUniform")
class UniformReal(Operator):
    """Numbers uniformly distributed over [0, 1)."""

    seed: int = long(0)
    seed2: int = long(1)


@operator(1070, inputs="x", onnx="EyeLike", custom_type="mslite.EyeLike")
class EyeLike(Operator):
    """Ones on diagonal `k` of a matrix of the shape of x, zeros elsewhere."""

    data_type: int = long(0)
    """TypeId number of the result; 0 keeps the type of x"""
    k: int = long(1)
