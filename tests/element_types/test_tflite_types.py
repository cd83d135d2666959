"""Operators of TensorFlow Lite in the types that LiteRT takes; a part of them, and all in `tests/slow`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("ai_edge_litert.interpreter")

from .tflite_calls import NO_ORACLE, Call, Oracle, calls, outcome

_EVERY = 9
CALLS = list(calls())


def compared(calls: Sequence[Call]) -> int:
    """Checks all calls and returns how many LiteRT took."""
    oracle, wrong, count = Oracle(), [], 0
    for call in calls:
        found = outcome(call, oracle)
        count += found != NO_ORACLE
        if found not in ("", NO_ORACLE):
            wrong.append(f"{call}: {found}")
    oracle.close()
    assert wrong == []
    return count


def test_a_part_of_the_calls() -> None:
    assert compared(CALLS[::_EVERY]) > 30


@pytest.mark.parametrize("operator", ["PAD", "TOPK_V2", "EMBEDDING_LOOKUP", "HASHTABLE_LOOKUP"])
def test_narrow_positions_and_half_tables(operator: str) -> None:
    """Positions in int8 and int16, and rows of float16 that stay float16."""
    found = [c for c in CALLS if c.operator == operator and c.type in ("int8", "int16", "float16")]
    assert compared(found) >= 1
