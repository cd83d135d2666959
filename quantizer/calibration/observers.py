"""Observers compute the range of a tensor from its values, one sample at a time, in fixed memory.

Every observer can save and restore its state as arrays, so that an interrupted calibration can continue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from mslite.converter.mindir.graph import Array
from mslite.quantizer.calibration.histogram import Histogram
from mslite.quantizer.calibration.ranges import entropy_range, kl_range, mse_range, percentile_range
from mslite.quantizer.precision.schemes import Range, Scheme
from mslite.quantizer.settings import ActivationMethod, FullQuantParam

State = dict[str, Array]
Rule = Callable[[Histogram, Scheme], Range]


class Observer(Protocol):
    """Interface: observes one tensor."""

    def update(self, values: Array) -> None:
        """Adds the float values of one sample."""

    def range(self, scheme: Scheme) -> Range:
        """Returns the range for quantization; [0, 0] without samples."""

    def state(self) -> State:
        """Returns the state as arrays."""

    def restore(self, state: Mapping[str, Array]) -> None:
        """Restores the arrays that `state` returned."""


class MinMaxObserver:
    """MAX_MIN: smallest and largest value over all samples."""

    def __init__(self) -> None:
        self._seen = np.array([np.inf, -np.inf])

    def update(self, values: Array) -> None:
        if values.size:
            low, high = float(values.min()), float(values.max())
            if not np.isfinite(low) or not np.isfinite(high):
                finite = values[np.isfinite(values)]
                if not finite.size:
                    return
                low, high = float(finite.min()), float(finite.max())
            self._seen = np.array([min(self._seen[0], low), max(self._seen[1], high)])

    def range(self, scheme: Scheme) -> Range:
        if self._seen[0] > self._seen[1]:
            return Range(0.0, 0.0)
        return Range(float(self._seen[0]), float(self._seen[1]))

    def state(self) -> State:
        return {"seen": self._seen}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._seen = np.asarray(state["seen"], np.float64)


class OutlierObserver:
    """REMOVAL_OUTLIER: the 0.01 % and the 99.99 % quantile of each sample, averaged over the samples."""

    _SHARE = 0.0001

    def __init__(self) -> None:
        self._sums = np.zeros(3)

    def update(self, values: Array) -> None:
        finite = values[np.isfinite(values)]
        if finite.size:
            low, high = np.quantile(finite.astype(np.float64), (self._SHARE, 1 - self._SHARE))
            self._sums = self._sums + np.array((float(low), float(high), 1.0))

    def range(self, scheme: Scheme) -> Range:
        low, high, count = (float(number) for number in self._sums)
        return Range(low / count, high / count) if count else Range(0.0, 0.0)

    def state(self) -> State:
        return {"sums": self._sums}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._sums = np.asarray(state["sums"], np.float64)


class HistogramObserver:
    """A histogram of fixed size, and a function that computes the range from it."""

    def __init__(self, choose: Rule) -> None:
        self.histogram = Histogram()
        self._choose = choose

    def update(self, values: Array) -> None:
        self.histogram.add(values)

    def range(self, scheme: Scheme) -> Range:
        return self._choose(self.histogram, scheme) if self.histogram.total else Range(0.0, 0.0)

    def state(self) -> State:
        return self.histogram.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self.histogram.restore(state)


FOLDS = 4
"""Number of folds for cross-validation. Sample i belongs to fold i % FOLDS."""


class AutoRangeObserver:
    """AUTO: a histogram for each fold of the samples, FOLDS + 1 times 64 KiB.

    accuracy/auto_range.py sets the method after the calibration. Until then it is MAX_MIN.
    """

    def __init__(self, full: FullQuantParam) -> None:
        self._full = full
        self._folds = [Histogram() for _ in range(FOLDS)]
        self._seen = 0
        self._method = ActivationMethod.MAX_MIN
        self._room = 1.0
        self._bounds = Range(-math.inf, math.inf)
        self._left_out: int | None = None
        self._merged: Histogram | None = None
        self._known: dict[tuple[ActivationMethod, Scheme], Range] = {}

    def update(self, values: Array) -> None:
        self._folds[self._seen % FOLDS].add(values)
        self._seen += 1
        self._forget()

    def bound(self, bounds: Range) -> None:
        """Sets bounds that no value exceeds. Widened ranges are limited to them."""
        self._bounds = bounds

    def decide(self, method: ActivationMethod, room: float = 1.0, left_out: int | None = None) -> None:
        """Sets the method of `range`, a factor that widens the range, and a fold whose samples are not used."""
        self._method, self._room = method, room
        if left_out != self._left_out:
            self._left_out = left_out
            self._forget()

    def range(self, scheme: Scheme) -> Range:
        key = (self._method, scheme)
        if key not in self._known:
            whole = self._whole()
            rule = rule_of_method(self._method, self._full)
            self._known[key] = rule(whole, scheme) if whole.total else Range(0.0, 0.0)
        found = self._known[key]
        low, high = max(found.low * self._room, self._bounds.low), min(found.high * self._room, self._bounds.high)
        return found.merged(Range(low, high))

    def _whole(self) -> Histogram:
        """Returns the merged histogram of all folds that are used."""
        if self._merged is None:
            self._merged = Histogram()
            for number, fold in enumerate(self._folds):
                if number != self._left_out:
                    self._merged.merge(fold)
        return self._merged

    def _forget(self) -> None:
        self._merged, self._known = None, {}

    def state(self) -> State:
        states = [fold.state() for fold in self._folds]
        folds = {f"{number}_{key}": array for number, state in enumerate(states) for key, array in state.items()}
        return {"seen": np.array(self._seen), **folds}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._seen = int(state["seen"])
        self._forget()
        for number, fold in enumerate(self._folds):
            fold.restore({key: state[f"{number}_{key}"] for key in fold.state()})


def extremes(histogram: Histogram, scheme: Scheme) -> Range:
    """Returns the range from the smallest to the largest value."""
    return Range(histogram.low, histogram.high)


def rule_of_method(method: ActivationMethod, full: FullQuantParam) -> Rule:
    """Returns the function that computes the range of `method` from a histogram. Raises KeyError for other methods."""
    if method is ActivationMethod.PERCENTILE:
        return lambda histogram, scheme: percentile_range(histogram, full.percentile)
    return {
        ActivationMethod.MAX_MIN: extremes,
        ActivationMethod.KL: kl_range,
        ActivationMethod.MSE: mse_range,
        ActivationMethod.ENTROPY: entropy_range,
    }[method]


def make_observer(method: ActivationMethod, full: FullQuantParam) -> Observer:
    """Creates the observer of a method."""
    if method is ActivationMethod.MAX_MIN:
        return MinMaxObserver()
    if method is ActivationMethod.REMOVAL_OUTLIER:
        return OutlierObserver()
    if method is ActivationMethod.AUTO:
        return AutoRangeObserver(full)
    return HistogramObserver(rule_of_method(method, full))
