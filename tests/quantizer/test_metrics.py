"""Metrics of quantization damage against numbers worked out by hand, and the texts of budgets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mslite.converter.errors import UsageError
from mslite.quantizer.metrics import METRICS, PERFECT_SQNR, cosine, cosine_of, decibels, parse_budget, sqnr, top1

Outputs = list[list[Any]]


def one(*rows: list[float]) -> Outputs:
    """One output per sample."""
    return [[np.array(row, np.float32)] for row in rows]


def half_of_the_answers(expected: Outputs, actual: Outputs) -> float:
    """A user's metric; larger is better."""
    return 1 - top1(expected, actual) / 100


def test_cosine_is_the_mean_over_samples() -> None:
    assert cosine(one([1, 0], [1, 0]), one([1, 0], [0, 1])) == pytest.approx(0.5)
    assert cosine(one([3, 4]), one([6, 8])) == pytest.approx(1.0)


def test_the_worst_output_counts() -> None:
    expected = [[np.array([1.0, 0.0]), np.array([1.0, 0.0])]]
    actual = [[np.array([1.0, 0.0]), np.array([1.0, 1.0])]]
    assert cosine(expected, actual) == pytest.approx(math.sqrt(0.5))
    assert sqnr(expected, actual) == pytest.approx(0.0)


def test_sqnr_adds_powers_over_samples() -> None:
    assert sqnr(one([10, 0], [0, 10]), one([11, 0], [0, 10])) == pytest.approx(10 * math.log10(200))
    assert sqnr(one([1.0]), one([1.0])) == PERFECT_SQNR


def test_what_is_not_finite_is_no_result() -> None:
    assert cosine_of(np.ones(2), np.array([np.nan, 1.0])) == 0.0
    assert sqnr(one([1, 2]), one([math.inf, 2])) == -PERFECT_SQNR


def test_the_error_of_a_mean_is_its_standard_error() -> None:
    draw = np.random.default_rng(1)
    expected = [[draw.normal(size=8)] for _ in range(20)]
    actual = [[row[0] + draw.normal(0, 0.3, 8)] for row in expected]
    value, error = METRICS["cosine"].estimate(expected, actual)
    numbers = [cosine_of(a[0], b[0]) for a, b in zip(expected, actual, strict=True)]
    assert value == pytest.approx(np.mean(numbers))
    assert error == pytest.approx(np.std(numbers, ddof=1) / np.sqrt(20))


def test_the_error_of_sqnr_tells_how_far_other_samples_would_be() -> None:
    draw = np.random.default_rng(2)

    def drawn() -> tuple[float, float]:
        expected = [[draw.normal(size=4)] for _ in range(64)]
        return METRICS["sqnr"].estimate(expected, [[row[0] + draw.normal(0, 0.1, 4)] for row in expected])

    found = [drawn() for _ in range(200)]
    assert np.mean([error for _, error in found]) == pytest.approx(np.std([value for value, _ in found]), rel=0.15)


def test_an_error_that_nobody_knows_is_none() -> None:
    assert METRICS["cosine"].estimate(one([1, 0]), one([1, 1]))[1] == 0.0
    assert METRICS["cosine"].estimate([], []) == (1.0, 0.0)
    assert METRICS["top1"].estimate(one([1, 2], [1, 2]), one([1, 2], [1, 2])) == (0.0, 0.0)
    assert METRICS["sqnr"].estimate(one([1], [1], [1]), one([1], [math.inf], [1]))[0] == -PERFECT_SQNR


def test_a_budget_holds_beyond_chance() -> None:
    budget = parse_budget("cosine:0.99")
    assert budget.holds(0.995, 0.002)
    assert not budget.holds(0.995, 0.003)
    assert not parse_budget("top1:0.5").holds(0.4, 0.1)


def test_zeros_have_the_direction_of_zeros() -> None:
    assert cosine_of(np.zeros(3), np.zeros(3)) == 1.0
    assert cosine_of(np.zeros(3), np.ones(3)) == 0.0


def test_top1_counts_changed_answers() -> None:
    assert top1(one([1, 2], [1, 2], [2, 1], [2, 1]), one([1, 2], [2, 1], [2, 1], [3, 1])) == 25.0


def test_top1_of_one_number_is_its_side_of_one_half() -> None:
    assert top1(one([0.9], [0.1]), one([0.6], [0.7])) == 50.0


@given(st.floats(1e-3, 1e3), st.floats(1e-6, 1e3))
def test_decibels_invert(signal: float, noise: float) -> None:
    assert 10 ** (decibels(signal, noise) / 10) == pytest.approx(signal / noise, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "good", "bad"), [("cosine:0.99", 0.991, 0.98), ("sqnr:25", 30.0, 24.0), ("top1:0.5", 0.4, 0.6)]
)
def test_budgets_know_which_way_is_better(text: str, good: float, bad: float) -> None:
    budget = parse_budget(text)
    assert budget.holds(good)
    assert budget.holds(budget.limit)
    assert not budget.holds(bad)
    assert not budget.holds(math.nan)


def test_a_function_of_the_user_is_a_metric() -> None:
    budget = parse_budget(f"{__name__}:half_of_the_answers:0.5")
    assert budget.limit == 0.5
    assert budget.metric.measure(one([1, 2], [1, 2]), one([1, 2], [2, 1])) == 0.5
    assert budget.holds(0.6)


@pytest.mark.parametrize(
    "text",
    ["", "cosine", "cosine:", "cosine:x", "cosine:nan", "mse:1", "no.such.module:f:1", "math:no_such:1", "math:pi:1"],
)
def test_wrong_budgets_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="accuracyBudget"):
        parse_budget(text)
