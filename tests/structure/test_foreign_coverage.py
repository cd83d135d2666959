"""Every operator that a front end maps to is compared with another runtime, on calls that hypothesis draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite import _native
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.operator_pages.source_operators import source_operators
from tests.foreign.comparisons import COMPARISONS
from tests.foreign.test_distributions import DISTRIBUTIONS

from .test_mapping_table import COLUMNS, DROPPED, EXECUTOR, foreign, rows

ROOT = Path(__file__).parents[2]

ELSEWHERE = {
    "QuantDTypeCast": "tests/kernels/test_integer_casts.py",
    "StoredLSTMCell": "tests/kernels/test_integer_recurrent.py",
    "StoredSVDF": "tests/kernels/test_integer_recurrent.py",
}
"""Operators whose meaning is in the records of their operands: their models, drawn by hypothesis, against LiteRT there."""


WITHOUT_NUMBERS = frozenset({"Assert"})
"""Nobody reads what they give: tests/runtime/test_assert.py."""


def covered() -> set[str]:
    """Gradients, losses and optimizers are compared with central differences, in tests/converter/test_training.py."""
    training = {name for name, operator in OPERATORS.items() if operator.declaration.training}
    return {*COMPARISONS, *DISTRIBUTIONS, *ELSEWHERE, *WITHOUT_NUMBERS, *training}


def test_every_operator_that_a_front_end_maps_to() -> None:
    kernels = {operator for _, operator, _, _ in _native.kernels()}
    mapped = {name for name, sources in source_operators().items() if sources} & kernels
    assert len(mapped) > 200
    assert sorted(mapped - covered()) == []


def test_every_primitive_of_the_mapping_table() -> None:
    reached = {row[1] for row in rows() if any(foreign(row[column]) for column in COLUMNS.values())}
    training = {name for name, operator in OPERATORS.items() if operator.declaration.training}
    assert sorted(reached - covered() - EXECUTOR - DROPPED - training - {"Custom"}) == []


@pytest.mark.parametrize("operator", ELSEWHERE)
def test_the_other_tests_are_there(operator: str) -> None:
    text = (ROOT / ELSEWHERE[operator]).read_text(encoding="utf-8")
    assert "@given" in text
    assert "compare(" in text


def test_an_operator_without_a_comparison_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(COMPARISONS, "Conv2DFusion")
    with pytest.raises(AssertionError, match="Conv2DFusion"):
        test_every_operator_that_a_front_end_maps_to()
