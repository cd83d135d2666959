"""Normalization operators."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import normalization as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, PowFusion, SubFusion
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.enums import DataType, Format, PaddingMode, ReduceMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Reciprocal, Sqrt, Square

from .call import Call
from .casting import cast
from .registry import onnx_operator


def _original_shape(call: Call, x: Value) -> Value:
    shape = call.static_shape(x)
    return call.emit(Shape(), x) if shape is None else call.ints(shape)


def _channels_as_image(call: Call, x: Value, op: ops.FusedBatchNorm | ops.InstanceNorm, *others: Value) -> Value:
    """Runs an operator for 4-D tensors on [N, C, ...] of any rank."""
    rank = call.require_rank(x)
    if rank == 4:
        return call.emit(op, x, *others)
    image = call.emit(Reshape(), x, call.ints((0, 0, -1, 1)))
    return call.emit(Reshape(), call.emit(op, image, *others), _original_shape(call, x))


@onnx_operator("BatchNormalization")
def batch_norm(call: Call) -> tuple[Value, ...]:
    call.ignore("consumed_inputs")
    x = call.input(0)
    training = call.boolean("training_mode") or (call.version < 7 and not call.boolean("is_test"))
    if training and _learns(call, x):
        training = False
    if training and call.version < 14 and any(call.has_output(index) for index in range(1, call.output_count)):
        raise call.block("running statistics are not computed", "Export the model for inference (eval mode)")
    if call.version < 9 and not call.boolean("spatial", True):
        raise call.block("statistics per element are not supported", "Export with spatial = 1", "spatial")
    if training and call.version >= 14:
        return _batch_statistics(call, x, call.real("epsilon", 1e-5), call.real("momentum", 0.9))
    kept = call.real("momentum", 0.9)  # FusedBatchNorm's momentum is the weight of the new statistics
    op = ops.FusedBatchNorm(epsilon=call.real("epsilon", 1e-5), momentum=1 - kept, mode=1)
    statistics = [call.input(index) for index in range(1, 5)]
    for index, value in enumerate(statistics, 1):
        if (rank := call.rank(value)) not in (None, 1):
            raise call.block(
                f"input {index} has {rank} dimensions; it must have one value per channel", "Export the model again"
            )
    if call.require_rank(x) == 2:
        return (call.emit(op, x, *statistics),)
    return (_channels_as_image(call, x, op, *statistics),)


def _learns(call: Call, x: Value) -> bool:
    """Returns whether this is a trained layer: the model is trained, and the running statistics are constants.

    Its statistics must not be outputs that are read, and its input must not be computed from constants only.
    """
    running = [call.scope.known_operand(call.node.input[index]) for index in (3, 4) if index < len(call.node.input)]
    has_statistics = len(running) == 2 and all(isinstance(value, Value) and value.is_constant for value in running)
    is_read = any(call.has_output(index) for index in range(1, call.output_count))
    return call.scope.session.trains and has_statistics and not is_read and not _is_of_constants(x)


def _is_of_constants(value: Value) -> bool:
    """Returns whether the value does not depend on an input of the graph."""
    found, work = {value}, [value]
    while work:
        one = work.pop()
        if not one.is_constant and one.producer is None:
            return False
        before = [operand for operand in (one.producer.inputs if one.producer else ()) if operand not in found]
        found.update(before)
        work.extend(before)
    return True


def _batch_statistics(call: Call, x: Value, epsilon: float, momentum: float) -> tuple[Value, ...]:
    """Converts training mode, which normalizes by the batch's mean and variance; weight standardization uses it too.

    The other outputs are the updated running statistics.
    """
    shape = call.require_shape(x, "training mode")
    rank, scale, bias = len(shape), call.input(1), call.input(2)
    axes = (0, *range(2, rank))
    mean = _mean(call, x, axes)
    centered = call.emit(SubFusion(), x, mean)
    # ReduceSumSquare: a tensor of squares of a large constant weight could exceed the limit of constant folding.
    squares = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceSumSquare, coeff=1.0)
    count = max(1, prod(shape[axis] for axis in axes))
    variance = call.emit(MulFusion(), call.emit(squares, centered, call.ints(axes)), call.like(1.0 / count, x))
    deviation = call.emit(Sqrt(), call.emit(AddFusion(), variance, call.like(epsilon, x)))
    per_channel = call.ints((-1, *([1] * (rank - 2))))
    scale, bias = (call.emit(Reshape(), value, per_channel) for value in (scale, bias))
    y = call.emit(AddFusion(), call.emit(MulFusion(), call.emit(DivFusion(), centered, deviation), scale), bias)
    if not (call.has_output(1) or call.has_output(2)):
        call.ignore_inputs(3, 4)
        return (y,)
    return y, _moved(call, call.input(3), mean, momentum), _moved(call, call.input(4), variance, momentum)


def _moved(call: Call, running: Value, new: Value, momentum: float) -> Value:
    """Returns running * momentum + new * (1 - momentum), per channel."""
    flat = call.emit(Reshape(), new, call.ints((-1,)))
    kept = call.emit(MulFusion(), running, call.like(momentum, running))
    return call.emit(AddFusion(), kept, call.emit(MulFusion(), flat, call.like(1 - momentum, running)))


@onnx_operator("InstanceNormalization")
def instance_norm(call: Call) -> Value:
    call.ignore("consumed_inputs")
    op = ops.InstanceNorm(epsilon=call.real("epsilon", 1e-5))
    return _channels_as_image(call, call.input(0), op, call.input(1), call.input(2))


@onnx_operator("GroupNormalization", since=21)
def group_norm(call: Call) -> Value:
    call.ignore("stash_type")
    op = ops.GroupNormFusion(num_groups=call.integer("num_groups"), epsilon=call.real("epsilon", 1e-5), affine=True)
    return call.emit(op, call.input(0), call.input(1), call.input(2))


@onnx_operator("GroupNormalization", since=18)
def group_norm_by_group(call: Call) -> Value:
    """Version 18 has one scale and bias per group, version 21 one per channel."""
    x, groups = call.input(0), call.integer("num_groups")
    shape = call.shape(x)
    scale, bias = call.constant(1), call.constant(2)
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    if channels is None or scale is None or bias is None or groups < 1 or channels % groups != 0:
        raise call.block("scale and bias per group need constants and a known channel count", "Export for opset 21")
    repeat = channels // groups
    op = ops.GroupNormFusion(num_groups=groups, epsilon=call.real("epsilon", 1e-5), affine=True)
    return call.emit(op, x, call.const(np.repeat(scale, repeat)), call.const(np.repeat(bias, repeat)))


@onnx_operator("LayerNormalization")
def layer_norm(call: Call) -> tuple[Value, Value | None, Value | None]:
    call.ignore("stash_type")
    x, scale, bias = call.input(0), call.input(1), call.optional(2)
    axis, epsilon = call.integer("axis", -1), call.real("epsilon", 1e-5)
    x_shape, scale_shape = call.shape(x), call.static_shape(scale)
    if call.has_output(1) or call.has_output(2):
        return _layer_norm_with_statistics(call, x, scale, bias, axis, epsilon)
    if x_shape is not None and scale_shape is not None:
        normalized = x_shape[call.axis(axis, len(x_shape)) :]
        if None not in normalized and normalized != scale_shape:  # the scale broadcasts
            op = ops.LayerNormFusion(begin_norm_axis=axis, begin_params_axis=axis, epsilon=epsilon)
            result = call.emit(MulFusion(), call.emit(op, x), scale)
            return (result if bias is None else call.emit(AddFusion(), result, bias)), None, None
    if bias is None:
        shape = call.require_shape(scale, "LayerNormalization without a bias")
        dtype = np.float16 if call.dtype(scale) is DataType.FLOAT16 else np.float32
        bias = call.const(np.zeros(shape, dtype))
    op = ops.LayerNormFusion(begin_norm_axis=axis, begin_params_axis=axis, epsilon=epsilon, elementwise_affine=True)
    return call.emit(op, x, scale, bias), None, None


def _mean(call: Call, x: Value, axes: tuple[int, ...]) -> Value:
    op = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMean, coeff=1.0)
    return call.emit(op, x, call.ints(axes))


def _layer_norm_with_statistics(
    call: Call, x: Value, scale: Value, bias: Value | None, axis: int, epsilon: float
) -> tuple[Value, Value, Value]:
    """Computes LayerNormalization with single operators, because MindIR's has no outputs like Mean and InvStdDev.

    The statistics are float32 for every input type.
    """
    rank, dtype = call.require_rank(x), call.require_dtype(x)
    axes = tuple(range(call.axis(axis, rank), rank))
    wide = cast(call, x, DataType.FLOAT32)
    mean = _mean(call, wide, axes)
    centered = call.emit(SubFusion(), wide, mean)
    variance = _mean(call, call.emit(Square(), centered), axes)
    deviation = call.emit(Sqrt(), call.emit(AddFusion(), variance, call.const(epsilon, np.float32)))
    inverse = call.emit(Reciprocal(), deviation)
    normalized = cast(call, call.emit(MulFusion(), centered, inverse), dtype)
    result = call.emit(MulFusion(), normalized, scale)
    return (result if bias is None else call.emit(AddFusion(), result, bias)), mean, inverse


@onnx_operator("RMSNormalization")
def rms_norm(call: Call) -> Value:
    call.ignore("stash_type")
    x, scale, axis = call.input(0), call.input(1), call.integer("axis", -1)
    op = ops.RmsNorm(axis=axis, epsilon=call.real("epsilon", 1e-5))
    x_shape, scale_shape = call.shape(x), call.static_shape(scale)
    if x_shape is not None and scale_shape is not None and x_shape[call.axis(axis, len(x_shape)) :] == scale_shape:
        return call.emit(op, x, scale)
    return call.emit(MulFusion(), call.emit(op, x), scale)


@onnx_operator("MeanVarianceNormalization")
def mean_variance_norm(call: Call) -> Value:
    """Computes (x - mean) / (deviation + 1e-9). The standard's definition has this constant."""
    x = call.input(0)
    axes = call.integers("axes") or (0, 2, 3)
    if call.version < 9:
        call.ignore("across_channels", "normalize_variance")
    centered = call.emit(SubFusion(), x, _mean(call, x, axes))
    deviation = call.emit(Sqrt(), _mean(call, call.emit(Square(), centered), axes))
    return call.emit(DivFusion(), centered, call.emit(AddFusion(), deviation, call.like(1e-9, x)))


