"""The table of ONNX operators: (domain, operator) -> converters, each valid since an operator set version."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Value

from .call import Call
from .plugin import plugin_converter

Result = Value | Sequence[Value | None]
Converter = Callable[[Call], Result]

KNOWN_OPSET = 28
"""The newest operator set that the converters were checked against."""

_CONVERTERS: dict[tuple[str, str], list[tuple[int, Converter]]] = {}


def onnx_operator(*names: str, since: int = 1, domain: str = "") -> Callable[[Converter], Converter]:
    """Registers a converter for these operators since version `since`, until a newer entry."""

    def register(converter: Converter) -> Converter:
        for name in names:
            entries = _CONVERTERS.setdefault((domain, name), [])
            if any(version == since for version, _ in entries):
                raise TypeError(f"ONNX operator {name} has two converters since version {since}")
            entries.append((since, converter))
            entries.sort(key=lambda entry: -entry[0])
        return converter

    return register


def find_converter(domain: str, name: str, version: int) -> Converter | None:
    """Returns the converter of an operator in operator set `version`, or None. A plug-in's parser has priority."""
    plugin = plugin_converter(domain, name)
    if plugin is not None:
        return plugin
    for since, converter in _CONVERTERS.get((domain, name), ()):
        if since <= version:
            return converter
    return None


def registered_operators(domain: str = "") -> list[str]:
    """Returns the names of all operators with a converter."""
    return sorted(name for entry_domain, name in _CONVERTERS if entry_domain == domain)
