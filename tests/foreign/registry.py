"""Registry: the computation in another runtime that each operator is compared with.

    @compared("FloorDiv", strategy=pairs())
    def floor_divide(op: Operator, inputs: Sequence[Array]) -> list[Array]:
        graph = Graph()
        return graph.run(graph("Floor", graph("Div", *inputs)))

`strategy` draws calls of the operator (tests/kernels/random_calls.py); the function computes the same result with operators of another
runtime. tests/structure requires an entry for every operator that a parser writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.reference import REFERENCES
from tests.kernels.calls import difference, results
from tests.kernels.random_calls import Call

from .graph import Array

Foreign = Callable[[Any, Sequence[Array]], Sequence[Array]]
_Function = TypeVar("_Function", bound=Foreign)


@dataclass(frozen=True)
class Comparison:
    """Calls of an operator, and the function that computes them in another runtime."""

    strategy: st.SearchStrategy[Call]
    foreign: Foreign


COMPARISONS: dict[str, Comparison] = {}


def compared(*operators: str, strategy: Callable[[str], st.SearchStrategy[Call]]) -> Callable[[_Function], _Function]:
    """Registers the computation of the named operators; `strategy` draws the calls of one of them."""

    def declare(function: _Function) -> _Function:
        for name in operators:
            if name not in OPERATORS or name in COMPARISONS:
                raise TypeError(f"{name} is compared twice, or there is no such operator")
            COMPARISONS[name] = Comparison(strategy(name), function)
        return function

    return declare


def _like(foreign: Array, ours: Array) -> Array:
    """Converts integers to the width in mslite: indices are int64 in the other runtime and int32 here."""
    foreign = np.asarray(foreign)
    return foreign.astype(ours.dtype) if foreign.dtype.kind in "iu" and ours.dtype.kind in "iu" else foreign


def check(call: Call, foreign: Foreign) -> None:
    """Asserts that the reference, and every kernel on every instruction set here, give the results of the other runtime."""
    inputs = [np.asarray(array, order="C") for array in call.inputs]
    wanted = list(foreign(call.op, inputs))
    with np.errstate(all="ignore"):
        reference = [np.asarray(array) for array in REFERENCES[call.op.name](call.op, inputs)][: len(wanted)]
    for mine, want in zip(reference, wanted, strict=True):
        assert difference(mine, _like(want, mine), call.tolerance) == "", "the reference"
    for kernel, outputs in results(call.op, inputs, call.constants, len(wanted)):
        for got, want in zip(outputs, wanted, strict=True):
            assert difference(got, _like(want, got), call.tolerance) == "", kernel
