"""Decompositions of dynamic quantization into float32 arithmetic; sums of integer products are exact below 2^24."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Equal
from mslite.converter.mindir.ops.convolution import Conv2DFusion, ConvInteger
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion, MatMulInteger
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped
from mslite.converter.passes.target.decompositions.float_arithmetic import (
    REMEDY,
    as_number,
    cast,
    clamp,
    linear,
    number,
    require_float,
)
from mslite.converter.passes.target.writer import Writer, decomposes

_READERS = frozenset({"MatMulInteger", "ConvInteger"})
_MAGIC = 1.5 * 2.0**23
"""Adding this number rounds half to even, for numbers below 2^22: float32 values of its size have no fraction."""
_EXACT = 1 << 24
_STEPS = 255


def _nearest(x: Value, writer: Writer) -> Value:
    """Emits x rounded half to even, for |x| below 2^22."""
    return linear(linear(x, 1, _MAGIC, writer), 1, -_MAGIC, writer)


@decomposes("DynamicQuantizeLinear")
def dynamic_quantize(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers dynamic quantization to float32; the nodes that read the integers are lowered, too."""
    x = node.inputs[0]
    require_float(x)
    y, _, zero = node.outputs
    for value in (y, zero):
        others = [user.op.name for user in value.users if user.op.name not in _READERS]
        if others or value in writer.graph.outputs:
            raise Blocked(f"its integers are read by {others[0] if others else 'the user'}", REMEDY)
        for user in value.users:
            _require_written(user)
    rank = len(known_shape(x))
    if rank == 0:
        raise Blocked("its input is a scalar", REMEDY)
    axes = writer.ints(*range(rank))
    low, high = (
        writer.emit(kind, writer.emit(ReduceFusion(mode=mode, keep_dims=True), x, axes), _zero(rank, writer))
        for kind, mode in ((Minimum(), ReduceMode.ReduceMin), (Maximum(), ReduceMode.ReduceMax))
    )
    width = writer.emit(DivFusion(), writer.emit(SubFusion(), high, low), _constant(_STEPS, rank, writer))
    nothing = as_number(writer.emit(Equal(), width, _zero(rank, writer)), writer)
    step = writer.emit(AddFusion(), width, nothing)
    below = writer.emit(DivFusion(), linear(low, -1, 0, writer), step)
    point = clamp(_nearest(below, writer), 0, _STEPS, writer)
    steps = _nearest(writer.emit(DivFusion(), x, step), writer)
    integers = clamp(writer.emit(AddFusion(), steps, point), 0, _STEPS, writer)
    for value in (y, zero):
        value.dtype = DataType.FLOAT32
    return [integers, reshaped(step, (), writer), reshaped(point, (), writer)]


def _constant(value: float, rank: int, writer: Writer) -> Value:
    return writer.const(np.full((1,) * rank, value))


def _zero(rank: int, writer: Writer) -> Value:
    return _constant(0, rank, writer)


def _require_written(user: Node) -> None:
    """Raises Blocked if the reader of the integers cannot be lowered to float32."""
    for index in range(4):
        _require_number(user.inputs[index])
    for value in user.inputs[2:4]:
        if value.shape is None or (value.shape != () and value.data is None):
            raise Blocked(f"'{value.name}' is not a scalar", REMEDY)
    if isinstance(user.op, ConvInteger) and (user.inputs[1].data is None or user.inputs[3].data is None):
        raise Blocked("the weights of its convolution are computed at run time", REMEDY)


def _require_number(value: Value) -> None:
    known = value.data is not None or value.dtype in (DataType.FLOAT32, DataType.UINT8)
    if not known:
        raise Blocked(f"there is no cast from {value.dtype.name.lower()} to float32", REMEDY)


def _as_float(value: Value, writer: Writer) -> Value:
    if value.data is not None:
        return writer.const(value.data, name=value.name)
    return value if value.dtype is DataType.FLOAT32 else cast(value, DataType.FLOAT32, writer)


def _difference(value: Value, zero: Value, writer: Writer) -> Value:
    """Emits the integers minus their zero point; constants with one zero point stay 8-bit."""
    if value.data is not None and zero.data is not None:
        points = np.unique(zero.data.astype(np.int64))
        if points.size == 1:
            return _stored(value, int(points[0]), writer)
        if zero.data.ndim == 1 and value.rank == 4:
            return writer.const(
                value.data.astype(np.float32) - zero.data.reshape(-1, 1, 1, 1).astype(np.float32), name=value.name
            )
        return writer.const(value.data.astype(np.float32) - zero.data.astype(np.float32), name=value.name)
    number_of = _as_float(value, writer)
    if zero.data is not None and not np.any(zero.data):
        return number_of
    return writer.emit(SubFusion(), number_of, _as_float(zero, writer))


