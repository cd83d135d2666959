#!/bin/sh
# OpenVINO: Softmax of an ONNX model before opset 13 is computed along one axis instead of over all axes from there on.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: until opset 12, Softmax, LogSoftmax and Hardmax coerce the input into two dimensions at `axis` and normalize each row
# (ONNX, Softmax-11), so that with axis=1 all numbers of an image together add up to 1. Opset 13 changed this to one axis.
# Seen on 2026-11-28, opset 11, axis=1, shape [1, 2, 3]: onnxruntime's numbers add up to 1. OpenVINO's Softmax adds up to 3, one
# for each column; its LogSoftmax and Hardmax of the same model do coerce. onnx's reference evaluator computes all three
# along one axis: it has one implementation for all versions.

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


def sums(operator):
    """What the (logarithms of, ones of) probabilities of one image add up to: onnxruntime, OpenVINO, reference evaluator."""
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], axis=1)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
    onnx.checker.check_model(model, full_check=True)
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = [
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0],
        compiled({"x": x})[0],
        ReferenceEvaluator(model).run(None, {"x": x})[0],
    ]
    if operator == "LogSoftmax":
        outputs = [np.exp(output) for output in outputs]
    return [round(float(output.sum()), 4) for output in outputs]


seen = {operator: sums(operator) for operator in ("Softmax", "LogSoftmax", "Hardmax")}
recorded = {"Softmax": [1.0, 3.0, 3.0], "LogSoftmax": [1.0, 1.0, 3.0], "Hardmax": [1.0, 1.0, 3.0]}
assert seen == recorded, seen
print("as recorded: Softmax-11 of one image adds up to 1 in onnxruntime, to 3 in OpenVINO and the reference evaluator")
PYTHON
