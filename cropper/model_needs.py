"""Finds what models need, by loading them with the runtime, including its rewrites of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mslite import _codegen
from mslite.cropper.archive import CropError
from mslite.cropper.need import Need, Needs


def model_needs(models: Iterable[Path]) -> Needs:
    """Returns what the models need together. Raises CropError for a file that cannot be loaded."""
    operators: dict[int, Need] = {}
    parts: set[str] = set()
    for model in models:
        try:
            found, through = _codegen.needs(model)
        except _codegen.ModelError as error:
            raise CropError(str(error)) from None
        parts.update(through)
        for op, name, kinds, refusing in found:
            need = Need(name, kinds, frozenset(refusing))
            operators[op] = operators[op].joined(need) if op in operators else need
    return Needs(dict(sorted(operators.items())), frozenset(parts))
