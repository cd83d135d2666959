"""Nodes that are converted by the parser of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt
from flatbuffers import flexbuffers

from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.registry.node_parser import ForeignNode, array_of, find_node_parser, parsed

from .call import Call
from .model import SourceTensor

_CUSTOM = "CUSTOM:"
_MAX_KEYS = 256
_MAX_ITEMS = 1 << 16


class TfliteNode(ForeignNode):
    """A TensorFlow Lite node as plug-ins see it.

    The attributes of a custom operator are its FlexBuffers map, if it has one; `source.custom_options` are the bytes.
    Quantized operands are dequantized, and results are quantized after the node.
    """

    framework = FmkType.TFLITE

    def __init__(self, call: Call) -> None:
        self._call = call
        self.operator, self.name, self.source = call.node.name, call.name, call.node

    @cached_property
    def _read(self) -> dict[str, Any]:
        if not self.operator.startswith(_CUSTOM):
            return self._call.options.all()
        return _options(bytes(self._call.node.custom_options))

    def _attributes(self) -> Mapping[str, Any]:
        return self._read

    @property
    def input_count(self) -> int:
        return self._call.input_count

    @property
    def output_count(self) -> int:
        return len(self._call.node.outputs)

    def has_input(self, index: int) -> bool:
        return self._call.has_input(index)

    def input(self, index: int) -> Value:
        return self._call.input(index)

    def _tensor(self, value: Value) -> SourceTensor | None:
        """Returns the source tensor of a value; for a dequantized operand, that of the quantized operand."""
        indices = [index for index in range(self.input_count) if self.has_input(index)]
        operand = next((index for index in indices if self.input(index) is value), None)
        return self._call.scope.tensor_of(value) if operand is None else self._call.source(operand)

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        tensor = self._tensor(value)
        sizes = value.shape if tensor is None else tensor.shape
        return None if sizes is None else tuple(size if size >= 0 else None for size in sizes)

    def dtype(self, value: Value) -> DataType:
        tensor = self._tensor(value)
        return value.dtype if tensor is None or value.dtype is not DataType.UNKNOWN else tensor.dtype

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        return self._call.const(array_of(data, dtype))

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        return self._call.emit_many(op, inputs, outputs)


def _options(content: bytes) -> dict[str, Any]:
    """Returns the numbers, booleans, strings and lists of these in a FlexBuffers map; {} for other bytes.

    The bytes are untrusted: nested maps, which could be recursive, are left to the plug-in.
    """
    try:
        found = flexbuffers.GetRoot(bytearray(content)).AsMap
        items = [(str(key.AsKey), found.Values[index]) for index, key in enumerate(found.Keys) if index < _MAX_KEYS]
        return {name: value for name, item in items if (value := _option(item)) is not None}
    except Exception:  # the reader raises various exceptions for damaged bytes
        return {}


def _option(item: Any) -> Any:
    if item.IsMap:
        return None
    if item.IsVector or item.IsTypedVector or item.IsFixedTypedVector:
        kind = "AsVector" if item.IsVector else "AsTypedVector" if item.IsTypedVector else "AsFixedTypedVector"
        entries = getattr(item, kind)
        values = [_scalar(entries[index]) for index in range(min(len(entries), _MAX_ITEMS))]
        return None if None in values else values
    return _scalar(item)


def _scalar(item: Any) -> Any:
    if item.IsBool:
        return bool(item.AsBool)
    if item.IsInt:
        return int(item.AsInt)
    if item.IsFloat:
        return float(item.AsFloat)
    return str(item.AsString) if item.IsString else str(item.AsKey) if item.IsKey else None


def plugin_converter(name: str) -> Callable[[Call], Sequence[Value]] | None:
    """Returns a converter that calls the plug-in's parser, or None if no plug-in has one for the operator."""
    entry = find_node_parser(FmkType.TFLITE, name, name.removeprefix(_CUSTOM))
    return None if entry is None else lambda call: parsed(entry, TfliteNode(call))
