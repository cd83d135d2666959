"""Every operator of ONNX in every type of the standard."""

from __future__ import annotations

from tests.element_types.test_onnx_types import CALLS, compared


def test_all_calls() -> None:
    assert compared(CALLS) > 1250
