"""Conditions of reductions and normalizations."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import condition, numbers
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.activation import LogSoftmax, Softmax
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion

_SOFTMAX = 5
_FLOAT = frozenset({ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceProd, ReduceMode.ReduceSum,
                    ReduceMode.ReduceSumSquare, ReduceMode.ReduceASum})  # fmt: skip
_MODES = {
    DataType.FLOAT32: _FLOAT,
    DataType.INT32: frozenset({ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceProd, ReduceMode.ReduceSum}),
    DataType.BOOL: frozenset({ReduceMode.ReduceAll}),
    DataType.INT8: frozenset({ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceSum}),
}  # fmt: skip


@condition("ReduceFusion")
def reductions(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, ReduceFusion)
    if node.op.mode not in _MODES.get(kind, frozenset()) and not (
        version >= Version.V2_0 and node.op.mode is ReduceMode.ReduceL2
    ):
        return f"has no {node.op.mode.name} in {kind.name.lower()}"
    if len(node.inputs) > 1 and numbers(node, 1) is None:
        return "needs constant axes"
    if len(node.inputs) > 1 and node.inputs[1].dtype is not DataType.INT32 and version >= Version.V2_0:
        return "needs the axes in int32"
    if kind is not node.inputs[0].dtype and node.inputs[0].dtype is not DataType.FLOAT16:
        return f"reads {node.inputs[0].dtype.name.lower()} as {kind.name.lower()}"
    return None


@condition("Softmax LogSoftmax")
def softmax_rank(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Softmax | LogSoftmax)
    rank = node.inputs[0].rank
    if rank is None or rank > _SOFTMAX:
        return f"supports up to {_SOFTMAX} dimensions"
    if isinstance(node.op, Softmax) and node.op.axis is not None and len(node.op.axis) != 1:
        return "needs one axis"
    return None


@condition("LayerNormFusion")
def affine_numbers(node: Node, kind: DataType, version: Version) -> str | None:
    return None if len(node.inputs) == 3 else "needs gamma and beta"


@condition("L2NormalizeFusion", until=Version.V2_0)
def normalized_axes(node: Node, kind: DataType, version: Version) -> str | None:
    axes = getattr(node.op, "axis", None)
    rank = node.inputs[0].rank or 0
    if axes is None:
        return "needs the axes"
    is_last = list(axes) in ([-1], [rank - 1])
    return None if is_last or len(axes) == rank else "supports the last dimension or all dimensions only"


@condition("ReduceFusion", until=Version.V1_5)
def some_axes(node: Node, kind: DataType, version: Version) -> str | None:
    axes = numbers(node, 1)
    return "does not support an empty list of axes" if axes is not None and not axes and node.inputs[0].rank else None


@condition("ArgMaxFusion ArgMinFusion", until=Version.V2_0)
def best_elements(node: Node, kind: DataType, version: Version) -> str | None:
    return "needs the number of results (top_k)" if getattr(node.op, "top_k", 1) < 1 else None


@condition("Softmax LogSoftmax", until=Version.V1_5)
def softmax_axis(node: Node, kind: DataType, version: Version) -> str | None:
    axis = node.op.axis if isinstance(node.op, LogSoftmax) else (getattr(node.op, "axis", None) or (-1,))[0]
    return "supports -1 as the only negative axis" if axis < -1 else None


@condition("LayerNormFusion")
def normalized_rank(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, LayerNormFusion)
    rank = node.inputs[0].rank
    if node.op.begin_norm_axis == 0 or node.op.begin_params_axis == 0:
        return "treats axis 0 as the rank"
    is_too_large = rank is None or rank > 4
    return "supports up to four dimensions" if is_too_large and version is not Version.V1_3 else None


@condition("ReduceFusion", until=Version.V1_5)
def own_operand(node: Node, kind: DataType, version: Version) -> str | None:
    mode = getattr(node.op, "mode", ReduceMode.ReduceMean)
    in_place = kind is DataType.FLOAT32 and mode in (ReduceMode.ReduceASum, ReduceMode.ReduceSumSquare)
    return f"overwrites its input in {mode.name}" if in_place else None


@condition("ReduceFusion", until=Version.V2_0)
def first_maximum(node: Node, kind: DataType, version: Version) -> str | None:
    """Observed in 2.0: the initial value is the least positive number."""
    is_wrong = kind is DataType.FLOAT32 and getattr(node.op, "mode", None) is ReduceMode.ReduceMax
    return "returns a wrong maximum if all elements are negative" if is_wrong and version is Version.V2_0 else None


@condition("InstanceNorm", until=Version.V2_0)
def normalized_image(node: Node, kind: DataType, version: Version) -> str | None:
    is_other = version is Version.V2_0 and node.inputs[0].rank != 4
    return "supports 4-D images only" if is_other else None
