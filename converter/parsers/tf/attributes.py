"""Reads the attributes of a source node, with type checks."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.protobuf import Message

from .model import SourceNode
from .tensors import TensorError, data_type, dimensions

BROKEN = "The model is not valid in TensorFlow; export it again"


class Attributes:
    """Base of `Call`: reads attributes by name, with a default for missing ones."""

    def __init__(self, node: SourceNode) -> None:
        self.node = node

    def block(self, reason: str, remedy: str = BROKEN, attribute: str = "") -> Blocked:
        """Returns the exception for an unsupported node: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def has_attribute(self, name: str) -> bool:
        return name in self.node.attributes

    def _field(self, name: str, field: str) -> Message | None:
        """Returns the attribute's message, or None if it is missing. Raises Blocked if it has another type than
        `field`.

        A message without contents is the default value of its type.
        """
        attribute = self.node.attributes.get(name)
        if attribute is None:
            return None
        present = [descriptor.name for descriptor, _ in attribute.ListFields()]
        if "placeholder" in present:
            raise self.block(
                "depends on the caller of its function, which is unsupported", "Freeze the model again", name
            )
        if present and field not in present:
            raise self.block(f"has the type '{present[0]}' instead of '{field}'", attribute=name)
        return attribute

    def integer(self, name: str, default: int = 0) -> int:
        attribute = self._field(name, "i")
        return default if attribute is None else int(attribute.i)

    def real(self, name: str, default: float = 0.0) -> float:
        attribute = self._field(name, "f")
        return default if attribute is None else float(attribute.f)

    def flag(self, name: str, default: bool = False) -> bool:
        attribute = self._field(name, "b")
        return default if attribute is None else bool(attribute.b)

    def text(self, name: str, default: str = "") -> str:
        attribute = self._field(name, "s")
        return default if attribute is None else attribute.s.decode("utf-8", "replace")

    def integers(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        attribute = self._field(name, "list")
        return tuple(default) if attribute is None else tuple(int(item) for item in attribute.list.i)

    def reals(self, name: str, default: Sequence[float] = ()) -> tuple[float, ...]:
        attribute = self._field(name, "list")
        return tuple(default) if attribute is None else tuple(float(item) for item in attribute.list.f)

    def texts(self, name: str) -> tuple[str, ...]:
        attribute = self._field(name, "list")
        return () if attribute is None else tuple(item.decode("utf-8", "replace") for item in attribute.list.s)

    def type(self, name: str, default: DataType = DataType.UNKNOWN) -> DataType:
        """Returns a data type. Raises Blocked for an unsupported one."""
        attribute = self._field(name, "type")
        return default if attribute is None else self._type(attribute.type, name)

    def types(self, name: str) -> tuple[DataType, ...]:
        attribute = self._field(name, "list")
        return () if attribute is None else tuple(self._type(item, name) for item in attribute.list.type)

    def _type(self, number: int, name: str) -> DataType:
        try:
            return data_type(number)
        except TensorError as error:
            raise self.block(str(error), "Export the model with another data type", name) from None

    def shapes(self, name: str) -> tuple[tuple[int, ...] | None, ...]:
        """Returns a list of shapes: -1 for an unknown size, None for an unknown rank."""
        attribute = self._field(name, "list")
        return () if attribute is None else tuple(self._shape(item, name) for item in attribute.list.shape)

    def shape_attribute(self, name: str) -> tuple[int, ...] | None:
        """Returns a shape, -1 for an unknown size; None if the rank is unknown or the attribute is missing."""
        attribute = self._field(name, "shape")
        return None if attribute is None else self._shape(attribute.shape, name)

    def _shape(self, shape: Message, name: str) -> tuple[int, ...] | None:
        try:
            return dimensions(shape)
        except TensorError as error:
            raise self.block(str(error), attribute=name) from None

    def function_name(self, name: str) -> str:
        attribute = self._field(name, "func")
        if attribute is None or not isinstance(attribute.func.name, str):
            raise self.block("is missing", attribute=name)
        return str(attribute.func.name)

    def function_names(self, name: str) -> tuple[str, ...]:
        attribute = self._field(name, "list")
        return () if attribute is None else tuple(str(item.name) for item in attribute.list.func)
