"""Nodes that are converted by the parser of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt

from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.protobuf import Message
from mslite.converter.registry.node_parser import ForeignNode, array_of, find_node_parser, parsed

from .call import Call
from .tensors import TensorError, data_type, dimensions, read_tensor

_LISTS = ("s", "i", "f", "b", "type", "shape", "tensor")


class TensorFlowNode(ForeignNode):
    """A TensorFlow node as plug-ins see it. Attributes are Python values: types are DataType, shapes tuples with -1,
    functions names."""

    framework = FmkType.TF

    def __init__(self, call: Call) -> None:
        self._call = call
        self.operator, self.name, self.source = call.operator, call.name, call.node

    @cached_property
    def _read(self) -> dict[str, Any]:
        return {name: self._value(name, message) for name, message in self._call.node.attributes.items()}

    def _value(self, name: str, attribute: Message) -> Any:
        for field, content in attribute.ListFields():
            if field.name == "list":
                return [self._item(name, kind, item) for kind in _LISTS for item in getattr(content, kind)]
            return self._item(name, field.name, content)
        return None

    def _item(self, name: str, kind: str, content: Any) -> Any:
        try:
            match kind:
                case "s":
                    return content.decode("utf-8", "replace") if isinstance(content, bytes) else content
                case "type":
                    return data_type(content)
                case "shape":
                    return dimensions(content)
                case "tensor":
                    return read_tensor(content)
                case "func":
                    return content.name
                case _:
                    return content
        except TensorError:  # the parser may not read this attribute
            return content

    def _attributes(self) -> Mapping[str, Any]:
        return self._read

    @property
    def input_count(self) -> int:
        return self._call.input_count

    @property
    def output_count(self) -> int:
        """The number of outputs that the model reads: the operator's definition is not in the file."""
        return self._call.scope.outputs_read(self._call.node.name)

    def has_input(self, index: int) -> bool:
        return self._call.has_input(index)

    def input(self, index: int) -> Value:
        return self._call.input(index)

    def contents(self, value: Value) -> Array | None:
        return self._call.contents(value)

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        return self._call.shape(value)

    def dtype(self, value: Value) -> DataType:
        return value.dtype

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        return self._call.const(array_of(data, dtype))

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        return self._call.emit_many(op, inputs, outputs)


def plugin_converter(name: str) -> Callable[[Call], Sequence[Value]] | None:
    """Returns a converter that calls the plug-in's parser, or None if no plug-in has one for the operator."""
    entry = find_node_parser(FmkType.TF, name)
    return None if entry is None else lambda call: parsed(entry, TensorFlowNode(call))
