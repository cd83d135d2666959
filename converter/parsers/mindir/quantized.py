"""Reads the quantization parameters of a node's results and of a graph's inputs."""

from __future__ import annotations

from collections.abc import Iterable

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.parsers.protobuf import Message

from .entries import Entry, flattened
from .exceptions import Blocked
from .messages import QUANTIZATION_KIND, RESULT_QUANTIZATION
from .scope import Scope
from .tensors import TensorError, quantization


def read_quantization(scope: Scope, attributes: Iterable[Message], entry: Entry) -> None:
    """Sets the quantization parameters of the results of a node, and the node's quantization type. Raises Blocked."""
    results = [each for each in flattened([entry]) if isinstance(each, Value)]
    for attribute in attributes:
        if attribute.name == RESULT_QUANTIZATION:
            quantize(scope, attribute, results)
        elif attribute.name == QUANTIZATION_KIND and results and results[0].producer is not None:
            try:
                results[0].producer.quant_type = QuantType(attribute.i)
            except ValueError:
                raise Blocked(
                    f"quantization type {attribute.i} is unknown", "Export the model again", attribute.name
                ) from None


def quantize(scope: Scope, attribute: Message, values: list[Value]) -> None:
    for value, item in zip(values, attribute.values, strict=False):
        if len(item.tensors):
            try:
                value.quant = quantization(item.tensors[0])
            except TensorError as error:
                scope.block(value.name, "quantization", str(error))
