"""Graphs on which onnx's shape inference crashes the process: each is tried in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from onnx import TensorProto, parser

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse
from mslite.converter.parsers.onnx.types import infer_types

from .helper import make_model, node, random

_PROGRAM = """
from onnx import parser
from mslite.converter.parsers.onnx.types import infer_types
model = parser.parse_model('<ir_version: 10, opset_import: ["": 20, "ai.onnx.ml": 5]> g (float[2,3] x) => (float[m,n] y) {%s}')
print(sorted(infer_types(model)))
"""


@pytest.mark.parametrize(
    "nodes",
    [
        "n = EyeLike <dtype = 1> (unknown)  y = Identity(n)",
        "a, b = Split <num_outputs = 1> (x)  y = Add(a, b)",
        "y = RegexFullMatch(unknown)",
        "y = ai.onnx.ml.LabelEncoder(unknown)",
        'y = Einsum <equation = "ab,a-b"> (x, x)',
        'y = Einsum <equation = "ab,a..b->ab"> (x, x)',
    ],
)
def test_inference_ends(nodes: str) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM % nodes], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "'x'" in done.stdout


def test_the_type_behind_eye_like_is_still_known() -> None:
    text = '<ir_version: 10, opset_import: ["": 18]> g (int32[2,3] x) => (float[m,n] y) { n = EyeLike <dtype = 1> (x)  y = Neg(n) }'
    model = parser.parse_model(text)
    kind = infer_types(model)["n"].tensor_type
    assert kind.elem_type == TensorProto.FLOAT
    assert [dim.dim_value for dim in kind.shape.dim] == [2, 3]


@pytest.mark.parametrize("domain", ["mslite.set_11", "mslite.set_22", "mslite.set_x"])
@pytest.mark.parametrize("name", ["MaxPool", "NoSuchThing"])
def test_domains_of_the_guard_are_no_domains_of_models(domain: str, name: str) -> None:
    nodes = [node("Squeeze", ["x"], ["s"], axes=[-1]), node(name, ["s"], ["y"], domain=domain)]
    model = make_model(nodes, {"x": random(2, 1, 1)}, ["y"], opset=10)
    model.opset_import.add(domain=domain, version=1)
    with pytest.raises(ConversionError, match="the operator is unknown in"):
        parse(model)
