"""Writes Python values as attributes of a `.mindir` file, in the typed form of MindSpore 2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Array, Value, data_type_of, is_symbol
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.serialization import to_custom
from mslite.converter.parsers.mindir.messages import (
    LINEAR_QUANTIZATION,
    QUANTIZATION_LISTS,
    RESULT_QUANTIZATION,
    TENSOR_TYPES,
    AttributeType,
)
from mslite.converter.parsers.protobuf import Message

_TENSOR_NUMBERS = {dtype: number for number, dtype in reversed(TENSOR_TYPES.items())}


def set_value(attribute: Message, value: Any, in_sequence: bool = False) -> None:
    """Stores an int, bool, float, string or (nested) tuple. Elements of tuples are in the repeated fields."""
    if isinstance(value, tuple | list):
        attribute.type = AttributeType.TUPLE
        for item in value:
            set_value(attribute.values.add(), item, in_sequence=True)
    elif isinstance(value, str):
        attribute.type = AttributeType.STRING
        _store(attribute, "s", "strings", value.encode(), in_sequence)
    elif isinstance(value, bool | np.bool_):
        attribute.type = AttributeType.BOOL
        _store(attribute, "i", "ints", int(value), in_sequence)
    elif isinstance(value, float):
        attribute.type = AttributeType.FLOAT
        _store(attribute, "f", "floats", value, in_sequence)
    else:
        attribute.type = AttributeType.INT64
        _store(attribute, "i", "ints", int(value), in_sequence)


def _store(attribute: Message, single: str, repeated: str, value: Any, in_sequence: bool) -> None:
    if in_sequence:
        getattr(attribute, repeated).append(value)
    else:
        setattr(attribute, single, value)


def set_bytes(attribute: Message, data: bytes) -> None:
    """Stores bytes as a tuple of uint8."""
    attribute.type = AttributeType.TUPLE
    for byte in data:
        item = attribute.values.add()
        item.type = AttributeType.UINT8
        item.ints.append(byte)


def add_operator(node: Message, op: Operator) -> None:
    """Sets the node's primitive and attributes. mslite's additional operators become Custom nodes, as in `.ms`
    files."""
    declaration = op.declaration
    if declaration.is_custom:
        op = to_custom(op)
    if isinstance(op, Custom):
        _add_custom(node, op)
        return
    node.op_type = declaration.name
    for attribute in declaration.attributes:
        value = getattr(op, attribute.name)
        if value is None:
            continue
        if attribute.wire == "Vec2D":
            value = tuple(row or () for row in value)
        if attribute.wire in ("float", "[float]"):
            value = tuple(map(float, value)) if attribute.is_vector else float(value)
        add(node, attribute.wire_name, value)


def _add_custom(node: Message, op: Custom) -> None:
    node.op_type = "Custom"
    add(node, "type", op.type or "")
    record = node.attribute.add(name="attr", type=int(AttributeType.TUPLE))
    for name, data in op.attr or ():
        set_value(record.values.add(), name or "", in_sequence=True)
        set_bytes(record.values.add(), data or b"")


def add(owner: Message, name: str, value: Any) -> None:
    """Adds an attribute to a node or graph."""
    set_value(owner.attribute.add(name=name), value)


# ---- tensors ----


def describe(tensor: Message, value: Value) -> None:
    """Sets data type and dimensions: -1 for unknown sizes, a single -2 for an unknown rank."""
    tensor.data_type = _TENSOR_NUMBERS.get(value.dtype, 0)
    if value.shape is None:
        tensor.dims.append(-2)
    else:
        tensor.dims.extend(-1 if is_symbol(dim) else dim for dim in value.shape)


def describe_results(node: Message, values: Iterable[Value]) -> None:
    """Sets the types and shapes of the node's results, in the attribute that MindSpore uses for them."""
    record = node.attribute.add(name="shape")
    values = list(values)
    if len(values) == 1:
        record.type = AttributeType.TENSORS
        describe(record.tensors.add(), values[0])
        return
    record.type = AttributeType.TUPLE
    for value in values:
        item = record.values.add(type=int(AttributeType.TENSORS))
        describe(item.tensors.add(), value)


def set_contents(tensor: Message, value: Value, array: Array | None) -> None:
    """Sets type, dimensions and quantization parameters of a constant; the caller adds the bytes."""
    shape = value.shape if array is None else array.shape
    tensor.data_type = _TENSOR_NUMBERS[value.dtype if array is None else data_type_of(array)]
    tensor.dims.extend(shape or ())
    if value.encoding is not None:
        tensor.compression_type = int(value.encoding.compression)
    _quantize(tensor, value)


def _quantize(tensor: Message, value: Value) -> None:
    if not value.quant:
        return
    record = tensor.quant_params.add(quant_algo_name=LINEAR_QUANTIZATION)
    for name, field in QUANTIZATION_LISTS.items():
        numbers = record.attribute.add(name=name, type=int(AttributeType.LIST))
        for parameter in value.quant:
            set_value(numbers.values.add(), getattr(parameter, field), in_sequence=True)


def add_quantization(owner: Message, name: str, values: Iterable[Value]) -> None:
    """Adds the quantization parameters of a node's results or a graph's inputs as an attribute, if any are
    quantized."""
    values = list(values)
    if not any(value.quant for value in values):
        return
    record = owner.attribute.add(name=name, type=int(AttributeType.LIST))
    for value in values:
        tensor = record.values.add(type=int(AttributeType.TENSORS)).tensors.add(name=RESULT_QUANTIZATION)
        _quantize(tensor, value)