@onnx_operator("LpNormalization")
def lp_normalization(call: Call) -> Value:
    op = ops.LpNormalization(axis=call.integer("axis", -1), p=call.integer("p", 2))
    return call.emit(op, call.input(0))


@onnx_operator("LRN")
def local_response_norm(call: Call) -> Value:
    """MindIR's window has 2 * depth_radius + 1 channels. An even size has one more channel after than before."""
    x, size = call.input(0), call.integer("size")
    alpha, beta, bias = call.real("alpha", 1e-4), call.real("beta", 0.75), call.real("bias", 1.0)
    if size < 1:
        raise call.block(f"the size {size} is less than 1", "Export the model again", "size")
    rank = call.require_rank(x)
    if size % 2 == 1 and rank == 4:
        op = ops.LRN(depth_radius=size // 2, bias=bias, alpha=alpha / size, beta=beta, norm_region="ACROSS_CHANNELS")
        return call.emit(op, x)
    # The mean of squares over the window with zero padding is an average pooling over the channels of [N, 1, C, rest].
    squares = call.emit(Reshape(), call.emit(Square(), x), _channel_plane(call, x))
    before, after = (size - 1) // 2, size // 2
    pad = PadFusion(padding_mode=PaddingMode.CONSTANT)
    padded = call.emit(pad, squares, call.ints(((0, 0), (0, 0), (before, after), (0, 0))))
    pool = AvgPoolFusion(format=Format.NCHW, kernel_size=(size, 1), strides=(1, 1), pad=(0, 0, 0, 0))
    means = call.emit(Reshape(), call.emit(pool, padded), _original_shape(call, x))
    scaled = call.emit(AddFusion(), call.emit(MulFusion(), means, call.like(alpha, x)), call.like(bias, x))
    return call.emit(DivFusion(), x, call.emit(PowFusion(), scaled, call.like(beta, x)))


def _channel_plane(call: Call, x: Value) -> Value:
    """Returns the shape [N, 1, C, -1]."""
    shape = call.shape(x)
    if shape is None or len(shape) < 2 or shape[1] is None:
        raise call.not_known(
            "the number of channels is not known", "Give --inputShape, or export the model with fixed shapes"
        )
    return call.ints((0, 1, shape[1], -1) if shape[0] is None else (shape[0], 1, shape[1], -1))
