"""Reads the attributes and inputs of a source node with type checks, and detects unread ones."""

from __future__ import annotations

from typing import Any

from onnx import AttributeProto, GraphProto, NodeProto

from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.naming import Blocked, UnknownInput

from .tensors import TensorError, TensorReader

STATE_ROUNDING = "mslite_state_rounding"
"""Attribute that expansions set on LSTM: the rounding of the hidden state, as in `LSTMSequence.rounding`."""


class Attributes:
    """Base class of `Call`. Each reader has the name of the attribute and its default."""

    def __init__(self, node: NodeProto, reader: TensorReader) -> None:
        self._attributes = {attribute.name: attribute for attribute in node.attribute}
        self._given = [index for index, name in enumerate(node.input) if name]
        self._reader = reader
        self._read: set[str] = set()
        self._read_inputs: set[int] = set()

    def block(self, reason: str, remedy: str, attribute: str = "") -> Blocked:
        """Returns the exception that a converter raises: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def not_known(self, reason: str, remedy: str) -> UnknownInput:
        """As `block`, but the reason is only that the type or shape of an input is not known."""
        return UnknownInput(reason, remedy)

    def unread_attributes(self) -> list[str]:
        """Returns attributes that the converter did not read. Ignoring them could change the result."""
        return sorted(set(self._attributes) - self._read)

    def unread_inputs(self) -> list[int]:
        """Returns the indices of inputs that the converter did not read. Ignoring them could change the result."""
        return [index for index in self._given if index not in self._read_inputs]

    def check_all_read(self) -> None:
        """Raises Blocked if the converter did not read an attribute or an input."""
        for name in self.unread_attributes():
            raise self.block("this attribute is not supported", "Export the model without it", name)
        for index in self.unread_inputs():
            raise self.block(f"input {index} is not supported", "Export the model without it")

    def ignore_inputs(self, *indices: int) -> None:
        """Marks inputs as read: those without effect in inference, or all of them without indices."""
        self._read_inputs.update(indices or self._given)

    def _attribute(self, name: str, kind: int, kind_name: str) -> AttributeProto | None:
        self._read.add(name)
        attribute: AttributeProto | None = self._attributes.get(name)
        if attribute is None:
            return None
        if attribute.ref_attr_name:
            raise self.block(
                "refers to a function's parameter, but the node is not in a function", "Export the model again", name
            )
        if attribute.type != kind:
            raise self.block(f"is not {kind_name}", "The model breaks the ONNX standard; export it again", name)
        return attribute

    def has_attribute(self, name: str) -> bool:
        return name in self._attributes

    def ignore(self, *names: str) -> None:
        """Marks attributes without effect in inference as read."""
        self._read.update(names)

    def integer(self, name: str, default: int = 0) -> int:
        attribute = self._attribute(name, AttributeProto.INT, "an integer")
        return default if attribute is None else int(attribute.i)

    def boolean(self, name: str, default: bool = False) -> bool:
        return bool(self.integer(name, int(default)))

    def real(self, name: str, default: float = 0.0) -> float:
        attribute = self._attribute(name, AttributeProto.FLOAT, "a float")
        return default if attribute is None else float(attribute.f)

    def text(self, name: str, default: str = "") -> str:
        attribute = self._attribute(name, AttributeProto.STRING, "a string")
        return default if attribute is None else attribute.s.decode("utf-8", "replace")

    def integers(self, name: str) -> tuple[int, ...] | None:
        attribute = self._attribute(name, AttributeProto.INTS, "a list of integers")
        return None if attribute is None else tuple(attribute.ints)

    def reals(self, name: str) -> tuple[float, ...] | None:
        attribute = self._attribute(name, AttributeProto.FLOATS, "a list of floats")
        return None if attribute is None else tuple(attribute.floats)

    def texts(self, name: str) -> tuple[str, ...] | None:
        attribute = self._attribute(name, AttributeProto.STRINGS, "a list of strings")
        return None if attribute is None else tuple(text.decode("utf-8", "replace") for text in attribute.strings)

    def tensor(self, name: str) -> Array | None:
        """Returns a tensor attribute, None if missing. Raises Blocked for a malformed one."""
        attribute = self._attribute(name, AttributeProto.TENSOR, "a tensor")
        if attribute is None:
            return None
        try:
            return self._reader.read(attribute.t)
        except TensorError as error:
            raise self.block(str(error), "Export the model again", name) from None

    def graph(self, name: str) -> GraphProto:
        attribute = self._attribute(name, AttributeProto.GRAPH, "a graph")
        if attribute is None:
            raise self.block("is missing", "The model breaks the ONNX standard; export it again", name)
        return attribute.g

    def choice(self, name: str, value: str, table: dict[str, Any]) -> Any:
        """Returns `table[value]` for a string attribute; raises Blocked with the supported values."""
        if value not in table:
            raise self.block(
                f"'{value}' is not supported", f"Use one of {', '.join(sorted(table))} when exporting", name
            )
        return table[value]
