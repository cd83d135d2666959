"""What docs/primitives.md says of the primitives of `.mindir` files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.parsers.mindir.registry import registered_primitives
from mslite.converter.parsers.mindir.unsupported import UNSUPPORTED_PRIMITIVES, refusal
from mslite.converter.primitive_facts import converted, emit

PAGE = Path(__file__).resolve().parents[2] / "docs" / "primitives.md"


def test_the_page_is_the_committed_one() -> None:
    """`make operators` writes it again; the difference shows in review what a change does to primitives."""
    assert emit() == PAGE.read_text(encoding="utf-8"), "run `make operators` and commit docs/primitives.md"


def test_no_primitive_is_both_converted_and_refused() -> None:
    assert not set(UNSUPPORTED_PRIMITIVES) & set(converted())


def test_known_rows() -> None:
    rows = converted()
    assert rows["Addmm"] == ["AddFusion", "MatMulFusion", "MulFusion"]
    assert rows["Abs"] == ["Abs"]
    assert rows["Depend"] == []
    assert set(registered_primitives()) <= set(rows)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Svd", "mslite has no operator for matrix decompositions"),
        ("Multinomial", "mslite has no operator that samples from this distribution"),
        ("ReluGrad", "it is part of training"),
        ("ApplyFtrl", "it is part of training"),
        ("AllReduce", "it is for computation on several devices"),
        ("Whatever", "the primitive is unknown"),
    ],
)
def test_reasons(name: str, reason: str) -> None:
    found, remedy = refusal(name)
    assert found.startswith(reason)
    assert remedy
