"""How far the outputs of a quantized model are from those of the float model, and budgets for it.

Outputs are given as a list over samples of lists over the model's outputs. Every metric is one number, larger is
better, except `top1`, whose number is the share of changed answers in percent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Array

Outputs = Sequence[Sequence[Array]]
Function = Callable[[Outputs, Outputs], float]
Sums = npt.NDArray[np.float64]
"""[outputs, 2]"""

PERFECT_SQNR = 200.0
"""Decibels that stand for equality; float32 itself ends near 150."""
MARGIN = 2.0
"""A budget must hold for inputs that nobody has seen: a number measured on samples must be better than the limit by so
many of its standard errors."""


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


def relative_error(changed: Array, original: Array) -> float:
    """|changed - original| / |original| in the 2-norm; 0 for zeros."""
    real = original.astype(np.float64)
    norm = float(np.linalg.norm(real))
    return float(np.linalg.norm(changed.astype(np.float64) - real)) / norm if norm else 0.0


def cosine(expected: Outputs, actual: Outputs) -> float:
    """The mean over the samples; of several outputs the worst. Boolean and integer outputs count as numbers."""
    return COSINE.measure(expected, actual)


def sqnr(expected: Outputs, actual: Outputs) -> float:
    """Signal to quantization noise over all samples, in decibels; of several outputs the worst."""
    return SQNR.measure(expected, actual)


def top1(expected: Outputs, actual: Outputs) -> float:
    """Percent of answers that differ: the places of the largest element along the last axis, of the first output."""
    return TOP1.measure(expected, actual)


def _cosine_part(expected: Sequence[Array], actual: Sequence[Array]) -> list[tuple[float, float]]:
    return [(cosine_of(a, b), 1.0) for a, b in zip(expected, actual, strict=True)]


def _worst_mean(sums: Sums) -> float:
    return float(np.min(sums[:, 0] / sums[:, 1])) if sums.size else 1.0


def _power_part(expected: Sequence[Array], actual: Sequence[Array]) -> list[tuple[float, float]]:
    return [powers_of(a, b) for a, b in zip(expected, actual, strict=True)]


def _worst_decibels(sums: Sums) -> float:
    return min((decibels(float(signal), float(noise)) for signal, noise in sums), default=PERFECT_SQNR)


def _answer_part(expected: Sequence[Array], actual: Sequence[Array]) -> list[tuple[float, float]]:
    before, after = _answers(expected[0]), _answers(actual[0])
    return [(float(np.count_nonzero(before != after)), float(before.size))]


def _percent(sums: Sums) -> float:
    return float(100 * sums[0, 0] / max(sums[0, 1], 1)) if sums.size else 0.0


def _answers(scores: Array) -> Array:
    """The largest element's place. A last axis of one element is one number: its sign towards one half decides."""
    if scores.ndim and scores.shape[-1] > 1:
        return np.asarray(scores.argmax(axis=-1)).ravel()
    return np.asarray(scores.ravel().astype(np.float64) > 0.5)


Part = Callable[[Sequence[Array], Sequence[Array]], Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Metric:
    """A named metric. `function` measures at once; a metric without one adds up what `part` tells of each sample, two
    numbers for every output, and `combine` makes its number of the sums."""

    name: str
    part: Part | None = None
    combine: Callable[[Sums], float] | None = None
    function: Function | None = None
    larger_is_better: bool = True
    unit: str = ""

    def measure(self, expected: Outputs, actual: Outputs) -> float:
        """The number."""
        return self.estimate(expected, actual)[0]

    def estimate(self, expected: Outputs, actual: Outputs) -> tuple[float, float]:
        """The number and its standard error, which is 0 where it is not known (one sample, a user's function).

        The error is the jackknife's: sqrt((n - 1) / n * sum((x_i - mean(x))^2)), x_i the number without sample i.
        """
        if self.part is None or self.combine is None:
            return (0.0 if self.function is None else self.function(expected, actual)), 0.0
        parts = [np.array(self.part(a, b), np.float64) for a, b in zip(expected, actual, strict=True)]
        if not parts:
            return self.combine(np.zeros((0, 2))), 0.0
        value, count = self.combine(np.sum(parts, axis=0)), len(parts)
        if count == 1:
            return value, 0.0
        # Sums of both sides instead of differences: noise may be infinite.
        before = [np.zeros_like(parts[0]), *itertools.accumulate(parts[:-1])]
        after = [np.zeros_like(parts[0]), *itertools.accumulate(parts[:0:-1])][::-1]
        without = np.array([self.combine(left + right) for left, right in zip(before, after, strict=True)])
        return value, float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))

    def loss(self, value: float) -> float:
        """The number as one that grows with the damage."""
        return -value if self.larger_is_better else value


COSINE = Metric("cosine", _cosine_part, _worst_mean)
SQNR = Metric("sqnr", _power_part, _worst_decibels, unit=" dB")
TOP1 = Metric("top1", _answer_part, _percent, larger_is_better=False, unit=" %")
METRICS = {metric.name: metric for metric in (COSINE, SQNR, TOP1)}


@dataclass(frozen=True)
class Budget:
    """A metric and the worst number of it that is accepted."""

    metric: Metric
    limit: float
    text: str
    """How it was given; other processes read it again."""

    def holds(self, value: float, error: float = 0.0) -> bool:
        """Whether a number is good enough even if it is `MARGIN` standard errors too good; one that is none is not."""
        return self.metric.loss(value) + MARGIN * error <= self.metric.loss(self.limit)

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
    return Metric(name, function=lambda expected, actual: float(found(expected, actual)))


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
