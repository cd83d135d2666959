"""Operators of ONNX in the types of the standard, against its reference implementation; a part of them, and all in `tests/slow`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from .onnx_calls import NO_ORACLE, Call, calls, outcome

REFUSED = {"ImageDecoder": "the operator is not supported"}
"""Calls, or operators, that do not run, and how they say so."""
_EVERY = 12
CALLS = list(calls())


def check(call: Call) -> bool:
    """Whether the call was compared. Raises AssertionError where it is not right, or runs though it is said not to."""
    found = outcome(call)
    if found == NO_ORACLE:
        return False
    reason = REFUSED.get(str(call), REFUSED.get(call.operator))
    if reason is None:
        assert found == "", f"{call}: {found}"
    else:
        assert reason in found
    return True


def compared(calls: Sequence[Call]) -> int:
    """Checks all calls and returns how many there was an oracle for."""
    wrong, count = [], 0
    for call in calls:
        try:
            count += check(call)
        except AssertionError as error:
            wrong.append(str(error))
    assert wrong == []
    return count


def test_a_part_of_the_calls() -> None:
    assert compared(CALLS[::_EVERY]) > 95


@pytest.mark.parametrize("operator", ["Attention", "CenterCropPad", "NegativeLogLikelihoodLoss", "RotaryEmbedding"])
def test_definitions_of_older_operator_sets(operator: str) -> None:
    """These are defined by other operators, for operator sets before the newest, in which the calls are."""
    assert check(next(call for call in CALLS if call.operator == operator and call.type == "float"))


def test_int32_shapes_in_a_definition_of_int64_sizes() -> None:
    assert check(next(call for call in CALLS if str(call) == "CenterCropPad(Tind=int32)"))


def test_there_are_many() -> None:
    assert len(CALLS) > 1400
    assert {call.type for call in CALLS} == {"float16", "float", "double", "bool"} | {
        f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    }
