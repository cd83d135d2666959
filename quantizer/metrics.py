"""Metrics that compare the outputs of a quantized model with those of the float model, and accuracy budgets.

Outputs are lists with one entry per sample, each a list with one array per output of the model. A larger value is
better for every metric except `top1`, which is the percentage of changed predictions.
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
"""The SQNR of equal tensors, in dB. float32 rounding alone gives about 150."""
MARGIN = 2.0
"""A budget must also hold for unseen inputs: a measured value must be better than the limit by this many standard
errors."""


def cosine_of(expected: Array, actual: Array) -> float:
    """Returns the cosine similarity of two tensors: 1 if both are zero, 0 if one is zero or `actual` is not finite."""
    a, b = expected.astype(np.float64).ravel(), actual.astype(np.float64).ravel()
    if not np.isfinite(b).all():
        return 0.0
    norms = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    if norms == 0:
        return 1.0 if not a.any() and not b.any() else 0.0
    return min(1.0, float(a @ b) / norms)


def decibels(signal: float, noise: float) -> float:
    """Returns 10 log10(signal / noise) of two powers, limited to ±`PERFECT_SQNR`."""
    if not math.isfinite(noise):
        return -PERFECT_SQNR
    if noise == 0:
        return PERFECT_SQNR
    return max(-PERFECT_SQNR, min(PERFECT_SQNR, 10 * math.log10(signal / noise))) if signal > 0 else -PERFECT_SQNR


def powers_of(expected: Array, actual: Array) -> tuple[float, float]:
    """Returns the sums of squares of `expected` and of `expected - actual`; the second is inf if `actual` is not
    finite."""
    a, b = expected.astype(np.float64), actual.astype(np.float64)
    noise = float(np.square(a - b).sum()) if np.isfinite(b).all() else math.inf
    return float(np.square(a).sum()), noise


def relative_error(changed: Array, original: Array) -> float:
    """Returns |changed - original| / |original| in the 2-norm, or 0 if `original` is zero."""
    real = original.astype(np.float64)
    norm = float(np.linalg.norm(real))
    return float(np.linalg.norm(changed.astype(np.float64) - real)) / norm if norm else 0.0


def cosine(expected: Outputs, actual: Outputs) -> float:
    """Returns the cosine similarity, averaged over the samples; with several outputs, that of the worst."""
    return COSINE.measure(expected, actual)


def sqnr(expected: Outputs, actual: Outputs) -> float:
    """Returns the signal-to-quantization-noise ratio over all samples, in dB; with several outputs, that of the
    worst."""
    return SQNR.measure(expected, actual)


def top1(expected: Outputs, actual: Outputs) -> float:
    """Returns the percentage of predictions (argmax over the last axis of the first output) that differ."""
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
    """Returns the argmax over the last axis. If that axis has one element, it is a probability, compared with 0.5."""
    if scores.ndim and scores.shape[-1] > 1:
        return np.asarray(scores.argmax(axis=-1)).ravel()
    return np.asarray(scores.ravel().astype(np.float64) > 0.5)


Part = Callable[[Sequence[Array], Sequence[Array]], Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Metric:
    """A named metric.

    `function`, if given, computes the value from all outputs. Otherwise `part` returns two numbers per output for each
    sample; they are added over the samples, and `combine` computes the value from the sums.
    """

    name: str
    part: Part | None = None
    combine: Callable[[Sums], float] | None = None
    function: Function | None = None
    larger_is_better: bool = True
    unit: str = ""

    def measure(self, expected: Outputs, actual: Outputs) -> float:
        """Returns the value of the metric."""
        return self.estimate(expected, actual)[0]

    def estimate(self, expected: Outputs, actual: Outputs) -> tuple[float, float]:
        """Returns the value and its standard error, or 0 if the error is unknown (one sample, or a user's function).

        The error is the jackknife's: sqrt((n - 1) / n * sum((x_i - mean(x))^2)), with x_i the value without sample i.
        """
        if self.part is None or self.combine is None:
            return (0.0 if self.function is None else self.function(expected, actual)), 0.0
        parts = [np.array(self.part(a, b), np.float64) for a, b in zip(expected, actual, strict=True)]
        if not parts:
            return self.combine(np.zeros((0, 2))), 0.0
        value, count = self.combine(np.sum(parts, axis=0)), len(parts)
        if count == 1:
            return value, 0.0
        # Adds the samples before and after i. Subtracting sample i from the total would fail for infinite noise.
        before = [np.zeros_like(parts[0]), *itertools.accumulate(parts[:-1])]
        after = [np.zeros_like(parts[0]), *itertools.accumulate(parts[:0:-1])][::-1]
        without = np.array([self.combine(left + right) for left, right in zip(before, after, strict=True)])
        return value, float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))

    def loss(self, value: float) -> float:
        """Returns the value with the sign changed if larger is better, so that a larger loss is always worse."""
        return -value if self.larger_is_better else value


COSINE = Metric("cosine", _cosine_part, _worst_mean)
SQNR = Metric("sqnr", _power_part, _worst_decibels, unit=" dB")
TOP1 = Metric("top1", _answer_part, _percent, larger_is_better=False, unit=" %")
METRICS = {metric.name: metric for metric in (COSINE, SQNR, TOP1)}


@dataclass(frozen=True)
class Budget:
    """A metric and the worst value that is accepted."""

    metric: Metric
    limit: float
    text: str
    """The text of the budget, which other processes parse again."""

    def holds(self, value: float, error: float = 0.0) -> bool:
        """Whether `value` keeps the limit even if it is `MARGIN` standard errors too good. NaN never does."""
        return self.metric.loss(value) + MARGIN * error <= self.metric.loss(self.limit)

    def __str__(self) -> str:
        sign = ">=" if self.metric.larger_is_better else "<="
        return f"{self.metric.name} {sign} {self.limit:g}{self.metric.unit}"


def _callback(name: str) -> Metric:
    """Returns the metric `module:function`. The function gets expected and actual outputs; a larger value is better."""
    module, _, function = name.rpartition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"--accuracyBudget: '{name}' is not found: {error}") from None
    if not callable(found):
        raise UsageError(f"--accuracyBudget: '{name}' is not a function")
    return Metric(name, function=lambda expected, actual: float(found(expected, actual)))


def parse_budget(text: str) -> Budget:
    """Parses `cosine:0.99`, `sqnr:25`, `top1:0.5`, or `package.module:function:VALUE`. Raises UsageError."""
    name, _, number = text.rpartition(":")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not name or not math.isfinite(limit):
        raise UsageError(
            f"--accuracyBudget={text}: expected METRIC:VALUE, for example cosine:0.99, sqnr:25 or top1:0.5"
        )
    if name in METRICS:
        return Budget(METRICS[name], limit, text)
    if ":" not in name:
        raise UsageError(
            f"--accuracyBudget={text}: the metric must be one of {', '.join(METRICS)}, or your function as"
            " module:function"
        )
    return Budget(_callback(name), limit, text)
