"""Scales and zero points of a node's results and of a graph's inputs."""

from __future__ import annotations

from collections.abc import Iterable

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.parsers.protobuf import Message

from .blocked import Blocked
from .entries import Entry, flattened
from .messages import QUANTISATION_KIND, RESULT_QUANTISATION
from .scope import Scope
from .tensors import TensorError, quantisation


def read_quantisation(scope: Scope, attributes: Iterable[Message], entry: Entry) -> None:
    """Gives the results of a node their scales and zero points, and the node its kind of quantisation."""
    results = [each for each in flattened([entry]) if isinstance(each, Value)]
    for attribute in attributes:
        if attribute.name == RESULT_QUANTISATION:
            quantise(scope, attribute, results)
        elif attribute.name == QUANTISATION_KIND and results and results[0].producer is not None:
            try:
                results[0].producer.quant_type = QuantType(attribute.i)
            except ValueError:
                raise Blocked(f"{attribute.i} is no kind of quantisation", "Export again", attribute.name) from None


def quantise(scope: Scope, attribute: Message, values: list[Value]) -> None:
    for value, item in zip(values, attribute.values, strict=False):
        if len(item.tensors):
            try:
                value.quant = quantisation(item.tensors[0])
            except TensorError as error:
                scope.block(value.name, "quantisation", str(error))
