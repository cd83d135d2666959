"""What is needed of a runtime: operators, and for which values."""

from __future__ import annotations

from dataclasses import dataclass

# Bits of MSLITE_KIND_... (kernels/cropped.h).
FLOAT32, INT8, INT16, OTHER = 1, 2, 4, 8


@dataclass(frozen=True)
class Need:
    """What is needed of an operator."""

    name: str
    kinds: int  # sum of FLOAT32, INT8, INT16, OTHER
    refusing: frozenset[str] = frozenset()  # names of portable kernels that take no call of the models on float32

    def joined(self, other: Need) -> Need:
        """What both need."""
        refusing = [need.refusing for need in (self, other) if need.kinds & FLOAT32]
        return Need(
            self.name,
            self.kinds | other.kinds,
            frozenset.intersection(*refusing) if refusing else frozenset(),
        )


@dataclass(frozen=True)
class Needs:
    """What models need together."""

    operators: dict[int, Need]  # by their numbers
    parts: frozenset[str]  # of loading (lite_runtime/model/parts.h)
