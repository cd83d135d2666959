"""Functions that a model provides: attributes that have defaults, calls in bodies and in other functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from .helper import check, random

_HEADER = '<ir_version: 10, opset_import: ["": 21, "own": 1]>\n'
_CALLS = {
    "left out": """
        g (float[n,4] x) => (float[n,4] y) { y = own.f(x) }
        <domain: "own", opset_import: ["": 21]> f <axis: int = 0>(x) => (y) { y = Softmax<axis: int = @axis>(x) }""",
    "given and left out": """
        g (float[n,4] x) => (float[n,4] y) { a = own.f(x)  b = own.f<alpha = 0.2>(x)  y = Add(a, b) }
        <domain: "own", opset_import: ["": 21, "own": 1]> f <alpha: float = 0.7>(x) => (y) {
            a = own.h<alpha: float = @alpha>(x)  b = own.h(x)  y = Sub(a, b) }
        <domain: "own", opset_import: ["": 21]> h <alpha: float = 0.3>(x) => (y) {
            y = LeakyRelu<alpha: float = @alpha>(x) }""",
    "in a body": """
        g (float[n,4] x) => (float[n,4] y) {
            n = Constant<value: tensor = int64 {3}>()  c = Constant<value: tensor = bool {1}>()
            y = Loop(n, c, x) <body = b (int64 i, bool go, float[n,4] s) => (bool on, float[n,4] t) {
                on = Identity(go)  t = own.f(s) }> }
        <domain: "own", opset_import: ["": 21]> f <alpha: float = 0.5>(x) => (y) { a = Elu<alpha: float = @alpha>(x)  y = Neg(a) }""",
    "a constant": """
        g (float[n,4] x) => (float[n,4] y) { y = own.f(x) }
        <domain: "own", opset_import: ["": 21]> f <v: float = 2.5>(x) => (y) {
            c = Constant<value_float: float = @v>()  y = Mul(x, c) }""",
}


@pytest.mark.parametrize("name", _CALLS)
def test_defaults_of_attributes(name: str, tmp_path: Path) -> None:
    inputs = {"x": random(3, 4)}
    check(parser.parse_model(_HEADER + _CALLS[name]), inputs, tmp_path)


def test_a_default_changes_the_result(tmp_path: Path) -> None:
    """By hand, so that it holds whatever onnxruntime does."""
    x = random(3, 4)
    exponentials = np.exp(x - x.max(0))
    model = parser.parse_model(_HEADER + _CALLS["left out"])
    check(model, {"x": x}, tmp_path, wanted=[exponentials / exponentials.sum(0)])
