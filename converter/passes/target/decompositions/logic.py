"""Decompositions of predicates, logical operators and casts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.conditions.arithmetic import has_cast
from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.comparison import Equal, LessEqual, NotEqual
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs, IsInf
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY, cast, number, require_float
from mslite.converter.passes.target.writer import Writer, decomposes

_MAX = float(np.finfo(np.float32).max)


@decomposes("IsNaN")
def is_not_a_number(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    require_float(x)
    return [writer.emit(NotEqual(), x, x)]


@decomposes("IsFinite")
def is_finite(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = node.inputs[0]
    require_float(x)
    return [writer.emit(LessEqual(), writer.emit(Abs(), x), number(_MAX, x, writer))]


@decomposes("IsInf")
def is_infinite(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x, op = node.inputs[0], node.op
    assert isinstance(op, IsInf)
    require_float(x)
    if op.detect_positive and op.detect_negative:
        return [writer.emit(Equal(), writer.emit(Abs(), x), number(np.inf, x, writer))]
    if not (op.detect_positive or op.detect_negative):
        return [writer.emit(Equal(), writer.emit(Abs(), x), number(-1, x, writer))]
    return [writer.emit(Equal(), x, number(np.inf if op.detect_positive else -np.inf, x, writer))]


def to_float(x: Value, writer: Writer) -> Value:
    return x if x.dtype is DataType.FLOAT32 else cast(x, DataType.FLOAT32, writer)


@decomposes("LogicalXor")
def exactly_one(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    truths = []
    for value in node.inputs:
        if value.dtype not in (DataType.BOOL, DataType.INT32, DataType.FLOAT32):
            raise Blocked(f"there is no decomposition for {value.dtype.name.lower()}", REMEDY)
        numbers = to_float(value, writer)
        if value.dtype is not DataType.BOOL:
            numbers = to_float(writer.emit(NotEqual(), numbers, number(0, numbers, writer)), writer)
        truths.append(numbers)
    return [writer.emit(NotEqual(), *truths)]


@decomposes("Cast")
def two_casts(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Casts to bool by a comparison, to other types through float32, which represents integers exactly up to 2^24."""
    x, wanted = node.inputs[0], node.outputs[0].dtype
    if wanted is DataType.BOOL and has_cast(x.dtype, DataType.FLOAT32, version):
        numbers = to_float(x, writer)
        return [writer.emit(NotEqual(), numbers, number(0, numbers, writer))]
    if not (has_cast(x.dtype, DataType.FLOAT32, version) and has_cast(DataType.FLOAT32, wanted, version)):
        raise Blocked(f"there is no cast from {x.dtype.name.lower()} to {wanted.name.lower()}", REMEDY)
    if x.dtype not in (DataType.BOOL, DataType.UINT8):
        writer.context.note(f"'{node.name}' casts integers through float32, which rounds integers above 2^24")
    return [cast(cast(x, DataType.FLOAT32, writer), wanted, writer)]
