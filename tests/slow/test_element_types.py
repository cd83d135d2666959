"""Every operator of ONNX and TensorFlow Lite in every type that their runtimes take, and every primitive in loaded files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.element_types import test_direct_files, test_onnx_types, test_tflite_types
from tests.element_types.direct_files import INTEGERS, calls

pytestmark = pytest.mark.nonconforming("every operator by itself, in one layout")


def test_all_calls_of_onnx() -> None:
    assert test_onnx_types.compared(test_onnx_types.CALLS) > 1250


def test_all_calls_of_tflite() -> None:
    assert test_tflite_types.compared(test_tflite_types.CALLS) > 340


def test_all_calls_of_primitives_in_float16(tmp_path: Path) -> None:
    wrong, right = test_direct_files.wrong_halves(calls("float16"), tmp_path)
    assert wrong == {}
    assert len(right) > 170


@pytest.mark.parametrize("dtype", INTEGERS)
def test_all_calls_of_primitives_in_integers(dtype: str, tmp_path: Path) -> None:
    wrong, right = test_direct_files.wrong_integers(calls(dtype), tmp_path)
    assert wrong == []
    assert right > 1450
