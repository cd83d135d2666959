"""Decompositions of pooling, resizing and grouped convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, NearestMode, ReduceMode, ResizeMethod
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.target.writer import Writer, decomposes


@decomposes("MaxPoolFusion")
def maximum_of_image(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers global max pooling."""
    assert isinstance(node.op, MaxPoolFusion)
    if not node.op.global_ or node.quant_type != 0:
        return None
    return (
        writer.emit(
            ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMax, coeff=1.0), node.inputs[0], writer.ints(1, 2)
        ),
    )


@decomposes("Resize")
def nearest_of_whole_factors(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers nearest resizing with half-pixel centers: for an integer factor, the nearest pixel of output i is floor(i
    / factor)."""
    op = node.op
    assert isinstance(op, Resize)
    if op.method is not ResizeMethod.NEAREST or op.coordinate_transform_mode is not CoordinateTransformMode.HALF_PIXEL:
        return None
    before, after = node.inputs[0].shape, node.outputs[0].shape
    if before is None or after is None or any(size <= 0 for size in (*before[1:3], *after[1:3])):
        return None
    if any(after[i] % before[i] for i in (1, 2)):
        return None
    plain = changed(op, coordinate_transform_mode=CoordinateTransformMode.ASYMMETRIC, nearest_mode=NearestMode.FLOOR)
    return (writer.emit(plain, *node.inputs),)


_MAX_GROUPS = 32
"""With more groups, one convolution per group is too slow."""


@decomposes("Conv2DFusion")
def convolution_of_each_group(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers a grouped convolution to one convolution per group."""
    op = node.op
    assert isinstance(op, Conv2DFusion)
    weight, biases = node.inputs[1].data, [value.data for value in node.inputs[2:]]
    channels = (node.inputs[0].shape or (-1,))[-1]
    if (
        not 1 < op.group <= _MAX_GROUPS
        or weight is None
        or any(bias is None for bias in biases)
        or node.quant_type != 0
    ):
        return None
    if channels < 0 or op.group == op.in_channel == op.out_channel:
        return None
    size = channels // op.group
    last = (node.inputs[0].rank or 4) - 1
    split = Split(output_num=op.group, size_splits=(size,) * op.group, axis=last)
    parts = writer.many(split, node.inputs[:1], op.group)
    one = changed(op, group=1, in_channel=size, out_channel=weight.shape[0] // op.group)
    weights = np.split(weight, op.group)
    rows = [np.split(bias, op.group) for bias in biases if bias is not None]
    results = [
        writer.emit(one, part, writer.const(weights[index]), *(writer.const(row[index]) for row in rows))
        for index, part in enumerate(parts)
    ]
    return (writer.emit(Concat(axis=last), *results),)
