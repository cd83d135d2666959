"""Position-sensitive ROI pooling (R-FCN): each bin has separate channels. Lowered to matmuls with masks of the bins."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, Maximum, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import SliceFusion
from mslite.converter.mindir.ops.comparison import GreaterEqual, Less
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Abs, Ceil, Clip, Floor, Sign

from .call import Blob, Call
from .registry import caffe_layer

_MAX_BINS = 64


@dataclass(frozen=True)
class _Bins:
    """The bins of one dimension: a mask of the covered pixels, [regions, bins, size], and their count, [regions,
    bins]."""

    mask: Value
    count: Value


def _rounded(call: Call, x: Value) -> Value:
    """Rounds half away from zero, like round() in C."""
    away = call.emit(Floor(), call.emit(AddFusion(), call.emit(Abs(), x), call.const(0.5)))
    return call.emit(MulFusion(), call.emit(Sign(), x), away)


def _bins(call: Call, rows: Value, column: int, scale: float, bins: int, size: int) -> _Bins:
    """Returns the bins of one dimension. Bin i covers floor(start + i * width) to ceil(start + (i + 1) * width),
    clipped to the image."""
    begin, end = (
        call.emit(SliceFusion(axes=(1,)), rows, call.ints([at]), call.ints([1])) for at in (column, column + 2)
    )
    start = call.emit(MulFusion(), _rounded(call, begin), call.const(scale))
    stop = call.emit(AddFusion(), _rounded(call, end), call.const(1.0))
    stop = call.emit(MulFusion(), stop, call.const(scale))
    width = call.emit(Maximum(), call.emit(SubFusion(), stop, start), call.const(0.1))
    width = call.emit(DivFusion(), width, call.const(float(bins)))
    edges = []
    for first, op in ((0, Floor()), (1, Ceil())):
        steps = call.emit(MulFusion(), width, call.const(np.arange(first, first + bins)[None]))
        edge = call.emit(op, call.emit(AddFusion(), steps, start))
        edges.append(call.emit(Clip(min=0.0, max=float(size)), edge))
    places = call.const(np.arange(size)[None, None])
    low, high = (call.emit(Reshape(), edge, call.ints([0, 0, 1])) for edge in edges)
    inside = [call.emit(GreaterEqual(), places, low), call.emit(Less(), places, high)]
    mask = call.emit(MulFusion(), *(call.cast(each, DataType.FLOAT32) for each in inside))
    count = call.emit(Maximum(), call.emit(SubFusion(), edges[1], edges[0]), call.const(0.0))
    return _Bins(mask, count)


@caffe_layer("PSROIPooling")
def position_sensitive_pooling(call: Call) -> Blob:
    """Converts PSROIPooling: y[region, c, i, j] is the mean of channel (c * group + i) * group + j over bin (i, j); 0
    for empty bins."""
    x, rois, given = call.bottom(0), call.bottom(1), call.parameter("psroi_pooling")
    call.require_rank(x, 4)
    outputs, group = given.output_dim, given.group_size
    if rois.shape[-1] != 5 and not (rois.rank == 4 and rois.shape[1:] == (5, 1, 1)):
        raise call.block(f"the regions have the shape {list(rois.shape)} instead of [regions, 5]")
    batch, channels, height, width = x.shape
    if not 1 <= group <= _MAX_BINS or channels != outputs * group * group:
        raise call.block(
            f"{channels} channels are not {outputs} for each of {group} x {group} bins", attribute="output_dim"
        )
    if batch != 1:
        raise call.block(f"a batch of {batch} is unsupported", "Set --inputShape with a batch of 1")
    count = prod(rois.shape) // 5
    rows = call.reshape(rois.value, rois.shape, (count, 5))
    down = _bins(call, rows, 2, given.spatial_scale, group, height)
    across = _bins(call, rows, 1, given.spatial_scale, group, width)
    planes = call.emit(Reshape(), x.value, call.ints([outputs, group, group, height, width]))
    planes = call.emit(Transpose(), planes, call.ints([1, 2, 0, 3, 4]))
    planes = call.emit(Reshape(), planes, call.ints([group, group, outputs * height, width]))
    columns = call.emit(Transpose(), across.mask, call.ints([1, 2, 0]))  # [bins, width, regions]
    sums = call.emit(MatMulFusion(), planes, columns)
    sums = call.emit(Reshape(), sums, call.ints([group, group, outputs, height, -1]))
    lines = call.emit(Transpose(), down.mask, call.ints([1, 2, 0]))
    lines = call.emit(Reshape(), lines, call.ints([group, 1, 1, height, -1]))
    total = call.emit(ReduceFusion(mode=ReduceMode.ReduceSum), call.emit(MulFusion(), sums, lines), call.ints([3]))
    total = call.emit(Transpose(), total, call.ints([3, 2, 0, 1]))
    tall = call.emit(Reshape(), down.count, call.ints([-1, 1, group, 1]))
    wide = call.emit(Reshape(), across.count, call.ints([-1, 1, 1, group]))
    area = call.emit(Maximum(), call.emit(MulFusion(), tall, wide), call.const(1.0))
    return Blob(call.emit(DivFusion(), total, area), (count, outputs, group, group))
