"""The generator's data about each value of a graph under construction."""

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
"""The reference world: its values, with undisturbed inputs, are compared."""
NOISY = (1, 2)
"""Worlds in which every rounding operator is disturbed; their drift shows how well conditioned the graph is."""
OTHER = 3
"""A world with other inputs, and another batch size if it is dynamic."""
OTHER_NOISY = (4, 5)
WORLDS = 6

RELATIVE_NOISE = {"float32": 2.0**-19, "float64": 2.0**-19, "float16": 2.0**-10}
"""Disturbance of operands and results of a rounding operator: ten times the usual rounding error."""


@dataclass(frozen=True)
class Value:
    """A tensor: its name in the graph, and its values in each world."""

    name: str
    worlds: tuple[Array, ...]
    constant: bool = False

    def __post_init__(self) -> None:
        assert len(self.worlds) == WORLDS

    @property
    def array(self) -> Array:
        """Its values in the reference world."""
        return self.worlds[EXACT]

    @property
    def dtype(self) -> str:
        return str(self.array.dtype)

    @property
    def element(self) -> int:
        """ONNX's code of its data type."""
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
        """Returns whether a predicate of arrays is true in every world."""
        return all(bool(test(array)) for array in self.worlds)


def drift(value: Value) -> float:
    """Returns the maximum difference of disturbed values from undisturbed ones."""
    if value.array.dtype.kind != "f" or value.size == 0:
        return 0.0
    exact = value.array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return max(float(np.max(np.nan_to_num(np.abs(value.worlds[world] - exact)))) for world in NOISY)
