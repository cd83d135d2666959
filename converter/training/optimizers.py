"""Adds the optimizer step of each parameter, and the state of the optimizer."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.layer_names import is_named
from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import Operator, training
from mslite.converter.mindir.ops.arithmetic import AddFusion, AddN, DivFusion, Maximum, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Sqrt
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.schedules import scheduled
from mslite.converter.training.settings import Optimizer, TrainSettings
from mslite.converter.training.sparse_embeddings import NAMED, is_sum_of_rows
from mslite.converter.training.variables import Variables

_INNER = "/preconditioned/"
"""Part of the names of nodes between a gradient and the optimizer that belong to the step. The runtime, which can
accumulate
gradients of several steps, uses the value before them as the gradient."""
_PRECONDITIONED = (Optimizer.ADAMW, Optimizer.ADAGRAD, Optimizer.RMSPROP)


_CLIP = "Default/optimizer-clip"


def clipped(build: Builder, gradients: list[Value], limit: float) -> list[Value]:
    """Scales the gradients down if their global norm exceeds `limit`. This is part of the step: accumulated gradients
    are clipped as a
    sum."""
    squares = []
    for number, gradient in enumerate(gradients):
        name = f"{_CLIP}/{number}"
        flat = build.reshaped(gradient, (prod(shape_of(gradient)),), f"{name}/flat")
        op = ReduceFusion(mode=ReduceMode.ReduceSumSquare, keep_dims=True, coeff=1.0)
        squares.append(build.node(op, f"{name}/square", [flat, build.sizes(f"{name}/axis", (0,))], (1,)))
    total = build.node(AddN(), f"{_CLIP}/sum", squares, (1,)) if len(squares) > 1 else squares[0]
    norm = build.node(Sqrt(), f"{_CLIP}/norm", [total], (1,))
    most = build.constant(f"{_CLIP}/most", np.asarray([limit], np.float32))
    divisor = build.node(Maximum(), f"{_CLIP}/divisor", [norm, most], (1,))
    factor = build.node(DivFusion(), f"{_CLIP}/factor", [most, divisor], (1,))
    return [
        build.node(MulFusion(), f"{_CLIP}{_INNER}{number}", [gradient, factor], shape_of(gradient))
        for number, gradient in enumerate(gradients)
    ]


_ADAMS = (Optimizer.ADAM, Optimizer.ADAMW, Optimizer.ADAM_WEIGHT_DECAY)
_READERS = {
    "momentum": (Optimizer.MOMENTUM, Optimizer.NESTEROV),
    "beta1": _ADAMS,
    "beta2": _ADAMS,
    "alpha": (Optimizer.RMSPROP,),
    "epsilon": (*_ADAMS, Optimizer.ADAGRAD, Optimizer.RMSPROP),
}
"""Setting -> optimizers that read it."""


def check_numbers(settings: TrainSettings, source: str) -> None:
    """Raises ConversionError for a setting that the optimizer does not read."""
    for key, readers in _READERS.items():
        if key in settings.stated and settings.optimizer not in readers:
            names = "|".join(one.value for one in readers)
            raise ConversionError(
                f"{source}: {key} applies to optimizer={names}, not to {settings.optimizer.value}: choose one of "
                "them, or "
                f"leave out {key}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )


class Steps:
    """Adds optimizer steps; nodes that all parameters share are added once. Names are those of MindSpore's training
    graphs."""

    def __init__(
        self, build: Builder, variables: Variables, settings: TrainSettings, optimizers_only: bool = False
    ) -> None:
        self._build, self._variables, self._settings = build, variables, settings
        self._rate = scheduled(build, variables, settings)
        self._numbers: dict[str, Value] = {}
        self._optimizers_only = optimizers_only
        self.sparse = 0
        """Number of tables of which only the rows that were read are updated."""
        decays = settings.optimizer is Optimizer.ADAM and settings.weight_decay  # without bias correction
        if settings.optimizer in (Optimizer.ADAM, Optimizer.ADAMW) and not decays:
            self._powers = [self._power("beta1", settings.beta1), self._power("beta2", settings.beta2)]

    def _power(self, name: str, beta: float) -> Value:
        """Returns beta ** t in step t = 1, 2, … as the output of a node, because a graph with in-place updates may
        change the variable
        before it is read."""
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
        """Adds the step on the variable `name` with the value `weight`."""
        kind, decay = self._settings.optimizer, self._decay_of(name)
        if kind in _PRECONDITIONED:
            self._descent(name, weight, self._preconditioned(name, weight, gradient))
        elif kind in (Optimizer.ADAM, Optimizer.ADAM_WEIGHT_DECAY):
            self._adam(name, weight, gradient)
        elif kind is Optimizer.SGD and not decay:
            self._descent(name, weight, gradient)
        elif decay:
            self._decayed(name, weight, gradient, decay)
        else:
            self._momentum(name, weight, gradient)

    def _decay_of(self, name: str) -> float:
        return 0.0 if any(is_named(name, one) for one in self._settings.undecayed) else self._settings.weight_decay

    # ---- optimizers without a MindSpore operator: they precondition the gradient; then a plain descent step follows
    # ----

    def _preconditioned(self, name: str, weight: Value, gradient: Value) -> Value:
        settings, shape = self._settings, shape_of(weight)
        gradient = self._build.reshaped(gradient, shape, self._inner(name, "gradient"))
        if settings.optimizer is Optimizer.ADAMW:
            m = self._mean(f"moment1.{name}", gradient, "beta1", settings.beta1)
            v = self._mean(f"moment2.{name}", self._times(name, "square", gradient, gradient), "beta2", settings.beta2)
            one = self._number("one", 1.0)
            first, second = (
                self._node(SubFusion(), f"{name}{_INNER}correction_{i}", [one, power], (1,))
                for i, power in enumerate(self._powers, 1)
            )
            m = self._node(DivFusion(), f"{name}{_INNER}m", [m, first], shape)
            v = self._node(DivFusion(), f"{name}{_INNER}v", [v, second], shape)
            return self._with_decay(name, weight, self._by_root(name, m, v))
        gradient = self._with_decay(name, weight, gradient)
        square = self._times(name, "square", gradient, gradient)
        if settings.optimizer is Optimizer.RMSPROP:
            v = self._mean(f"moment2.{name}", square, "alpha", settings.alpha)
        else:
            before = self._zeros(f"accum2.{name}", weight)
            v = self._node(AddFusion(), f"{name}{_INNER}sum", [before, square], shape)
            self._variables.assign(f"accum2.{name}", v)
        return self._by_root(name, gradient, v)

    def _inner(self, name: str, what: str) -> str:
        return self._named(f"{name}{_INNER}{what}")

    def _times(self, name: str, what: str, a: Value, b: Value) -> Value:
        return self._node(MulFusion(), f"{name}{_INNER}{what}", [a, b], shape_of(a))

    def _mean(self, state: str, value: Value, factor: str, kept: float) -> Value:
        """Adds a moving average: kept * old + (1 - kept) * value."""
        before = self._zeros(state, value)
        old = self._times(state, "old", before, self._number(factor, kept))
        new = self._times(state, "new", value, self._number(f"rest_of_{factor}", 1 - kept))
        after = self._node(AddFusion(), f"{state}{_INNER}mean", [old, new], shape_of(value))
        self._variables.assign(state, after)
        return after

    def _with_decay(self, name: str, weight: Value, step: Value) -> Value:
        if not self._decay_of(name):
            return step
        decay = self._times(name, "decay", weight, self._number("weight_decay", self._settings.weight_decay))
        return self._node(AddFusion(), f"{name}{_INNER}decayed", [step, decay], shape_of(weight))

    def _by_root(self, name: str, value: Value, square: Value) -> Value:
        """Adds value / (sqrt(square) + epsilon)."""
        root = self._node(Sqrt(), f"{name}{_INNER}root", [square], shape_of(square))
        epsilon = self._number("epsilon", self._settings.epsilon)
        spread = self._node(AddFusion(), f"{name}{_INNER}spread", [root, epsilon], shape_of(square))
        return self._node(DivFusion(), f"{name}{_INNER}step", [value, spread], shape_of(square))

    # ---- MindSpore's optimizers ----

    def _zeros(self, name: str, weight: Value) -> Value:
        return self._variables.state(name, np.zeros(shape_of(weight), np.float32))

    def _results(self, op: Operator, name: str, inputs: list[Value], states: dict[str, Value], how: str = "") -> None:
        """Adds the optimizer node; its outputs are the weight and the states, in that order."""
        weight = inputs[0]
        shapes = [shape_of(weight), *(shape_of(value) for value in states.values())]
        results = self._build.nodes(op, self._named(f"{how}{op.name}-{name}"), inputs, shapes)
        for variable, value in zip((name, *states), results, strict=True):
            self._variables.assign(variable, value)

    def _momentum(self, name: str, weight: Value, gradient: Value) -> None:
        moments = f"moments.{name}"
        accumulator = self._zeros(moments, weight)
        momentum = self._number("momentum", self._settings.momentum)
        op = training.ApplyMomentum(use_nesterov=self._settings.optimizer is Optimizer.NESTEROV, gradient_scale=1.0)
        self._results(op, name, [weight, accumulator, self._rate, gradient, momentum], {moments: accumulator})

    def _descent(self, name: str, weight: Value, gradient: Value) -> None:
        """Adds gradient descent as plain nodes, which have no state, or as SGD."""
        if self._optimizers_only:
            self._decayed(name, weight, gradient, 0.0)
            return
        step = self._build.node(MulFusion(), f"{name}/step", [gradient, self._rate], shape_of(weight))
        after = self._build.node(SubFusion(), f"{name}/next", [weight, step], shape_of(weight))
        self._variables.assign(name, after)

    def _decayed(self, name: str, weight: Value, gradient: Value, decay: float) -> None:
        kind = self._settings.optimizer
        has_momentum = kind in (Optimizer.MOMENTUM, Optimizer.NESTEROV)
        momentum = self._number("momentum", self._settings.momentum if has_momentum else 0.0)
        states = {
            f"accum.{name}": self._zeros(f"accum.{name}", weight),
            f"stat.{name}": self._variables.state(f"stat.{name}", np.ones(1)),
        }
        accumulator, stat = states.values()
        op = training.SGD(nesterov=kind is Optimizer.NESTEROV, weight_decay=decay)
        is_sparse = self._settings.sparse_embeddings and is_sum_of_rows(gradient)
        self.sparse += is_sparse
        self._results(
            op, name, [weight, gradient, self._rate, accumulator, momentum, stat], states, NAMED if is_sparse else ""
        )

    def _adam(self, name: str, weight: Value, gradient: Value) -> None:
        settings = self._settings
        states = {moment: self._zeros(moment, weight) for moment in (f"moment1.{name}", f"moment2.{name}")}
        beta1, beta2 = self._number("beta1", settings.beta1), self._number("beta2", settings.beta2)
        epsilon = self._number("epsilon", settings.epsilon)
        before = [weight, *states.values()]
        if settings.weight_decay or settings.optimizer is Optimizer.ADAM_WEIGHT_DECAY:
            own = self._decay_of(name)
            decay = self._number("weight_decay" if own else "no_weight_decay", own)
            inputs = [*before, self._rate, beta1, beta2, epsilon, decay, gradient]
            self._results(training.AdamWeightDecay(), name, inputs, states)
        else:
            inputs = [*before, *self._powers, self._rate, beta1, beta2, epsilon, gradient]
            self._results(training.Adam(), name, inputs, states)
