"""Batch, local response, mean-variance and L2 normalization."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, PowFusion, SubFusion
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.normalization import LRN
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Sqrt, Square

from .arithmetic import per_axis
from .call import Blob, Call
from .pool_windows import PoolWindow, pool_image
from .registry import caffe_layer
from .weights import Floats


def _reduce(call: Call, x: Value, mode: ReduceMode, axes: tuple[int, ...]) -> Value:
    return call.emit(ReduceFusion(keep_dims=True, mode=mode, coeff=1.0), x, call.ints(axes))


def _channels(x: Blob) -> int:
    return x.shape[1] if x.rank > 1 else 1


@caffe_layer("BatchNorm")
def batch_norm(call: Call) -> Blob:
    """Converts BatchNorm: (x - mean / factor) / sqrt(variance / factor + eps); if the factor is 0, 1 / factor is 0."""
    x, given = call.bottom(), call.parameter("batch_norm")
    if given.HasField("use_global_stats") and not given.use_global_stats:
        return _batch_statistics(call, x, given.eps)
    channels = _channels(x)
    mean, variance = (call.weight(index, (channels,)).astype(np.float64) for index in (0, 1))
    total = float(call.weight(2, (1,))[0])
    factor = 0.0 if total == 0 else 1 / total
    with np.errstate(all="ignore"):
        scale = 1 / np.sqrt(variance * factor + given.eps)
        offset = -mean * factor * scale
    if x.rank == 1:
        scale, offset = scale.reshape(()), offset.reshape(())
    return Blob(per_axis(call, x, min(1, x.rank - 1), _single(scale), _single(offset)), x.shape)


def _single(array: npt.NDArray[np.float64]) -> Floats:
    return array.astype(np.float32)


def _batch_statistics(call: Call, x: Blob, epsilon: float) -> Blob:
    """Normalizes with the mean and variance of the batch (`use_global_stats: false`)."""
    axes = tuple(axis for axis in range(x.rank) if axis != 1)
    centered = call.emit(SubFusion(), x.value, _reduce(call, x.value, ReduceMode.ReduceMean, axes))
    variance = _reduce(call, call.emit(Square(), centered), ReduceMode.ReduceMean, axes)
    deviation = call.emit(Sqrt(), call.emit(AddFusion(), variance, call.const(epsilon)))
    return Blob(call.emit(DivFusion(), centered, deviation), x.shape)


@caffe_layer("BN")
def bn(call: Call) -> Blob:
    """Converts BN of forks: slope, bias, mean and variance, or only slope and bias with the statistics already
    folded."""
    x, given = call.bottom(), call.parameter("bn")
    shape = (_channels(x),)
    slope, bias = call.weight(0, shape).astype(np.float64), call.weight(1, shape).astype(np.float64)
    if call.weight_count > 2:
        mean, variance = (call.weight(index, shape).astype(np.float64) for index in (2, 3))
        with np.errstate(all="ignore"):
            slope = slope / np.sqrt(variance + given.eps)
            bias = bias - mean * slope
    return Blob(per_axis(call, x, min(1, x.rank - 1), _single(slope), _single(bias)), x.shape)


@caffe_layer("LRN")
def local_response_norm(call: Call) -> Blob:
    """Converts LRN: x / (k + alpha * (mean of squares))^beta, in a window of channels, or of pixels (then k is 1)."""
    x, given = call.bottom(), call.parameter("lrn")
    call.require_rank(x, 4)
    size = given.local_size
    if size % 2 == 0 or size > 1 << 16:
        raise call.block(f"{size} must be odd", attribute="local_size")
    if call.choice(given, "norm_region") == "ACROSS_CHANNELS":
        op = LRN(
            depth_radius=size // 2,
            bias=given.k,
            alpha=given.alpha / size,
            beta=given.beta,
            norm_region="ACROSS_CHANNELS",
        )
        return Blob(call.emit(op, x.value), x.shape)
    window = PoolWindow((size, size), (1, 1), (size // 2, size // 2), False)
    means = pool_image(call, call.emit(Square(), x.value), window, "AVE")
    power = call.emit(PowFusion(scale=given.alpha, shift=1.0), means, call.const(-given.beta))
    return Blob(call.emit(MulFusion(), x.value, power), x.shape)


@caffe_layer("MVN")
def mean_variance_norm(call: Call) -> Blob:
    """Converts MVN: (x - mean) / (deviation + eps), for each item and channel, or for each item."""
    x, given = call.bottom(), call.parameter("mvn")
    first = 1 if given.across_channels else 2
    if x.rank <= first:
        raise call.block(f"the bottom blob has {x.rank} dimensions; more than {first} are needed")
    axes = tuple(range(first, x.rank))
    centered = call.emit(SubFusion(), x.value, _reduce(call, x.value, ReduceMode.ReduceMean, axes))
    if not given.normalize_variance:
        return Blob(centered, x.shape)
    variance = _reduce(call, call.emit(Square(), centered), ReduceMode.ReduceMean, axes)
    deviation = call.emit(AddFusion(), call.emit(Sqrt(), variance), call.const(given.eps))
    return Blob(call.emit(DivFusion(), centered, deviation), x.shape)


@caffe_layer("Normalize")
def normalize(call: Call) -> Blob:
    """Converts Normalize of SSD: x / sqrt(sum of squares + eps) over the channels or the whole item, times one scale or
    a scale for each channel."""
    x, given = call.bottom(), call.parameter("norm")
    if x.rank < 2:
        raise call.block(f"the bottom blob has {x.rank} dimensions; at least 2 are needed")
    axes = tuple(range(1, x.rank)) if given.across_spatial else (1,)
    total = _reduce(call, x.value, ReduceMode.ReduceSumSquare, axes)
    norm = call.emit(Sqrt(), call.emit(AddFusion(), total, call.const(given.eps)))
    y = Blob(call.emit(DivFusion(), x.value, norm), x.shape)
    factors = call.weight(0, (1,) if given.channel_shared else (x.shape[1],))
    return Blob(per_axis(call, y, 1, factors.reshape(()) if given.channel_shared else factors, None), x.shape)
