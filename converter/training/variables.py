"""What a training graph keeps between steps."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of

LEARNING_RATE = "learning_rate"
"""The variable that holds it: [1], read by every step."""


class Variables:
    """The variables of a training graph, by name, in the order in which they are made."""

    def __init__(self, build: Builder) -> None:
        self._build = build
        self.first: dict[str, Value] = {}
        """Their first values."""

    def read(self, name: str, initial: Value) -> Value:
        """What the variable holds before the step. `initial` is a constant."""
        value = self._build.node(ReadVariable(variable=name), f"{name}/read", [initial], shape_of(initial))
        self.first[name] = initial
        return value

    def state(self, name: str, data: Array) -> Value:
        return self.read(name, self._build.constant(f"{name}/first", data.astype(np.float32)))

    def assign(self, name: str, value: Value) -> Node:
        """What it holds after the step."""
        self._build.node(AssignVariable(variable=name), f"{name}/assign", [value], shape_of(value))
        return self._build.graph.nodes[-1]
