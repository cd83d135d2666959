"""Registry of converters for Caffe layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .call import Blob, Call

Converter = Callable[["Call"], "Blob | Sequence[Blob]"]

_Converter = TypeVar("_Converter", bound=Converter)

CONVERTERS: dict[str, Converter] = {}


def caffe_layer(*types: str) -> Callable[[_Converter], _Converter]:
    """Registers a converter for layers of these types."""

    def register(converter: _Converter) -> _Converter:
        for name in types:
            if name in CONVERTERS:
                raise TypeError(f"Caffe layer {name} has two converters")
            CONVERTERS[name] = converter
        return converter

    return register
