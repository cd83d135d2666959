"""Registry of converters: one for each primitive that differs from the mslite operator of its name, or has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mslite.converter.mindir.ops import OPERATORS, Operator

if TYPE_CHECKING:
    from .call import Call
    from .entries import Entry

Converter = Callable[["Call"], "Entry"]

_CONVERTERS: dict[str, Converter] = {}
ARGUMENTS: dict[str, tuple[str, ...]] = {}
"""Primitives that newer files call like functions -> the names of all arguments, attributes included, in order."""

REACHED: dict[str, tuple[str, ...]] = {}
"""Primitive -> names of the operators that it is converted to, for the documentation."""


def primitive(*names: str, operators: str, arguments: str = "") -> Callable[[Converter], Converter]:
    """Registers a converter for `names`. `operators` are the operators that it emits, and `arguments` the arguments of
    the function form, both separated by blanks."""

    def register(converter: Converter) -> Converter:
        for name in names:
            if name in _CONVERTERS:
                raise TypeError(f"MindIR primitive {name} has two converters")
            _CONVERTERS[name] = converter
            REACHED[name] = tuple(operators.split())
            if arguments:
                ARGUMENTS[name] = tuple(arguments.split())
        return converter

    return register


def find_converter(name: str) -> Converter | None:
    return _CONVERTERS.get(name)


def mslite_operator(name: str) -> type[Operator] | None:
    """Returns the mslite operator with the primitive's name, or None."""
    return OPERATORS.get(name)


def registered_primitives() -> list[str]:
    """Returns the names of all primitives with a registered converter."""
    return sorted(_CONVERTERS)
