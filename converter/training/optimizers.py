"""The optimiser's step on one parameter, and the state that it keeps."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Shape, Value
from mslite.converter.mindir.ops import Operator, training
from mslite.converter.mindir.ops.arithmetic import MulFusion, SubFusion
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.settings import Optimizer, TrainSettings

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


class Steps:
    """Adds an optimiser's steps; what all parameters share is made once. Names are those of MindSpore's training graphs."""

    def __init__(
        self, build: Builder, variables: Variables, settings: TrainSettings, optimizers_only: bool = False
    ) -> None:
        self._build, self._variables, self._settings = build, variables, settings
        self._rate = variables.state(LEARNING_RATE, np.asarray([settings.learning_rate]))
        self._numbers: dict[str, Value] = {}
        self._is_plain = settings.optimizer is Optimizer.SGD and not settings.weight_decay and not optimizers_only
        if settings.optimizer is Optimizer.ADAM and not settings.weight_decay:
            self._powers = [self._power("beta1", settings.beta1), self._power("beta2", settings.beta2)]

    def _power(self, name: str, beta: float) -> Value:
        """beta ** t in step t = 1, 2, … It is a result: a graph that changes constants in place may do so before it is read."""
        before = self._variables.state(f"{name}_power", np.ones(1))
        now = self._node(MulFusion(), f"{name}_power", [before, self._number(name, beta)], (1,))
        self._variables.assign(f"{name}_power", now)
        return now

    def _number(self, name: str, value: float) -> Value:
        if name not in self._numbers:
            self._numbers[name] = self._build.constant(name, np.asarray([value], np.float32))
        return self._numbers[name]

    def _node(self, op: Operator, name: str, inputs: list[Value], shape: Shape) -> Value:
        return self._build.node(op, self._named(name), inputs, shape)

    def _named(self, name: str) -> str:
        return f"Default/optimizer-{self._settings.optimizer.value}/{name}"

    def add(self, name: str, weight: Value, gradient: Value) -> None:
        """The step on the variable `name`, which holds `weight`."""
        if self._is_plain:
            step = self._build.node(MulFusion(), f"{name}/step", [gradient, self._rate], shape_of(weight))
            after = self._build.node(SubFusion(), f"{name}/next", [weight, step], shape_of(weight))
            self._variables.assign(name, after)
        elif self._settings.optimizer is Optimizer.ADAM:
            self._adam(name, weight, gradient)
        elif self._settings.optimizer is Optimizer.SGD or self._settings.weight_decay:
            self._descent(name, weight, gradient)
        else:
            self._momentum(name, weight, gradient)

    def _zeros(self, name: str, weight: Value) -> Value:
        return self._variables.state(name, np.zeros(shape_of(weight), np.float32))

    def _results(self, op: Operator, name: str, inputs: list[Value], states: dict[str, Value]) -> None:
        """The optimiser's node; its results are the weight and the states, in that order."""
        weight = inputs[0]
        shapes = [shape_of(weight), *(shape_of(value) for value in states.values())]
        results = self._build.nodes(op, self._named(f"{op.name}-{name}"), inputs, shapes)
        for variable, value in zip((name, *states), results, strict=True):
            self._variables.assign(variable, value)

    def _momentum(self, name: str, weight: Value, gradient: Value) -> None:
        moments = f"moments.{name}"
        accumulator = self._zeros(moments, weight)
        momentum = self._number("momentum", self._settings.momentum)
        op = training.ApplyMomentum(use_nesterov=self._settings.optimizer is Optimizer.NESTEROV, gradient_scale=1.0)
        self._results(op, name, [weight, accumulator, self._rate, gradient, momentum], {moments: accumulator})

    def _descent(self, name: str, weight: Value, gradient: Value) -> None:
        settings, kind = self._settings, self._settings.optimizer
        momentum = self._number("momentum", 0.0 if kind is Optimizer.SGD else settings.momentum)
        states = {
            f"accum.{name}": self._zeros(f"accum.{name}", weight),
            f"stat.{name}": self._variables.state(f"stat.{name}", np.ones(1)),
        }
        accumulator, stat = states.values()
        op = training.SGD(nesterov=kind is Optimizer.NESTEROV, weight_decay=settings.weight_decay)
        self._results(op, name, [weight, gradient, self._rate, accumulator, momentum, stat], states)

    def _adam(self, name: str, weight: Value, gradient: Value) -> None:
        settings = self._settings
        states = {moment: self._zeros(moment, weight) for moment in (f"moment1.{name}", f"moment2.{name}")}
        beta1, beta2 = self._number("beta1", settings.beta1), self._number("beta2", settings.beta2)
        epsilon = self._number("epsilon", settings.epsilon)
        before = [weight, *states.values()]
        if settings.weight_decay:
            decay = self._number("weight_decay", settings.weight_decay)
            inputs = [*before, self._rate, beta1, beta2, epsilon, decay, gradient]
            self._results(training.AdamWeightDecay(), name, inputs, states)
        else:
            inputs = [*before, *self._powers, self._rate, beta1, beta2, epsilon, gradient]
            self._results(training.Adam(), name, inputs, states)
