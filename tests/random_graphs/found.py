"""Compares one small graph in ONNX's text form with onnxruntime, for errors that random graphs have found."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from mslite import onnx_backend

pytest.importorskip("onnxruntime", reason="onnxruntime, which computes what is right, is not installed")

from .evaluate import quiet_session
from .values import Array


def draw(*shape: int, dtype: str = "float32") -> Array:
    """Returns values between -2 and 2, the same for the same shape; integers from 0 to 8."""
    rng = np.random.default_rng(list(shape) or 1)
    return np.asarray(rng.uniform(-2, 2, shape) if dtype.startswith("f") else rng.integers(0, 9, shape), dtype)


def check(text: str, opset: int = 18, **inputs: Array) -> None:
    """Asserts that the graph gives onnxruntime's results, with and without optimization."""
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": {opset}, "ai.onnx.ml": 1, "com.microsoft": 1]> found {text}'
    )
    nameless = ModelProto.FromString(model.SerializeToString())
    for node in nameless.graph.node:
        node.name = ""  # onnxruntime requires different names
    wanted = quiet_session(nameless.SerializeToString()).run(None, inputs)
    for optimize in (True, False):
        got = onnx_backend.run_model(model, inputs, optimize=optimize)
        for actual, right in zip(got, wanted, strict=True):
            assert (actual.dtype, actual.shape) == (right.dtype, right.shape)
            tolerance = 1e-3 if right.dtype == np.float16 else 1e-5
            np.testing.assert_allclose(actual, right, tolerance, tolerance)
