"""The variables of a training graph."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of

LEARNING_RATE = "learning_rate"
"""Name of the variable of the learning rate, [1]."""


class Variables:
    """Creates the variables of a training graph, in order."""

    def __init__(self, build: Builder) -> None:
        self._build = build
        self.first: dict[str, Value] = {}
        """Name -> initial value."""

    def read(self, name: str, initial: Value) -> Value:
        """Returns the value of the variable before the step. `initial` is a constant."""
        value = self._build.node(ReadVariable(variable=name), f"{name}/read", [initial], shape_of(initial))
        self.first[name] = initial
        return value

    def state(self, name: str, data: Array) -> Value:
        return self.read(name, self._build.constant(f"{name}/first", data.astype(np.float32)))

    def assign(self, name: str, value: Value) -> Node:
        """Adds the assignment of the value after the step."""
        self._build.node(AssignVariable(variable=name), f"{name}/assign", [value], shape_of(value))
        return self._build.graph.nodes[-1]
