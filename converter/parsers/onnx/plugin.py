"""Nodes that are converted by a plug-in's parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt
import onnx
from onnx import AttributeProto

from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.emitted_types import emitted_types
from mslite.converter.registry.node_parser import ForeignNode, array_of, find_node_parser, parsed

from .call import Call
from .tensors import TensorError


class OnnxPluginNode(ForeignNode):
    """An ONNX node in the interface for plug-ins."""

    framework = FmkType.ONNX

    def __init__(self, call: Call) -> None:
        self._call = call
        self.operator, self.name, self.source = call.operator, call.name, call.node

    @cached_property
    def _read(self) -> dict[str, Any]:
        return {attribute.name: self._value(attribute) for attribute in self._call.node.attribute}

    def _value(self, attribute: AttributeProto) -> Any:
        call = self._call
        if attribute.type == AttributeProto.TENSOR:
            try:
                return call.scope.model.reader.read(attribute.t)
            except TensorError as error:
                raise call.block(str(error), "Export the model again", attribute.name) from None
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if attribute.type == AttributeProto.STRINGS:
            return [text.decode("utf-8", "replace") for text in value]
        return list(value) if attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS) else value

    def _attributes(self) -> Mapping[str, Any]:
        return self._read

    def _mark_read(self, *names: str) -> None:
        self._call.ignore(*names)

    @property
    def input_count(self) -> int:
        return self._call.input_count

    @property
    def output_count(self) -> int:
        return self._call.output_count

    def has_input(self, index: int) -> bool:
        return self._call.has_input(index)

    def input(self, index: int) -> Value:
        return self._call.input(index)

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        return self._call.shape(value)

    def dtype(self, value: Value) -> DataType:
        return self._call.dtype(value)

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        return self._call.const(array_of(data, dtype))

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        scope = self._call.scope
        values = self._call.emit_many(op, inputs, outputs)
        if values:
            node = values[0].producer
            assert node is not None
            known = scope.types
            types = emitted_types(
                node, lambda value: (known.type_of(value), known.shape_of(value)), scope.session.inference
            )
            for value, (dtype, shape) in zip(values, types or (), strict=False):
                known.note(value, dtype, shape)
        return values


def plugin_converter(domain: str, name: str) -> Callable[[Call], Sequence[Value]] | None:
    """Returns the converter that calls a plug-in's parser for the operator; None if no plug-in registered one."""
    qualified = f"{domain}.{name}" if domain else f"ai.onnx.{name}"
    entry = find_node_parser(FmkType.ONNX, qualified, name)
    if entry is None:
        return None

    def convert(call: Call) -> Sequence[Value]:
        values = parsed(entry, OnnxPluginNode(call))
        for attribute in call.unread_attributes():
            reason = f"its parser in {entry.origin} does not read it"
            raise call.block(reason, "Read it with node.attribute, or export the model without it", attribute)
        call.ignore_inputs()  # a plug-in's parser may ignore inputs
        call.scope.types.tell(call.node.output, values)
        return values

    return convert
