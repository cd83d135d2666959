"""The operators, data types and loader parts that models need of a runtime."""

from __future__ import annotations

from dataclasses import dataclass

# Bits of MSLITE_KIND_... (kernels/cropped.h).
FLOAT32, INT8, INT16, OTHER = 1, 2, 4, 8


@dataclass(frozen=True)
class Need:
    """The data types for which an operator is needed."""

    name: str
    kinds: int  # sum of FLOAT32, INT8, INT16, OTHER
    refusing: frozenset[str] = frozenset()  # base names of portable kernels that support no float32 node of the models

    def joined(self, other: Need) -> Need:
        """Returns the union of both."""
        refusing = [need.refusing for need in (self, other) if need.kinds & FLOAT32]
        return Need(
            self.name,
            self.kinds | other.kinds,
            frozenset.intersection(*refusing) if refusing else frozenset(),
        )


@dataclass(frozen=True)
class Needs:
    """What a set of models needs."""

    operators: dict[int, Need]  # operator number -> need
    parts: frozenset[str]  # parts of the loader (lite_runtime/model/parts.h)
