"""How far the outputs of a quantised model are from those of the float model, and budgets for it.

Outputs are given as a list over samples of lists over the model's outputs. Every metric is one number, larger is
better, except `top1`, whose number is the share of changed answers in percent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Array

Outputs = Sequence[Sequence[Array]]
Function = Callable[[Outputs, Outputs], float]

PERFECT_SQNR = 200.0
"""Decibels that stand for equality; float32 itself ends near 150."""


def cosine_of(expected: Array, actual: Array) -> float:
    """Cosine of the angle between two tensors taken as vectors; 1 for two zeros, 0 where one is zero or not finite."""
    a, b = expected.astype(np.float64).ravel(), actual.astype(np.float64).ravel()
    if not np.isfinite(b).all():
        return 0.0
    norms = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    if norms == 0:
        return 1.0 if not a.any() and not b.any() else 0.0
    return min(1.0, float(a @ b) / norms)


def decibels(signal: float, noise: float) -> float:
    """10 log10(signal / noise) of two powers, within ±`PERFECT_SQNR`."""
    if not math.isfinite(noise):
        return -PERFECT_SQNR
    if noise == 0:
        return PERFECT_SQNR
    return max(-PERFECT_SQNR, min(PERFECT_SQNR, 10 * math.log10(signal / noise))) if signal > 0 else -PERFECT_SQNR


def powers_of(expected: Array, actual: Array) -> tuple[float, float]:
    """Sum of squares of a tensor, and of its difference from another; the latter infinite when that is not finite."""
    a, b = expected.astype(np.float64), actual.astype(np.float64)
    noise = float(np.square(a - b).sum()) if np.isfinite(b).all() else math.inf
    return float(np.square(a).sum()), noise


def cosine(expected: Outputs, actual: Outputs) -> float:
    """The mean over the samples; of several outputs the worst. Boolean and integer outputs count as numbers."""
    means = [
        float(np.mean([cosine_of(a, b) for a, b in zip(*pair, strict=True)])) for pair in _by_output(expected, actual)
    ]
    return min(means, default=1.0)


def sqnr(expected: Outputs, actual: Outputs) -> float:
    """Signal to quantisation noise over all samples, in decibels; of several outputs the worst."""
    found = []
    for wanted, got in _by_output(expected, actual):
        powers = [powers_of(a, b) for a, b in zip(wanted, got, strict=True)]
        found.append(decibels(sum(p[0] for p in powers), sum(p[1] for p in powers)))
    return min(found, default=PERFECT_SQNR)


def top1(expected: Outputs, actual: Outputs) -> float:
    """Percent of answers that differ: the places of the largest element along the last axis, of the first output."""
    changed, answers = 0, 0
    for wanted, got in zip(expected, actual, strict=True):
        before, after = _answers(wanted[0]), _answers(got[0])
        changed += int(np.count_nonzero(before != after))
        answers += before.size
    return 100 * changed / max(answers, 1)


def _answers(scores: Array) -> Array:
    """The largest element's place. A last axis of one element is one number: its sign towards one half decides."""
    if scores.ndim and scores.shape[-1] > 1:
        return np.asarray(scores.argmax(axis=-1)).ravel()
    return np.asarray(scores.ravel().astype(np.float64) > 0.5)


def _by_output(expected: Outputs, actual: Outputs) -> list[tuple[list[Array], list[Array]]]:
    count = len(expected[0]) if expected else 0
    return [([sample[i] for sample in expected], [sample[i] for sample in actual]) for i in range(count)]


@dataclass(frozen=True)
class Metric:
    """A named metric."""

    name: str
    measure: Function
    larger_is_better: bool = True
    unit: str = ""

    def loss(self, value: float) -> float:
        """The number as one that grows with the damage."""
        return -value if self.larger_is_better else value


METRICS = {
    "cosine": Metric("cosine", cosine),
    "sqnr": Metric("sqnr", sqnr, unit=" dB"),
    "top1": Metric("top1", top1, larger_is_better=False, unit=" %"),
}


@dataclass(frozen=True)
class Budget:
    """A metric and the worst number of it that is accepted."""

    metric: Metric
    limit: float
    text: str
    """How it was given; other processes read it again."""

    def holds(self, value: float) -> bool:
        """Whether a number is good enough; one that is none is not."""
        return self.metric.loss(value) <= self.metric.loss(self.limit)

    def __str__(self) -> str:
        sign = ">=" if self.metric.larger_is_better else "<="
        return f"{self.metric.name} {sign} {self.limit:g}{self.metric.unit}"


def _callback(name: str) -> Metric:
    """The metric `module:function`; the function gets expected and actual outputs, and larger is better."""
    module, _, function = name.rpartition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"--accuracyBudget: '{name}' is not found: {error}") from None
    if not callable(found):
        raise UsageError(f"--accuracyBudget: '{name}' is not a function")
    return Metric(name, lambda expected, actual: float(found(expected, actual)))


def parse_budget(text: str) -> Budget:
    """`cosine:0.99`, `sqnr:25`, `top1:0.5`, or `package.module:function:VALUE`. Raises UsageError."""
    name, _, number = text.rpartition(":")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not name or not math.isfinite(limit):
        raise UsageError(f"--accuracyBudget={text}: expected METRIC:VALUE, as cosine:0.99, sqnr:25 or top1:0.5")
    if name in METRICS:
        return Budget(METRICS[name], limit, text)
    if ":" not in name:
        raise UsageError(
            f"--accuracyBudget={text}: the metric is one of {', '.join(METRICS)}, or your own as module:function"
        )
    return Budget(_callback(name), limit, text)
