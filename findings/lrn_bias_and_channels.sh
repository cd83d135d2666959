#!/bin/sh
# LRN: onnxruntime, OpenVINO and onnx's reference evaluator give three different results.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: y = x / (bias + alpha / size * s) ** beta, where s is the sum of the squares of the neighboring channels (ONNX, LRN);
# alpha, beta and bias are float attributes. With size=1, s is x * x.
# Seen on 2026-11-28, channels 1, 2, 3, 4: onnxruntime follows the definition. OpenVINO rounds bias down to an integer: 1.5 counts
# as 1, 2.5 as 2. The reference evaluator sums the squares of as many channels as the batch has images: with one image
# only channel 0 is right, the others are x / bias ** beta.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0' 'openvino==2026.4.1'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

ALPHA, BETA = 0.5, 0.75
X = np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1)


def model_of(bias):
    """LRN of four channels, each its only neighbor."""
    graph = helper.make_graph(
        [helper.make_node("LRN", ["x"], ["y"], size=1, alpha=ALPHA, beta=BETA, bias=bias)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, 1, 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4, 1, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


for bias, openvino_bias in ((1.0, 1), (1.5, 1), (1.9, 1), (2.0, 2), (2.5, 2)):
    model = model_of(bias)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    seen = session.run(None, {"x": X})[0]
    assert np.allclose(seen, X / (bias + ALPHA * X * X) ** BETA), (bias, seen.ravel())
    seen = compiled({"x": X})[0]
    assert np.allclose(seen, X / (openvino_bias + ALPHA * X * X) ** BETA, rtol=1e-3), (bias, seen.ravel())
for images in (1, 2, 4):
    batch = np.repeat(X, images, axis=0)
    seen = ReferenceEvaluator(model).run(None, {"x": batch})[0]
    squares = np.where(np.arange(4).reshape(1, 4, 1, 1) < images, batch * batch, 0)
    assert np.allclose(seen, batch / (bias + ALPHA * squares) ** BETA), (images, seen.ravel())
print("as recorded: OpenVINO's LRN takes 1.5 for 1 as bias, and the reference evaluator leaves out channels behind the batch size")
PYTHON