def _stored(value: Value, zero: int, writer: Writer) -> Value:
    """Returns an 8-bit constant with scale 1, whose float values are its integers minus the zero point."""
    data = value.array()
    shift = 128 if data.dtype == np.uint8 else 0
    weights = writer.const(data.astype(np.int16) - shift, np.int8, name=value.name)
    weights.quant = (QuantParam(scale=1.0, zeroPoint=zero - shift, inited=True),)
    return weights


def _note_of_sums(node: Node, weight: Value, writer: Writer) -> None:
    """Adds a note if sums may exceed the exact range of float32."""
    if weight.data is not None:
        zero = weight.quant[0].zeroPoint if weight.quant else 0
        sizes = np.abs(weight.data.astype(np.float64) - zero)
        axes = tuple(range(1, sizes.ndim)) if isinstance(node.op, ConvInteger) else (-2,)
        if _STEPS * float(sizes.sum(axes).max(initial=0)) < _EXACT:
            return
    writer.context.note(f"'{node.name}' accumulates integers in float32, which is exact for sums below 2^24")


def _finished(node: Node, sums: Value, rest: Sequence[Value], writer: Writer) -> Value:
    """Emits the sums as int32, or scaled with the bias added."""
    if not rest:
        return cast(sums, DataType.INT32, writer)
    scale, *more = rest
    factor = _column(scale, sums, writer)
    if len(more) > 1:
        factor = writer.emit(MulFusion(), factor, more[1])
    y = writer.emit(MulFusion(), sums, factor)
    return writer.emit(AddFusion(), y, _column(more[0], sums, writer)) if more else y


def _column(value: Value, like: Value, writer: Writer) -> Value:
    """Emits a scalar, or a vector with one element per column."""
    if value.rank == 0 and value.data is not None:
        return number(float(value.data.reshape(-1)[0]), like, writer)
    return value


@decomposes("MatMulInteger")
def integer_product(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    assert isinstance(node.op, MatMulInteger)
    _require_written(node)
    a, b, a_zero, b_zero, *rest = node.inputs
    if len(rest) > 2:
        raise Blocked("it has per-row scales", REMEDY)
    left, right = _difference(a, a_zero, writer), _difference(b, b_zero, writer)
    sums = writer.emit(MatMulFusion(), left, right)
    _mark(sums)
    _note_of_sums(node, right, writer)
    return [_finished(node, sums, rest, writer)]


@decomposes("ConvInteger")
def integer_convolution(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    op = node.op
    assert isinstance(op, ConvInteger)
    _require_written(node)
    x, weight, x_zero, weight_zero, *rest = node.inputs
    if len(rest) > 2:
        raise Blocked("it has per-image scales", REMEDY)
    left, right = _difference(x, x_zero, writer), _difference(weight, weight_zero, writer)
    shape = known_shape(weight)
    fields = {field.name: getattr(op, field.name) for field in dataclasses.fields(op)}
    plain = Conv2DFusion(**fields | {"format": Format.NHWC, "kernel_size": shape[1:3], "mode": 1,
                                     "in_channel": shape[3] * op.group, "out_channel": shape[0]})  # fmt: skip
    sums = writer.emit(plain, left, right)
    _mark(sums)
    _note_of_sums(node, right, writer)
    return [_finished(node, sums, rest, writer)]


def _mark(y: Value) -> None:
    """Sets the quantization type of the node to quantized weights."""
    assert y.producer is not None
    if any(value.quant for value in y.producer.inputs):
        y.producer.quant_type = QuantType.QUANT_WEIGHT


@decomposes("Gather")
def rows_of_bytes(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers an 8-bit table that only casts to float32 read to int8 with scale 1."""
    table, *rest = node.inputs
    out = node.outputs[0]
    is_bytes = table.dtype in (DataType.UINT8, DataType.INT8) and table.data is not None and not table.quant
    if not is_bytes or out in writer.graph.outputs or not out.users:
        return None
    if any(user.op.name != "Cast" or user.outputs[0].dtype is not DataType.FLOAT32 for user in out.users):
        return None
    stored = _stored(table, 0, writer)
    rows = writer.emit(node.op, stored, *rest)
    rows.quant = stored.quant
    out.dtype = DataType.FLOAT32
    return [writer.emit(QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.FLOAT32)), rows)]
