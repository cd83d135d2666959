"""Decompositions of normalizations into element-wise operators and reductions."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.normalization import GroupNormFusion, RmsNorm
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Rsqrt, Square
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped
from mslite.converter.passes.target.decompositions.float_arithmetic import linear, require_float
from mslite.converter.passes.target.writer import Writer, decomposes

_MEAN = ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True)


def _over_root(x: Value, axes: Value, epsilon: float, writer: Writer) -> Value:
    """Emits x / sqrt(mean(x^2) + epsilon)."""
    squares = writer.emit(_MEAN, writer.emit(Square(), x), axes)
    return writer.emit(MulFusion(), x, writer.emit(Rsqrt(), linear(squares, 1, epsilon, writer)))


@decomposes("RmsNorm")
def root_mean_square(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    op, (x, *gamma) = node.op, node.inputs
    assert isinstance(op, RmsNorm)
    require_float(x)
    rank = len(known_shape(x))
    y = _over_root(x, writer.ints(*range(op.axis % rank, rank)), op.epsilon, writer)
    return [writer.emit(MulFusion(), y, gamma[0]) if gamma else y]


@decomposes("GroupNormFusion")
def group_norm(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Reshapes groups of channels, in dimension 1, to rows of a matrix."""
    op, (x, *affine) = node.op, node.inputs
    assert isinstance(op, GroupNormFusion)
    require_float(x)
    shape = known_shape(x)
    rows = writer.emit(Reshape(), x, writer.ints(0, op.num_groups, -1))
    axes = writer.ints(2)
    centered = writer.emit(SubFusion(), rows, writer.emit(_MEAN, rows, axes))
    y = _over_root(centered, axes, op.epsilon, writer)
    if sum(size < 0 for size in shape) > 1:
        y = writer.emit(Reshape(), y, writer.emit(Shape(), x))
    else:
        y = reshaped(y, shape, writer)
    for kind, vector in zip((MulFusion(), AddFusion()), affine if op.affine else (), strict=False):
        y = writer.emit(kind, y, reshaped(vector, (1, -1, *[1] * (len(shape) - 2)), writer))
    return [y]
