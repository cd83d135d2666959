"""Reads the attributes of a primitive, with type checks. In the function form, some of them are operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops._declare import Attribute
from mslite.converter.mindir.ops.enums import WireEnum

from .entries import Entry, Immediate
from .exceptions import Blocked

_MISSING = object()
_ENUM_SPELLINGS = {"CALCULATED": "PAD"}
"""Spellings of enum members that some exporters use."""


class Attributes:
    """Base of `Call`: reads attributes by name; `others` are alternative names."""

    def __init__(self, attributes: Mapping[str, Any], arguments: tuple[str, ...], entries: list[Entry]) -> None:
        self.entries = entries
        """The operands, without order edges."""
        self._attributes = attributes
        self._positions = {argument: index for index, argument in enumerate(arguments)}

    def block(self, reason: str, remedy: str = "Export the model again", attribute: str = "") -> Blocked:
        """Returns the exception for an unsupported node: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def has(self, name: str) -> bool:
        return self._find(name) is not _MISSING

    def _find(self, *names: str) -> Any:
        """Returns an attribute, or the constant argument of that name in the function form; `_MISSING` if neither
        exists."""
        for name in names:
            if name in self._attributes:
                return self._attributes[name]
            position = self._positions.get(name)
            if position is not None and position < len(self.entries):
                entry = self.entries[position]
                if isinstance(entry, Immediate):
                    return entry.contents
                if isinstance(entry, Value) and entry.data is not None:
                    return entry.data
        return _MISSING

    def attribute(self, name: str) -> Any:
        """Returns an attribute as stored in the file; None if it is missing."""
        value = self._find(name)
        return None if value is _MISSING else value

    def integer(self, name: str, default: int, *others: str) -> int:
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        if isinstance(value, bool | int | np.integer | np.bool_):
            return int(value)
        raise self.block("is not an integer", attribute=name)

    def boolean(self, name: str, default: bool = False, *others: str) -> bool:
        return bool(self.integer(name, int(default), *others))

    def real(self, name: str, default: float, *others: str) -> float:
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        if isinstance(value, bool | int | float | np.integer | np.floating):
            return float(value)
        raise self.block("is not a number", attribute=name)

    def text(self, name: str, default: str, *others: str) -> str:
        value = self._find(name, *others)
        if value is _MISSING or value is None:
            return default
        if isinstance(value, str):
            return value
        raise self.block("is not a string", attribute=name)

    def integers(self, name: str, *others: str) -> tuple[int, ...] | None:
        """Returns a list of integers (a single integer becomes a list); None if it is missing. Raises Blocked."""
        value = self._find(name, *others)
        return None if value is _MISSING or value is None else self.flat_integers(value, name)

    def flat_integers(self, value: Any, name: str = "") -> tuple[int, ...]:
        """Returns all integers of a scalar, array or nested tuple. Raises Blocked for other contents."""
        if isinstance(value, tuple):
            return tuple(number for item in value for number in self.flat_integers(item, name))
        if isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.size <= 4096:
            return tuple(int(number) for number in value.ravel())
        if isinstance(value, bool | int | np.integer):
            return (int(value),)
        raise self.block("is not a list of integers", attribute=name)

    def choice(self, name: str, kind: type[WireEnum], default: WireEnum, *others: str) -> Any:
        """Returns an enum member that is stored as an integer or as a string."""
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        try:
            if isinstance(value, str):
                by_name = {member.name.lower(): member for member in kind}
                return by_name[_ENUM_SPELLINGS.get(value.upper(), value).lower()]
            return kind(int(value))
        except (KeyError, ValueError, TypeError):
            known = ", ".join(member.name for member in kind)
            raise self.block(f"'{value}' is not one of {known}", attribute=name) from None

    def declared(self, attribute: Attribute) -> Any:
        """Returns the value of an attribute that is declared by the mslite operator with the primitive's name."""
        value = self._find(attribute.wire_name)
        if value is _MISSING or value is None:
            return attribute.default
        if attribute.enum is not None:
            return self.choice(attribute.wire_name, attribute.enum, attribute.default)
        if attribute.wire == "Vec2D":
            if not isinstance(value, tuple):
                raise self.block("is not a list of lists", attribute=attribute.wire_name)
            return tuple(self.flat_integers(row, attribute.wire_name) for row in value)
        if attribute.wire == "[float]":
            items = value if isinstance(value, tuple) else (value,)
            return tuple(float(self._number(item, attribute.wire_name)) for item in items)
        if attribute.is_vector:
            return self.flat_integers(value, attribute.wire_name)
        if attribute.wire == "string":
            return self.text(attribute.wire_name, "")
        if attribute.wire == "float":
            return self.real(attribute.wire_name, 0.0)
        if attribute.wire == "bool":
            return self.boolean(attribute.wire_name)
        return self.integer(attribute.wire_name, 0)

    def _number(self, value: Any, name: str) -> float:
        if isinstance(value, bool | int | float | np.number):
            return float(value)
        raise self.block("is not a list of numbers", attribute=name)


def _single(value: Any) -> Any:
    """Returns the element of a tuple or array of size 1; other values as they are."""
    if isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.reshape(-1)[0].item()
    return value
