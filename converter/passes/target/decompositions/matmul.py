"""Decompositions of matmuls that the kernels do not support, and of fused activations that kernels ignore."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, Concat, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY
from mslite.converter.passes.target.writer import Writer, decomposes

_BOUNDS = (ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6)


def _emit_like(node: Node, op: Operator, writer: Writer, *inputs: Value) -> Value:
    """Emits `op` with the quantization type of the node."""
    value = writer.emit(op, *inputs)
    assert value.producer is not None
    value.producer.quant_type = node.quant_type
    value.quant = node.outputs[0].quant
    value.dtype = node.outputs[0].dtype
    return value


def _activated(node: Node, y: Value, kind: ActivationType, writer: Writer) -> Value:
    if kind is ActivationType.NO_ACTIVATION:
        return y
    return _emit_like(node, Activation(activation_type=kind), writer, y)


@decomposes("Conv2DFusion Conv2dTransposeFusion AddFusion SubFusion MulFusion DivFusion AvgPoolFusion MaxPoolFusion")
def activation_apart(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    kind = getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION)
    if kind is ActivationType.NO_ACTIVATION:
        raise Blocked("there is no decomposition for it", REMEDY)
    if is_quantized(node.outputs[0]) and kind not in _BOUNDS:
        raise Blocked(f"{kind.name} of a quantized tensor does not match its range", REMEDY)
    y = _emit_like(node, changed(node.op, activation_type=ActivationType.NO_ACTIVATION), writer, *node.inputs)
    return [_activated(node, y, kind, writer)]


@decomposes("FullConnection")
def full_connection(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Replaces a negative axis."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, FullConnection)
    if op.axis >= 0:
        return activation_apart(node, writer, version)
    y = _emit_like(node, changed(op, axis=op.axis % len(known_shape(x))), writer, *node.inputs)
    return [y]


@decomposes("MatMulFusion")
def matrix_product(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers a matmul to one with equal batch dimensions, a constant bias and no activation."""
    op, (a, b, *bias) = node.op, node.inputs
    assert isinstance(op, MatMulFusion)
    kind = op.activation_type
    late = [value for value in bias if not value.is_constant]
    if is_quantized(node.outputs[0]) and (late or kind not in _BOUNDS):
        raise Blocked(f"{kind.name} or a computed bias cannot be separated from a quantized matmul", REMEDY)
    plain = dataclasses.replace(op, activation_type=ActivationType.NO_ACTIVATION)
    known = [value for value in bias if value.is_constant]
    a, b, plain = _as_matrices(a, b, plain, writer)
    shape = known_shape(node.outputs[0])
    batch_a, batch_b = known_shape(a)[:-2], known_shape(b)[:-2]
    if batch_a and not batch_b and not plain.transpose_a and b.data is not None and not is_quantized(node.outputs[0]):
        y = _fully_connected(node, a, b, known, plain, writer)
    elif batch_a and not batch_b and not plain.transpose_a:
        rows = _renamed(reshaped(a, (-1, known_shape(a)[-1]), writer), a)
        y = _emit_like(node, plain, writer, rows, b, *known)
    else:
        batch = _common(batch_a, batch_b)
        y = _emit_like(node, plain, writer, _repeated(a, batch, writer), _repeated(b, batch, writer), *known)
    if y.shape != shape:
        y = _renamed(reshaped(y, shape, writer), y)
    for value in late:
        y = writer.emit(AddFusion(), y, value)
    return [_activated(node, y, kind, writer)]


def _fully_connected(node: Node, a: Value, b: Value, bias: Sequence[Value], op: MatMulFusion, writer: Writer) -> Value:
    """Emits FullConnection, which multiplies the rows of all matrices by a constant, for any rank."""
    data = b.array() if op.transpose_b else b.array().T
    weight = _renamed(writer.const(data, data.dtype, name=b.name), b)
    size = int(data.shape[0])
    biases = [writer.const(np.broadcast_to(value.array().reshape(-1), (size,)), name=value.name) for value in bias]
    full = FullConnection(has_bias=bool(bias), use_axis=True, axis=len(known_shape(a)) - 1)
    return _emit_like(node, full, writer, a, weight, *biases)


def _as_matrices(a: Value, b: Value, op: MatMulFusion, writer: Writer) -> tuple[Value, Value, MatMulFusion]:
    """Reshapes vectors to matrices of one row or column."""
    shape_a, shape_b = known_shape(a), known_shape(b)
    if len(shape_a) == 1:
        a, op = _renamed(reshaped(a, (1, *shape_a), writer), a), dataclasses.replace(op, transpose_a=False)
    if len(shape_b) == 1:
        b, op = _renamed(reshaped(b, (*shape_b, 1), writer), b), dataclasses.replace(op, transpose_b=False)
    return a, b, op


def _renamed(new: Value, old: Value) -> Value:
    """Gives a value the quantization parameters of the value that it replaces, and returns it."""
    new.quant = old.quant
    return new


def _common(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """Returns the broadcast shape of both."""
    rank = max(len(a), len(b))
    pairs = zip((*[1] * (rank - len(a)), *a), (*[1] * (rank - len(b)), *b), strict=True)
    return tuple(n if m == 1 else m for m, n in pairs)


def _repeated(x: Value, batch: Sequence[int], writer: Writer) -> Value:
    """Emits x broadcast to the batch dimensions `batch`."""
    shape = known_shape(x)
    wanted = (*batch, *shape[-2:])
    if shape == wanted:
        return x
    if x.data is not None and not x.quant and all(size >= 0 for size in wanted):
        return writer.const(np.broadcast_to(x.data, wanted), x.data.dtype, name=x.name)
    if x.dtype is not DataType.FLOAT32 or any(size < 0 for size in wanted):
        raise Blocked(f"'{x.name}' would have to be broadcast for each matmul", REMEDY)
    return writer.emit(BroadcastTo(shape=wanted), x, writer.ints(*wanted))


@decomposes("MatMulFusion")
def rows_of_several(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers a batch of matrices times one matrix to one matmul with all rows."""
    a, b = node.inputs[:2]
    transposed = getattr(node.op, "transpose_a", False)
    if a.shape is None or b.rank != 2 or a.rank is None or a.rank < 3 or transposed:
        return None
    if all(size == 1 for size in a.shape[:-2]):
        return None
    rows = writer.emit(Reshape(), a, writer.ints(-1, b.shape[1] if _is_transposed(node) else b.shape[0]))  # type: ignore[index]
    product = writer.emit(node.op, rows, *node.inputs[1:])
    return (writer.emit(Reshape(), product, _shape_like(writer, a, node.outputs[0])),)


def _is_transposed(node: Node) -> bool:
    return bool(getattr(node.op, "transpose_b", False))


def _shape_like(writer: Writer, a: Value, result: Value) -> Value:
    """Emits the shape of the result; its leading dimensions are those of `a`."""
    shape = result.shape
    assert shape is not None
    if sum(size < 0 for size in shape) <= 1:
        return writer.ints(*(size if size >= 0 else -1 for size in shape))
    last = len(shape) - 1
    front = writer.emit(StridedSlice(), writer.emit(Shape(), a), writer.ints(0), writer.ints(last), writer.ints(1))
    return writer.emit(Concat(axis=0), front, writer.ints(shape[-1]))
