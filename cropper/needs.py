"""What models need of a runtime: asked of the runtime itself, which loads and rewrites their files as it always does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mslite import _codegen
from mslite.cropper.archive import CropError

# Bits of MSLITE_KIND_... (kernels/cropped.h).
FLOAT32, INT8, INT16, OTHER = 1, 2, 4, 8


@dataclass(frozen=True)
class Need:
    """What is needed of an operator."""

    name: str
    kinds: int  # sum of FLOAT32, INT8, INT16, OTHER
    is_folded: bool  # scalar kernels may compute it before a run
    refuse_float32: frozenset[str] = frozenset()  # names of portable kernels that take no float32 as the first operand

    def joined(self, other: Need) -> Need:
        """What both need."""
        refusing = [need.refuse_float32 for need in (self, other) if need.kinds & FLOAT32]
        return Need(
            self.name,
            self.kinds | other.kinds,
            self.is_folded or other.is_folded,
            frozenset.intersection(*refusing) if refusing else frozenset(),
        )


@dataclass(frozen=True)
class Needs:
    """What models need together."""

    operators: dict[int, Need]  # by their numbers
    parts: frozenset[str]  # of loading (lite_runtime/model/parts.h)


def needs_of(models: Iterable[Path]) -> Needs:
    """Raises CropError for a file that cannot be loaded."""
    operators: dict[int, Need] = {}
    parts: set[str] = set()
    for model in models:
        try:
            found, through = _codegen.needs(model)
        except _codegen.ModelError as error:
            raise CropError(str(error)) from None
        parts.update(through)
        for op, name, kinds, is_folded, refusing in found:
            need = Need(name, kinds, is_folded, frozenset(refusing))
            operators[op] = operators[op].joined(need) if op in operators else need
    return Needs(dict(sorted(operators.items())), frozenset(parts))
