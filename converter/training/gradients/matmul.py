"""Gradients of convolutions and matmuls."""

from __future__ import annotations

from math import prod
from typing import Any

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import convolution, training
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of


@rule("Conv2DFusion")
def _convolution(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, convolution.Conv2DFusion)
    shared: dict[str, Any] = {
        "format": Format.NHWC,
        "kernel_size": op.kernel_size,
        "stride": op.stride,
        "dilation": op.dilation,
    }
    shared |= {"pad_mode": op.pad_mode, "pad_list": op.pad_list, "group": op.group or 1}
    shared |= {"in_channel": op.in_channel, "out_channel": op.out_channel}
    x, weight = call.node.inputs[:2]
    found: Gradients = [None] * len(call.node.inputs)
    if call.wanted[0]:
        sizes = call.build.sizes(call.name("x/shape"), call.shape(0))
        found[0] = call.add(training.Conv2DBackpropInputFusion(**shared), "x", [dy, weight, sizes], call.shape(0))
    if call.wanted[1]:
        sizes = call.build.sizes(call.name("weight/shape"), call.shape(1))
        found[1] = call.add(training.Conv2DBackpropFilterFusion(**shared), "weight", [dy, x, sizes], call.shape(1))
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    return found


@rule("Conv2dTransposeFusion")
def _transposed_convolution(call: Call, dy: Value) -> Gradients:
    """A transposed convolution is the input gradient of a convolution. Therefore its input gradient is that
    convolution, and its weight
    gradient is that of the convolution with x and dy swapped."""
    op = call.op
    assert isinstance(op, convolution.Conv2dTransposeFusion)
    shared: dict[str, Any] = {"format": Format.NHWC, "kernel_size": op.kernel_size, "stride": op.stride}
    shared |= {"dilation": op.dilation, "pad_mode": op.pad_mode, "pad_list": op.pad_list, "group": op.group or 1}
    shared |= {"in_channel": op.out_channel, "out_channel": op.in_channel}
    x, weight = call.node.inputs[:2]
    found: Gradients = [None] * len(call.node.inputs)
    if call.wanted[0]:
        found[0] = call.add(convolution.Conv2DFusion(**shared), "x", [dy, weight], call.shape(0))
    if call.wanted[1]:
        sizes = call.build.sizes(call.name("weight/shape"), call.shape(1))
        found[1] = call.add(training.Conv2DBackpropFilterFusion(**shared), "weight", [x, dy, sizes], call.shape(1))
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    return found


def _bias(call: Call, dy: Value, operand: int) -> Value:
    shape = call.shape(operand)
    summed = call.add(training.BiasAddGrad(), "bias", [dy], (shape_of(dy)[-1],))
    return call.build.reshaped(summed, shape, call.name("bias/reshaped"))


@rule("MatMulFusion")
def _product(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, MatMulFusion)
    a, b = call.node.inputs[:2]
    of_a, of_b = call.shape(0), call.shape(1)
    found: Gradients = [None] * len(call.node.inputs)
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    if len(of_b) == 2 and len(of_a) > 2 and not op.transpose_a:
        flat_a = (prod(of_a[:-1]), of_a[-1])
        a = call.build.reshaped(a, flat_a, call.name("a/flat"))
        dy = call.build.reshaped(dy, (flat_a[0], shape_of(dy)[-1]), call.name("dy/flat"))
    elif len(of_a) < 2 or len(of_b) < 2:
        raise NoGradientError(
            f"the matmul of {list(of_a)} and {list(of_b)} has a vector", "Make it a matrix of one row"
        )
    repeated = shape_of(dy)[:-2]  # broadcast matrices get the sum of their gradients
    if call.wanted[0]:
        da = _of_a(call, dy, b, op, (*repeated, *shape_of(a)[-2:]))
        found[0] = (
            call.gathered(da, of_a, "a/reshaped")
            if a is call.node.inputs[0]
            else call.build.reshaped(da, of_a, call.name("a/reshaped"))
        )
    if call.wanted[1]:
        found[1] = call.gathered(_of_b(call, dy, a, op, (*repeated, *of_b[-2:])), of_b, "b/reshaped")
    return found


def _of_a(call: Call, dy: Value, b: Value, op: MatMulFusion, shape: Shape) -> Value:
    transpose_b = op.transpose_b
    turned = b.producer
    if (
        turned is not None and isinstance(turned.op, Transpose) and len(shape_of(b)) == 2
    ):  # uses the matrix before the Transpose
        b, transpose_b = turned.inputs[0], not transpose_b
    if op.transpose_a:
        return call.add(MatMulFusion(transpose_a=transpose_b, transpose_b=True), "a", [b, dy], shape)
    return call.add(MatMulFusion(transpose_b=not transpose_b), "a", [dy, b], shape)


def _of_b(call: Call, dy: Value, a: Value, op: MatMulFusion, shape: Shape) -> Value:
    if op.transpose_b:
        return call.add(MatMulFusion(transpose_a=True, transpose_b=op.transpose_a), "b", [dy, a], shape)
    return call.add(MatMulFusion(transpose_a=not op.transpose_a), "b", [a, dy], shape)


@rule("FullConnection")
def _full_connection(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, FullConnection)
    x, weight = call.node.inputs[:2]
    out, depth = call.shape(1)
    rows = prod(call.shape(0)) // depth
    found: Gradients = [None] * len(call.node.inputs)
    dy = call.build.reshaped(dy, (rows, out), call.name("dy/flat"))
    if call.wanted[0]:
        dx = call.add(MatMulFusion(), "x", [dy, weight], (rows, depth))
        found[0] = call.build.reshaped(dx, call.shape(0), call.name("x/reshaped"))
    if call.wanted[1]:
        flat = call.build.reshaped(x, (rows, depth), call.name("x/flat"))
        found[1] = call.add(MatMulFusion(transpose_a=True), "weight", [dy, flat], (out, depth))
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    return found
