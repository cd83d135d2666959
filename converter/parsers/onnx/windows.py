"""Operators with sliding windows other than convolution and pooling."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import windows as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType, PaddingMode, ReduceMode
from mslite.converter.mindir.ops.indexing import ScatterElements
from mslite.converter.mindir.ops.pooling import ROIPooling
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Unsqueeze
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .casting import as_type
from .registry import onnx_operator
from .spatial import pads_attribute, sizes


@onnx_operator("Col2Im")
def col2im(call: Call) -> Value:
    image, block = (as_type(call, call.input(index), DataType.INT32) for index in (1, 2))
    op = ops.Col2Im(dilations=call.integers("dilations"), pads=call.integers("pads"), strides=call.integers("strides"))
    return call.emit(op, call.input(0), image, block)


@onnx_operator("DeformConv")
def deform_conv(call: Call) -> Value:
    """Adds a bias of zeros if the node has a mask but no bias: MindIR's optional inputs are positional."""
    weight = call.input(1)
    shape = call.require_shape(weight, "a convolution")
    kernel = call.integers("kernel_shape")
    if len(shape) != 4 or (kernel and tuple(kernel) != shape[2:]):
        raise call.block("only 2-D kernels of the weight's size are supported", "Export again", "kernel_shape")
    op = ops.DeformConv(
        strides=sizes(call, "strides", 2, 1),
        pads=pads_attribute(call, 2),
        dilations=sizes(call, "dilations", 2, 1),
        group=call.integer("group", 1),
        offset_group=call.integer("offset_group", 1),
    )
    operands = [call.input(0), weight, call.input(2)]
    if call.has_input(3):
        operands.append(call.input(3))
    elif call.has_input(4):
        operands.append(call.const(np.zeros(shape[0], np.float32)))
    return call.emit(op, *operands, *([call.input(4)] if call.has_input(4) else []))


@onnx_operator("MaxRoiPool")
def max_roi_pool(call: Call) -> Value:
    """Converts pooling of regions [batch index, x1, y1, x2, y2]."""
    pooled = call.integers("pooled_shape")
    if pooled is None or len(pooled) != 2 or any(size < 1 for size in pooled):
        raise call.block("is missing or not positive", "Export the model again", "pooled_shape")
    op = ROIPooling(pooled_h=pooled[0], pooled_w=pooled[1], scale=call.real("spatial_scale", 1.0))
    return call.emit(op, call.input(0), call.input(1))


def _unpooled_shape(call: Call, x: Value) -> Value:
    """Returns int32 [rank], the shape before pooling: (size - 1) * stride - pads + kernel per spatial dimension."""
    rank = call.require_rank(x)
    kernel = call.integers("kernel_shape")
    if not kernel or len(kernel) != rank - 2:
        raise call.block(f"does not fit an input of rank {rank}", "Export the model again", "kernel_shape")
    stride, pads = sizes(call, "strides", rank - 2, 1), pads_attribute(call, rank - 2)
    factors = [1, 1, *stride]
    begins, ends = pads[: rank - 2], pads[rank - 2 :]
    rest = [0, 0] + [
        size - step - begin - end for size, step, begin, end in zip(kernel, stride, begins, ends, strict=True)
    ]
    shape = call.static_shape(x)
    if shape is not None:
        return call.ints([dim * factor + more for dim, factor, more in zip(shape, factors, rest, strict=True)])
    return call.emit(AddFusion(), call.emit(MulFusion(), call.emit(Shape(), x), call.ints(factors)), call.ints(rest))


@onnx_operator("MaxUnpool")
def max_unpool(call: Call) -> Value:
    """Scatters x to its indices in a flat tensor of zeros; pads with zeros at the end if output_shape is larger."""
    x, shape = call.input(0), _unpooled_shape(call, call.input(0))
    if shape.data is not None:
        count = call.ints((prod(int(size) for size in shape.data),))
    else:
        op = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceProd, coeff=1.0)
        count = call.emit(op, shape, call.ints((0,)))
    empty = call.emit(Fill(), call.like(0, x), count)
    flat = call.ints((-1,))
    places, values = (call.emit(Reshape(), value, flat) for value in (call.input(1), x))
    image = call.emit(Reshape(), call.emit(ScatterElements(axis=0), empty, places, values), shape)
    if not call.has_input(2):
        return image
    wanted = as_type(call, call.input(2), DataType.INT32)
    missing = call.emit(SubFusion(), wanted, shape)
    paddings = call.emit(Unsqueeze(axis=(1,)), missing)
    behind = call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), paddings, call.ints(((0, 0), (1, 0))))
    return call.emit(PadFusion(padding_mode=PaddingMode.CONSTANT), image, behind)
