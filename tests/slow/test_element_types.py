"""Every operator of ONNX and TensorFlow Lite in every type that their runtimes take."""

from __future__ import annotations

from tests.element_types import test_onnx_types, test_tflite_types


def test_all_calls_of_onnx() -> None:
    assert test_onnx_types.compared(test_onnx_types.CALLS) > 1250


def test_all_calls_of_tflite() -> None:
    assert test_tflite_types.compared(test_tflite_types.CALLS) > 340
