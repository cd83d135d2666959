"""Registry of converters for TensorFlow Lite operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mslite.converter.mindir.graph import Value

    from .call import Call

Converter = Callable[["Call"], "Value | Sequence[Value]"]

CONVERTERS: dict[str, Converter] = {}


def tflite_operator(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter for operators with these names; custom operators are `CUSTOM:<code>`."""

    def register(converter: Converter) -> Converter:
        for name in names:
            if name in CONVERTERS:
                raise TypeError(f"TensorFlow Lite operator {name} has two converters")
            CONVERTERS[name] = converter
        return converter

    return register
