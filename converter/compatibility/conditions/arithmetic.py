"""Conditions of element-wise operators, comparisons, activations and casts."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import FUSED, condition, fused_activation, has_shape, numbers
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.unary import Clip

_MANY = 8


@condition("AddFusion AvgPoolFusion MaxPoolFusion Conv2DFusion Conv2dTransposeFusion FullConnection AdderFusion")
def known_activation(node: Node, kind: DataType, version: Version) -> str | None:
    fused = fused_activation(node)
    return None if fused in FUSED else f"ignores its activation {fused.name}"


@condition("SubFusion MulFusion DivFusion")
def arithmetic_activation(node: Node, kind: DataType, version: Version) -> str | None:
    """1.x supports the activation of AddFusion only, 2.x also that of MulFusion."""
    fused = fused_activation(node)
    is_read = node.op.name == "MulFusion" and version >= Version.V2_0
    known = FUSED if is_read else frozenset({ActivationType.NO_ACTIVATION})
    return None if fused in known else f"ignores its activation {fused.name}"


@condition("AddFusion SubFusion MulFusion DivFusion")
def integer_activation(node: Node, kind: DataType, version: Version) -> str | None:
    fused = fused_activation(node)
    is_plain = fused is ActivationType.NO_ACTIVATION or kind is not DataType.INT32
    return None if is_plain else f"ignores its activation {fused.name} in int32"


_ACTIVATIONS = {
    DataType.FLOAT32: frozenset(
        {ActivationType.RELU, ActivationType.RELU6, ActivationType.LEAKY_RELU, ActivationType.SIGMOID, ActivationType.TANH,
         ActivationType.HSWISH, ActivationType.SWISH, ActivationType.HSIGMOID, ActivationType.HARD_TANH, ActivationType.GELU,
         ActivationType.SOFTPLUS}
    ),
    DataType.INT8: frozenset(
        {ActivationType.RELU, ActivationType.RELU6, ActivationType.HSWISH, ActivationType.SIGMOID, ActivationType.TANH,
         ActivationType.LEAKY_RELU}
    ),
}  # fmt: skip
_LATER = frozenset({ActivationType.ELU})
"""Supported since 1.5, in float32."""


@condition("Activation")
def activation_kinds(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Activation)
    wanted = node.op.activation_type
    is_later = wanted in _LATER and kind is DataType.FLOAT32 and version is not Version.V1_3
    if wanted in _ACTIVATIONS.get(kind, ()) or is_later:
        return None
    return f"has no kernel for {wanted.name} in {kind.name.lower()}"


@condition("Clip")
def constant_limits(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Clip)
    return "supports limits as attributes only" if len(node.inputs) > 1 else None


@condition("AddN")
def several_summands(node: Node, kind: DataType, version: Version) -> str | None:
    return "needs two inputs" if len(node.inputs) < 2 else None


@condition("DivFusion", until=Version.V1_5)
def real_quotient(node: Node, kind: DataType, version: Version) -> str | None:
    return "cannot divide int32" if kind is DataType.INT32 else None


@condition("FloorDiv FloorMod Mod", until=Version.V2_0)
def integer_quotient(node: Node, kind: DataType, version: Version) -> str | None:
    """It truncates, which differs for negative quotients; in 2.0 only FloorDiv does."""
    if version is Version.V2_0 and node.op.name == "FloorMod":
        return None
    return "rounds quotients of int32 towards zero" if kind is DataType.INT32 and node.op.name != "Mod" else None


@condition("LogicalAnd LogicalOr")
def truth_values(node: Node, kind: DataType, version: Version) -> str | None:
    return None if kind is DataType.BOOL else f"returns {kind.name.lower()} instead of bool"


@condition("AddFusion SubFusion MulFusion DivFusion RealDiv Maximum Minimum FloorDiv FloorMod Mod SquaredDifference Equal NotEqual "
           "Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Eltwise")  # fmt: skip
def equal_types(node: Node, kind: DataType, version: Version) -> str | None:
    kinds = {value.dtype for value in node.inputs[:2]}
    if len(kinds) > 1:
        return f"treats {' and '.join(sorted(one.name.lower() for one in kinds))} as {kind.name.lower()}"
    if any(value.rank is not None and value.rank >= _MANY for value in node.inputs):
        return f"supports fewer than {_MANY} dimensions only"
    return None


@condition("PowFusion")
def exponent(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) < 2:
        return "needs the exponent as an input"
    x, power = node.inputs[:2]
    if power.dtype is not x.dtype and power.dtype is not DataType.FLOAT32:
        return "supports float32 exponents only"
    is_one = has_shape(power) and power.shape is not None and all(size == 1 for size in power.shape)
    if not is_one and (x.shape is None or x.shape != power.shape):
        return "supports one exponent, or one for each element"
    return None


_CAST = {
    DataType.FLOAT32: {DataType.BOOL, DataType.UINT8, DataType.INT32, DataType.FLOAT16, DataType.INT64},
    DataType.INT32: {DataType.FLOAT32, DataType.BOOL},
    DataType.INT64: {DataType.FLOAT32, DataType.INT32},
    DataType.FLOAT16: {DataType.FLOAT32},
}
"""Target type -> source types of Cast in 1.3 and 1.5."""


@condition("Cast")
def cast_pair(node: Node, kind: DataType, version: Version) -> str | None:
    if numbers(node, 1) is None:
        return "needs the type of a cast as a constant"
    source, target = node.inputs[0].dtype, node.outputs[0].dtype
    if has_cast(source, target, version):
        return None
    return f"cannot cast {source.name.lower()} to {target.name.lower()}"


def has_cast(source: DataType, target: DataType, version: Version) -> bool:
    if version >= Version.V2_0 and DataType.FLOAT16 in (
        source,
        target,
    ):  # without float16 kernels it copies the bits
        return False
    if source is target:
        return source in (DataType.FLOAT32, DataType.INT32, DataType.BOOL)
    is_later = (source, target) == (DataType.INT64, DataType.INT32) and version >= Version.V2_0
    return is_later or source in _CAST.get(target, ())


@condition("AddFusion", until=Version.V1_5)
def sum_of_truths(node: Node, kind: DataType, version: Version) -> str | None:
    return "does not add bool" if kind is DataType.BOOL else None


@condition("Activation", until=Version.V1_5)
def gelu_by_error_function(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Activation)
    exact = node.op.activation_type is ActivationType.GELU and not node.op.approximate
    return "computes GELU by its approximation" if exact else None


@condition("Round")
def rounding_of_halves(node: Node, kind: DataType, version: Version) -> str | None:
    """Up to 1.5 this affects all elements, later those that do not fill a vector register."""
    is_real = kind is DataType.FLOAT32
    return "rounds halves away from zero" if is_real else None


@condition("Reciprocal", until=Version.V1_5)
def reciprocal_of_zero(node: Node, kind: DataType, version: Version) -> str | None:
    return "fails if an element is 0" if kind is DataType.FLOAT32 else None


@condition("Rsqrt", until=Version.V2_0)
def estimated_root(node: Node, kind: DataType, version: Version) -> str | None:
    """It uses the processor's estimate without a step of Newton's method."""
    is_estimate = version is Version.V2_0 and kind is DataType.FLOAT32
    return "computes reciprocal square roots to three digits only" if is_estimate else None
