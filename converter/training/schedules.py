"""Adds the learning rate of a step: a variable, times the factor of a schedule.

With the number of the step t = 0, 1, 2, …, W `warmup_steps`, D `decay_steps`, s = max(t - W, 0) and p = min(s / D, 1),
the factor is the warm-up, min((t + 1) / W, 1), times

    Cosine       (1 + cos(pi p)) / 2
    Step         decay_rate ** floor(s / D)
    Exponential  decay_rate ** (s / D)
    Polynomial   (1 - p) ** power

OneCycle rises along half a cosine from 1 / 25 to 1 at step W - 1, and falls along another to 1 / 250000 at step D - 1.
"""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, PowFusion
from mslite.converter.mindir.ops.unary import Cos, ExpFusion, Floor
from mslite.converter.training.builder import Builder
from mslite.converter.training.settings import Schedule, TrainSettings
from mslite.converter.training.variables import LEARNING_RATE, Variables

_FIRST_OF_CYCLE = 1 / 25
_LAST_OF_CYCLE = _FIRST_OF_CYCLE / 1e4
_NAME = "Default/optimizer-schedule"
STEP = "schedule_step"
"""Name of the variable that counts the updates, [1]."""


def scheduled(build: Builder, variables: Variables, settings: TrainSettings) -> Value:
    """Returns the learning rate of the step, [1]."""
    rate = variables.state(LEARNING_RATE, np.asarray([settings.learning_rate]))
    if settings.schedule is Schedule.CONSTANT and not settings.warmup_steps:
        return rate
    return _Schedule(build, variables, settings).times(rate)


class _Schedule:
    def __init__(self, build: Builder, variables: Variables, settings: TrainSettings) -> None:
        self._build, self._settings = build, settings
        before = variables.state(STEP, np.zeros(1))
        # The output of a node, because a graph with in-place updates may change the variable before another node reads
        # it.
        self._next = self._node(AddFusion(), "next", before, 1.0)
        variables.assign(STEP, self._next)

    def times(self, rate: Value) -> Value:
        settings = self._settings
        factors = [rate]
        if settings.schedule is Schedule.ONE_CYCLE:
            factors += self._cycle()
        else:
            if settings.warmup_steps:
                factors.append(self._within(self._next, 0, settings.warmup_steps))
            if settings.schedule is not Schedule.CONSTANT:
                factors.append(self._decay())
        product, *rest = factors
        for factor in rest:
            product = self._build.node(MulFusion(), f"{_NAME}/rate", [product, factor], (1,))
        return product

    def _node(self, op: Operator, name: str, *operands: Value | float) -> Value:
        values = [
            one if isinstance(one, Value) else self._build.constant(f"{_NAME}/{name}/by", np.asarray([one], np.float32))
            for one in operands
        ]
        return self._build.node(op, f"{_NAME}/{name}", values, (1,))

    def _share(self, first: int, steps: int) -> Value:
        """Returns (t - first) / steps, at least 0; t + 1 is the number of the next step."""
        behind = self._node(AddFusion(), "behind", self._next, -float(first + 1))
        return self._node(MulFusion(), "share", self._node(Maximum(), "since", behind, 0.0), 1.0 / steps)

    def _within(self, step: Value, first: int, steps: int) -> Value:
        """Returns (step - first) / steps, clamped to [0, 1]."""
        shifted = self._node(AddFusion(), "shifted", step, -float(first)) if first else step
        share = self._node(MulFusion(), "part", shifted, 1.0 / steps)
        return self._node(Minimum(), "whole", self._node(Maximum(), "positive", share, 0.0), 1.0)

    def _wave(self, share: Value, first: float, last: float) -> Value:
        """Returns the value between `first` and `last` along half a cosine."""
        wave = self._node(Cos(), "cosine", self._node(MulFusion(), "angle", share, math.pi))
        return self._node(
            AddFusion(), "wave", self._node(MulFusion(), "height", wave, (first - last) / 2), (first + last) / 2
        )

    def _cycle(self) -> list[Value]:
        warm, steps = self._settings.warmup_steps, self._settings.decay_steps
        up = self._wave(self._within(self._next, 1, max(warm - 1, 1)), _FIRST_OF_CYCLE, 1.0)
        down = self._wave(self._within(self._next, warm, max(steps - warm, 1)), 1.0, _LAST_OF_CYCLE)
        return [up, down]

    def _decay(self) -> Value:
        settings = self._settings
        share = self._share(settings.warmup_steps, settings.decay_steps)
        if settings.schedule in (Schedule.STEP, Schedule.EXPONENTIAL):
            if settings.schedule is Schedule.STEP:
                # A multiple of the inverse may be slightly below an integer.
                share = self._node(Floor(), "times", self._node(AddFusion(), "over", share, 0.5 / settings.decay_steps))
            return self._node(ExpFusion(scale=math.log(settings.decay_rate)), "decay", share)
        share = self._node(Minimum(), "end", share, 1.0)
        if settings.schedule is Schedule.COSINE:
            return self._wave(share, 1.0, 0.0)
        rest = self._node(AddFusion(), "rest", self._node(MulFusion(), "gone", share, -1.0), 1.0)
        return self._node(PowFusion(scale=1.0), "decay", rest, settings.power)
