#!/bin/sh
# onnx.inliner: defaults of a function's attributes are dropped, so the inlined model computes something else.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: FunctionProto.attribute_proto holds "the attribute protos of the function", whose values are "the default value of the
# attribute" (onnx.proto): a call that leaves the attribute out has that value. Inlining keeps the meaning of a model.
# Seen on 2026-11-28: f <axis = 0> (x) is Softmax <axis = @axis> (x). The call f(x) is a Softmax along axis 0 in onnxruntime; after
# onnx.inliner.inline_local_functions the Softmax has no axis, and so its own default, -1. A call that gives the axis is inlined rightly.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnx.inliner
import onnxruntime
from onnx import parser

X = np.array([[0, 1], [2, 3]], np.float32)
TEXT = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2,2] x) => (float[2,2] y) { y = own.f%s(x) }
<domain: "own", opset_import: ["": 21]> f <axis: int = 0>(x) => (y) { y = Softmax<axis: int = @axis>(x) }"""


def softmax(axis):
    exponentials = np.exp(X - X.max(axis, keepdims=True))
    return exponentials / exponentials.sum(axis, keepdims=True)


def run(model):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": X})[0]


left_out, given = parser.parse_model(TEXT % ""), parser.parse_model(TEXT % "<axis = 0>")
for model in (left_out, given):
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_allclose(run(model), softmax(0), atol=1e-6)  # by the definition
np.testing.assert_allclose(run(onnx.inliner.inline_local_functions(given)), softmax(0), atol=1e-6)
inlined = onnx.inliner.inline_local_functions(left_out)
onnx.checker.check_model(inlined, full_check=True)
assert not inlined.graph.node[0].attribute
np.testing.assert_allclose(run(inlined), softmax(1), atol=1e-6)
print("as recorded: a Softmax along axis 0 by default is one along the last axis after inlining")
PYTHON
