"""The strategy: random graphs with inputs and onnxruntime's results."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from onnx import ModelProto

from .assembly import assembled
from .builder import Builder
from .chance import Chance, Hypothesis
from .evaluate import Rejected
from .operators import OPERATORS
from .values import EXACT, OTHER, OTHER_NOISY, Array, Value, drift

_OPSETS = (18, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 21, 22, 23, 24, 25, 26)
REJECTIONS: Counter[str] = Counter()
"""Reasons for rejected nodes; `--count` prints the table."""


@dataclass(frozen=True)
class Sample:
    """Inputs by name, and for each output the expected values and the drift of disturbed graphs."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]
    drifts: dict[str, float]

    @property
    def rank_4(self) -> list[str]:
        """Returns the 4-D inputs."""
        return [name for name, array in self.inputs.items() if array.ndim == 4]


@dataclass(frozen=True, repr=False)
class RandomGraph:
    """A valid model and its values."""

    model: ModelProto
    values: dict[str, Value]
    operators: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<graph of {', '.join(node.op_type for node in self.model.graph.node)}>"

    @property
    def samples(self) -> list[Sample]:
        """Two samples: one, and another with other values (and another batch size if it is dynamic)."""
        return [self._sample(world) for world in (EXACT, OTHER)]

    def _sample(self, world: int) -> Sample:
        outputs = {output.name: self.values[output.name] for output in self.model.graph.output}
        constants = {tensor.name for tensor in self.model.graph.initializer}
        return Sample(
            {
                value.name: self.values[value.name].worlds[world]
                for value in self.model.graph.input
                if value.name not in constants
            },
            {name: value.worlds[world] for name, value in outputs.items()},
            {name: drift(_at(value, world)) for name, value in outputs.items()},
        )


def grown(chance: Chance, most: int = 12, only: Collection[str] = ()) -> RandomGraph:
    """Returns a graph with up to the given number of steps; a step is an operator of the table, or of the named ones. Raises Rejected."""
    with np.errstate(all="ignore"):
        return _grown(chance, most, only)


def _grown(chance: Chance, most: int, only: Collection[str]) -> RandomGraph:
    builder = Builder(chance, chance.choose(_OPSETS), chance.choose((False, False, True)))
    names = [name for name, entry in OPERATORS.items() if entry.there(builder.opset) and (not only or name in only)]
    if not names:
        raise Rejected("no operators")
    used = []
    for name in chance.several(names, most):
        reason = builder.attempt(OPERATORS[name].add, name)
        if reason:
            REJECTIONS[f"{name}: {reason}"[:160]] += 1
        else:
            used.append(name)
    model = assembled(builder)
    values = dict(builder.known)
    return RandomGraph(model, values, used)


@st.composite
def graphs(draw: Callable[[st.SearchStrategy[Any]], Any], most: int = 12) -> RandomGraph:
    """The same as a hypothesis strategy."""
    try:
        return grown(Hypothesis(draw), most)
    except Rejected:
        reject()


def _at(value: Value, world: int) -> Value:
    """Returns the value with the given world as the reference."""
    if world == EXACT:
        return value
    noisy = [value.worlds[other] for other in OTHER_NOISY]
    return dataclasses.replace(value, worlds=(value.worlds[world], *noisy, *value.worlds[3:]))
