"""Batch normalization and local response normalization."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import normalization as ops
from mslite.converter.mindir.ops.arithmetic import (
    AddFusion,
    DivFusion,
    Maximum,
    MulFusion,
    SquaredDifference,
    SubFusion,
)
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .registry import tf_operator

MOVED = 0.01
"""Momentum of running statistics in training: Keras' default, because a GraphDef does not have it."""


@tf_operator("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(call: Call) -> tuple[Value, ...]:
    return normalized(call)


def normalized(call: Call) -> tuple[Value, Value, Value]:
    """Returns result, mean and variance of FusedBatchNorm. Its inputs are x, scale, offset, mean, variance.

    In training mode, mean and variance are those of the batch.
    """
    first = call.channels_first()
    x, scale, offset = call.inputs(0, 3)
    training = call.flag("is_training", True)
    mean, variance = _batch_statistics(call, x, first) if training else (call.input(3), call.input(4))
    op = ops.FusedBatchNorm(epsilon=call.real("epsilon", 1e-4), momentum=MOVED, mode=1)
    result = call.spatial(op, x, scale, offset, mean, variance, channels_first=first)
    if training and (call.is_read(1) or call.is_read(2)):
        mean, variance = _running_statistics(call, x, mean, variance)
    return result, mean, variance


def _running_statistics(call: Call, x: Value, mean: Value, variance: Value) -> tuple[Value, Value]:
    """Returns the running statistics after a training step; the variance is the unbiased one, divided by n - 1."""
    sizes = call.emit(Cast(), call.emit(Shape(), x), call.ints(int(DataType.FLOAT32)))
    of_mean = call.emit(Cast(), call.emit(Shape(), mean), call.ints(int(DataType.FLOAT32)))
    product = ReduceFusion(mode=ReduceMode.ReduceProd, coeff=1.0)
    count = call.emit(DivFusion(), call.emit(product, sizes, call.ints((0,))), of_mean)
    rest = call.emit(Maximum(), call.emit(SubFusion(), count, call.const(1, "float32")), call.const(1, "float32"))
    new = [mean, call.emit(MulFusion(), variance, call.emit(DivFusion(), count, rest))]
    share = call.real("exponential_avg_factor", 1.0)
    if share == 1.0:
        return new[0], new[1]
    for place, value in enumerate(new):
        kept = call.emit(MulFusion(), call.input(3 + place), call.const(1 - share, "float32"))
        new[place] = call.emit(AddFusion(), kept, call.emit(MulFusion(), value, call.const(share, "float32")))
    return new[0], new[1]


def _batch_statistics(call: Call, x: Value, first: bool) -> tuple[Value, Value]:
    """Returns the mean and the variance of each channel."""
    rank = call.require_rank(x)
    axes = call.ints((0, *range(2, rank)) if first else tuple(range(rank - 1)))
    mean_op = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMean, coeff=1.0)
    mean = call.emit(mean_op, x, axes)
    variance = call.emit(mean_op, call.emit(SquaredDifference(), x, mean), axes)
    return call.emit(Reshape(), mean, call.ints((-1,))), call.emit(Reshape(), variance, call.ints((-1,)))


@tf_operator("BatchNormWithGlobalNormalization")
def global_batch_norm(call: Call) -> Value:
    """Converts BatchNormWithGlobalNormalization. Its inputs are x, mean, variance, beta, gamma."""
    x, mean, variance, offset, scale = call.inputs(0, 5)
    if not call.flag("scale_after_normalization"):
        scale = call.const([1.0] * call.require_size(scale, 0, "the normalization"), "float32")
    op = ops.FusedBatchNorm(epsilon=call.real("variance_epsilon"), momentum=MOVED, mode=1)
    return call.spatial(op, x, scale, offset, mean, variance)


@tf_operator("LRN")
def local_response(call: Call) -> Value:
    op = ops.LRN(
        depth_radius=call.integer("depth_radius", 5),
        bias=call.real("bias", 1.0),
        alpha=call.real("alpha", 1.0),
        beta=call.real("beta", 0.5),
        norm_region="ACROSS_CHANNELS",
    )
    return call.spatial(op, call.input(0))
