"""Fully connected layers and matmuls."""

from __future__ import annotations

import math

from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion

from .call import VALID, Call
from .registry import writes


@writes("FullConnection")
def fully_connected(call: Call) -> None:
    """Writes FullConnection. x is flattened to [-1, in], unless the node only reduces the last of more than 2
    dimensions."""
    op = call.op
    assert isinstance(op, FullConnection)
    rank = len(call.shape())
    axis = op.axis if op.use_axis else 1
    keeps = axis == rank - 1 and rank != 2
    if not keeps and axis != 1:
        raise call.refuse(f"it flattens the dimensions from {axis} on")
    operands = [call.input(), call.weight(1), call.bias(2, call.shape(1)[0])]
    call.emit("FULLY_CONNECTED", operands, activation=call.fused(op.activation_type), keep_num_dims=keeps)


@writes("MatMulFusion")
def product(call: Call) -> None:
    """Writes a matmul. With constant weights, it becomes a 1x1 convolution, which rounds in the same way (a fully
    connected layer only rounds once)."""
    op = call.op
    assert isinstance(op, MatMulFusion)
    if call.value(1).data is not None and len(call.shape(1)) == 2 and not op.transpose_a:
        _convolution(call, op)
        return
    if call.input_count > 2 or op.activation_type is not ActivationType.NO_ACTIVATION:
        raise call.refuse("TensorFlow Lite's BATCH_MATMUL has neither bias nor activation")
    call.emit("BATCH_MATMUL", [call.input(), call.input(1)], adj_x=op.transpose_a, adj_y=op.transpose_b)


def _convolution(call: Call, op: MatMulFusion) -> None:
    x, result = call.input(), call.output()
    weight = call.weight(1, None if op.transpose_b else (1, 0))
    out, depth = weight.shape
    weight.shape = (out, 1, 1, depth)
    rows = math.prod(x.shape) // depth
    shaped = {"image": (1, 1, rows, depth), "result": (1, 1, rows, out)}
    image, pixels = (
        call.writing.new(f"{call.node.name}/{name}", value.dtype, shape, records=value.quant)
        for (name, shape), value in zip(shaped.items(), (call.value(0), call.node.outputs[0]), strict=True)
    )
    call.emit("RESHAPE", [x, call.constant("image_shape", image.shape)], [image])
    call.emit(
        "CONV_2D", [image, weight, call.bias(2, out)], [pixels],
        padding=VALID, stride_h=1, stride_w=1, activation=call.fused(op.activation_type),
    )  # fmt: skip
    call.emit("RESHAPE", [pixels, call.constant("result_shape", result.shape)], [result])
