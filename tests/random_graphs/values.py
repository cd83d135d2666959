"""What the generator knows of each value of the graph that it builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import helper

Array = npt.NDArray[Any]

FLOATS = ("float32", "float16", "float64")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
TYPES = (*NUMBERS, "bool")

EXACT = 0
"""The world whose numbers are compared: the graph's inputs as they are."""
NOISY = (1, 2)
"""Worlds in which every rounding operator is disturbed; how far they drift says how well the graph is conditioned."""
OTHER = 3
"""A world of other inputs, and of another batch size where the graph leaves it open."""
OTHER_NOISY = (4, 5)
WORLDS = 6

RELATIVE_NOISE = {"float32": 2.0**-19, "float64": 2.0**-19, "float16": 2.0**-10}
"""Of each operand and result of a rounding operator: ten times the rounding that a result usually has."""


@dataclass(frozen=True)
class Value:
    """One tensor: its name in the graph, and what it holds in each world."""

    name: str
    worlds: tuple[Array, ...]
    constant: bool = False

    def __post_init__(self) -> None:
        assert len(self.worlds) == WORLDS

    @property
    def array(self) -> Array:
        """What it holds for the inputs that are compared."""
        return self.worlds[EXACT]

    @property
    def dtype(self) -> str:
        return str(self.array.dtype)

    @property
    def element(self) -> int:
        """ONNX's number of its type."""
        return int(helper.np_dtype_to_tensor_dtype(self.array.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def rank(self) -> int:
        return self.array.ndim

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def fixed_rank(self) -> bool:
        """Whether the rank is the same for every input."""
        return self.worlds[OTHER].ndim == self.rank

    def fixed(self, axis: int) -> bool:
        """Whether that dimension is the same for every input."""
        return self.fixed_rank and self.worlds[OTHER].shape[axis] == self.shape[axis]

    @property
    def fixed_shape(self) -> bool:
        return self.worlds[OTHER].shape == self.shape

    def always(self, test: Any) -> bool:
        """Whether a predicate of arrays holds in every world."""
        return all(bool(test(array)) for array in self.worlds)


def drift(value: Value) -> float:
    """How far disturbed values are from undisturbed ones, at most, in units of the value."""
    if value.array.dtype.kind != "f" or value.size == 0:
        return 0.0
    exact = value.array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return max(float(np.max(np.nan_to_num(np.abs(value.worlds[world] - exact)))) for world in NOISY)
