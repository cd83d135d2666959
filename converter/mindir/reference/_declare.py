"""Declares references and test cases.

    @reference("Abs")
    def absolute(op: ops.Abs, inputs: Inputs) -> list[Array]:
        return [np.abs(inputs[0])]

    case("Abs", ops.Abs(), [normal(2, 3)])

A reference defines an operator in NumPy, with floats in float64. Kernels are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..ops import OPERATORS, Operator

Array = npt.NDArray[Any]
Inputs = Sequence[Array | None]
Reference = Callable[[Any, Inputs], list[Array]]

REFERENCES: dict[str, Reference] = {}


@dataclass(frozen=True)
class Case:
    """A test case of an operator.

    `inputs` are in the order of the node, None for an omitted input; `constants` are the indices of constant inputs.
    Floats must agree within `tolerance` times the largest magnitude of the expected output."""

    name: str
    op: Operator
    inputs: tuple[Array | None, ...]
    constants: tuple[int, ...] = ()
    tolerance: float = 1e-5


CASES: list[Case] = []

_Function = TypeVar("_Function", bound=Reference)


def reference(*operators: str) -> Callable[[_Function], _Function]:
    """Declares the reference of the named operators."""

    def declare(function: _Function) -> _Function:
        for name in operators:
            if name not in OPERATORS or name in REFERENCES:
                raise TypeError(f"reference of {name} is declared twice, or the operator does not exist")
            REFERENCES[name] = function
        return function

    return declare


def case(
    label: str,
    op: Operator,
    inputs: Sequence[Array | None],
    constants: Sequence[int] = (),
    tolerance: float = 1e-5,
) -> None:
    """Declares a test case of `op`, called `<operator>-<label>`."""
    CASES.append(Case(f"{op.name}-{label}", op, tuple(inputs), tuple(constants), tolerance))


_GENERATOR = np.random.default_rng(20240229)


@contextmanager
def fixed_seed(seed: int) -> Iterator[None]:
    """A context with its own seed, so that its cases do not depend on the random numbers of earlier cases."""
    global _GENERATOR
    before = _GENERATOR
    _GENERATOR = np.random.default_rng(seed)
    yield
    _GENERATOR = before


def normal(*shape: int) -> Array:
    """Returns float32 values of mean 0 and standard deviation 1, the same in every run."""
    return np.asarray(_GENERATOR.standard_normal(shape), np.float32)


def integers(low: int, high: int, *shape: int, dtype: npt.DTypeLike = np.int32) -> Array:
    """Returns integers in [low, high), the same in every run."""
    return np.asarray(_GENERATOR.integers(low, high, shape), dtype)


def float32(values: npt.ArrayLike) -> Array:
    """Returns a float32 input."""
    return np.asarray(values, np.float32)


def int32(values: npt.ArrayLike) -> Array:
    """Returns an int32 input."""
    return np.asarray(values, np.int32)


def int64(values: npt.ArrayLike) -> Array:
    """Returns an int64 input."""
    return np.asarray(values, np.int64)
