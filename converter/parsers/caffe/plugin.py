"""Layers that are converted by the parser of a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt

from mslite.converter.errors import Blocked
from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.emitted_types import StrictAttributes, emitted_types
from mslite.converter.registry.entries import Entry
from mslite.converter.registry.node_parser import ForeignNode, array_of, find_node_parser, parsed

from .call import Blob, Call
from .text_fields import layer_fields


class CaffeLayer(ForeignNode):
    """A Caffe layer as plug-ins see it: bottom blobs are operands, top blobs are results. Attributes are the fields of
    its messages `<name>_param` in the prototxt, including fields that Caffe 1.0 does not have."""

    framework = FmkType.CAFFE

    def __init__(self, call: Call) -> None:
        self._call = call
        self.operator, self.name, self.source = call.layer.type, call.name, call.layer
        self._known: dict[Value, StrictAttributes] = {
            blob.value: (DataType.FLOAT32, blob.shape) for blob in call.bottoms
        }

    @cached_property
    def _read(self) -> dict[str, Any]:
        try:
            return layer_fields(self._call.layer.text)
        except ValueError as error:
            raise self.block(f"its parameters cannot be read: {error}", "Correct the prototxt") from None

    def _attributes(self) -> Mapping[str, Any]:
        return self._read

    @property
    def input_count(self) -> int:
        return len(self._call.bottoms)

    @property
    def output_count(self) -> int:
        return self._call.top_count

    def has_input(self, index: int) -> bool:
        return index < len(self._call.bottoms)

    def input(self, index: int) -> Value:
        return self._call.bottom(index).value

    @cached_property
    def weights(self) -> Sequence[Array]:
        weights, layer = self._call.scope.weights, self._call.layer.name
        try:
            return tuple(weights.blob(layer, index) for index in range(self._call.weight_count))
        except ValueError as error:
            raise self.block(f"its weights are damaged: {error}", "Download the caffemodel again") from None

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        return value.shape if value.is_constant else self._known.get(value, (DataType.UNKNOWN, None))[1]

    def dtype(self, value: Value) -> DataType:
        return value.dtype if value.is_constant else self._known.get(value, (DataType.UNKNOWN, None))[0]

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        array = array_of(data, dtype)
        return self._call.const(array, array.dtype)

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        values = self._call.emit_many(op, inputs, outputs)
        if values:
            node = values[0].producer
            assert node is not None
            types = emitted_types(
                node, lambda value: (self.dtype(value), self.shape(value)), self._call.scope.inference
            )
            self._known.update(zip(values, types or (), strict=False))
        return values

    def blob(self, value: Value, entry: Entry) -> Blob:
        """Returns a result with its shape, which later layers need. Raises Blocked if it is unknown."""
        shape = self.shape(value)
        if shape is None or any(size is None for size in shape):
            reason = f"the shape of a result of its parser in {entry.origin} is unknown"
            raise Blocked(reason, "Register a shape rule for its Custom type, with fixed sizes (docs/extending.md)")
        return Blob(value, tuple(size for size in shape if size is not None))


def plugin_converter(kind: str) -> Callable[[Call], Sequence[Blob]] | None:
    """Returns a converter that calls the plug-in's parser, or None if no plug-in has one for the layer type."""
    entry = find_node_parser(FmkType.CAFFE, kind)
    if entry is None:
        return None

    def convert(call: Call) -> Sequence[Blob]:
        layer = CaffeLayer(call)
        return [layer.blob(value, entry) for value in parsed(entry, layer)]

    return convert
