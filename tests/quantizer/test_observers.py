"""Observers: fixed memory, independent of order, and ranges as their methods say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mslite.quantizer.calibration.histogram import HALF, Histogram
from mslite.quantizer.calibration.observers import FOLDS, AutoRangeObserver, make_observer
from mslite.quantizer.calibration.ranges import squared_error
from mslite.quantizer.precision.schemes import INT8_ACTIVATION, Range, Scheme
from mslite.quantizer.settings import ActivationMethod, FullQuantParam

SAMPLES = st.lists(
    arrays.arrays(np.float32, st.integers(0, 40), elements=st.floats(-(2.0**100), 2.0**100, width=32)),
    min_size=1,
    max_size=6,
)


@given(SAMPLES)
@settings(max_examples=60, deadline=None)
def test_a_histogram_does_not_depend_on_the_order(parts: list[np.ndarray]) -> None:
    forward, backward = Histogram(), Histogram()
    for part in parts:
        forward.add(part)
    for part in reversed(parts):
        backward.add(part)
    values = np.concatenate(parts)
    assert forward.exponent == backward.exponent
    assert np.array_equal(forward.counts, backward.counts)
    assert (forward.low, forward.high) == (backward.low, backward.high)
    assert forward.total == values.size
    if values.size and np.abs(values).max() > 1e-30:
        assert forward.limit / 2 <= np.abs(values).max() <= forward.limit
        expected = np.histogram(values.astype(np.float64), bins=forward.width * (np.arange(2 * HALF + 1) - HALF))[0]
        assert np.array_equal(forward.counts, expected)


@given(SAMPLES, SAMPLES)
@settings(max_examples=40, deadline=None)
def test_merged_histograms_have_counted_everything(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    both, one, other = Histogram(), Histogram(), Histogram()
    for part in left:
        one.add(part)
        both.add(part)
    for part in right:
        other.add(part)
        both.add(part)
    kept = other.state()
    one.merge(other)
    assert all(np.array_equal(array, one.state()[key]) for key, array in both.state().items())
    assert all(np.array_equal(array, other.state()[key]) for key, array in kept.items()), "the other one stays"


def test_a_fold_that_is_left_out_does_not_count() -> None:
    observer = AutoRangeObserver(FullQuantParam())
    for sample in range(2 * FOLDS):
        observer.update(np.array([-1.0, 100.0 if sample % FOLDS == 2 else 1.0], np.float32))
    observer.decide(ActivationMethod.MAX_MIN)
    assert observer.range(INT8_ACTIVATION) == Range(-1.0, 100.0)
    observer.decide(ActivationMethod.MAX_MIN, left_out=2)
    assert observer.range(INT8_ACTIVATION) == Range(-1.0, 1.0)
    observer.decide(ActivationMethod.MAX_MIN, 1.5, left_out=2)
    assert observer.range(INT8_ACTIVATION) == Range(-1.5, 1.5)


@pytest.mark.parametrize("method", [ActivationMethod.MSE, ActivationMethod.PERCENTILE, ActivationMethod.MAX_MIN])
def test_an_undecided_observer_decides_as_the_method_does(method: ActivationMethod) -> None:
    draw = np.random.default_rng(4)
    undecided, decided = AutoRangeObserver(FullQuantParam()), make_observer(method, FullQuantParam())
    for _ in range(7):
        part = draw.standard_t(3, 500).astype(np.float32)
        undecided.update(part)
        decided.update(part)
    undecided.decide(method)
    assert undecided.range(INT8_ACTIVATION) == decided.range(INT8_ACTIVATION)


def test_a_histogram_leaves_out_what_is_not_finite() -> None:
    histogram = Histogram()
    histogram.add(np.array([1.0, np.nan, np.inf, -np.inf, 3.0], np.float32))
    assert (histogram.total, histogram.low, histogram.high) == (2, 1.0, 3.0)


@pytest.mark.parametrize("method", list(ActivationMethod))
def test_state_can_be_taken_up(method: ActivationMethod) -> None:
    draw = np.random.default_rng(0)
    parts = [draw.normal(0, 1 + k, 500).astype(np.float32) for k in range(6)]
    whole, first, second = (make_observer(method, FullQuantParam()) for _ in range(3))
    for part in parts:
        whole.update(part)
    for part in parts[:3]:
        first.update(part)
    second.restore(first.state())
    for part in parts[3:]:
        second.update(part)
    assert whole.range(INT8_ACTIVATION) == second.range(INT8_ACTIVATION)


@pytest.mark.parametrize("method", list(ActivationMethod))
def test_nothing_seen_is_an_empty_range(method: ActivationMethod) -> None:
    assert make_observer(method, FullQuantParam()).range(INT8_ACTIVATION) == Range(0.0, 0.0)


def observed(method: ActivationMethod, values: np.ndarray, scheme: Scheme = INT8_ACTIVATION) -> Range:
    observer = make_observer(method, FullQuantParam())
    for part in np.array_split(values, 10):
        observer.update(part.astype(np.float32))
    return observer.range(scheme)


def test_max_min_is_exact() -> None:
    values = np.random.default_rng(1).normal(2, 5, 10000).astype(np.float32)
    assert observed(ActivationMethod.MAX_MIN, values) == Range(float(values.min()), float(values.max()))


def test_removal_outlier_is_the_mean_of_quantiles() -> None:
    values = np.random.default_rng(1).normal(2, 5, 100000).astype(np.float32)
    wanted = np.mean([np.quantile(part, (0.0001, 0.9999)) for part in np.array_split(values, 10)], axis=0)
    got = observed(ActivationMethod.REMOVAL_OUTLIER, values)
    assert (got.low, got.high) == pytest.approx(wanted, rel=1e-4)


def test_percentile_keeps_its_share() -> None:
    values = np.random.default_rng(2).normal(0, 1, 200000).astype(np.float32)
    got = observed(ActivationMethod.PERCENTILE, values)
    kept = np.mean((values >= got.low) & (values <= got.high))
    assert kept == pytest.approx(0.99999, abs=5e-6)


@pytest.mark.parametrize("method", [ActivationMethod.KL, ActivationMethod.ENTROPY])
def test_one_far_value_does_not_rule_the_range(method: ActivationMethod) -> None:
    draw = np.random.default_rng(3)
    values = np.append(np.maximum(draw.normal(0, 1, 100000), 0), 300.0)
    got = observed(method, values)
    assert got.low == 0
    assert 2 < got.high < 150


@pytest.mark.parametrize("bits", [4, 8])
def test_mse_has_the_least_error(bits: int) -> None:
    values = np.random.default_rng(4).laplace(0.5, 1, 50000)
    scheme = Scheme(bits)
    histogram = Histogram()
    histogram.add(values.astype(np.float32))
    got = squared_error(histogram, observed(ActivationMethod.MSE, values, scheme), scheme)
    for method in (ActivationMethod.MAX_MIN, ActivationMethod.KL, ActivationMethod.PERCENTILE):
        assert got <= squared_error(histogram, observed(method, values, scheme), scheme) * 1.001
