#!/bin/sh
# OpenVINO: ConvTranspose with output_shape and auto_pad=SAME_UPPER cuts the odd number off at the beginning.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: "If (auto_pads == SAME_UPPER): pads[start_i] = total_padding[i]/2; pads[end_i] = total_padding[i] - (total_padding[i]/2)"
# (ONNX, ConvTranspose): an odd number to cut off goes to the end, with SAME_LOWER to the beginning.
# Seen on 2026-11-28: [1, 2, 3] with the kernel [1, 10, 100] and stride 2 is [1, 10, 102, 20, 203, 30, 300]; output_shape=[6] leaves one
# off. With SAME_UPPER onnxruntime and the reference evaluator leave off the 300 at the end, OpenVINO the 1 at the beginning, as all do
# with SAME_LOWER: the whole result is moved by one.

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
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

X = np.array([[[1, 2, 3]]], np.float32)


def outputs(auto_pad):
    """onnxruntime, reference evaluator, OpenVINO."""
    graph = helper.make_graph(
        [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2], output_shape=[6], auto_pad=auto_pad)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 6])],
        [numpy_helper.from_array(np.array([[[1, 10, 100]]], np.float32), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    results = session.run(None, {"x": X})[0], ReferenceEvaluator(model).run(None, {"x": X})[0], compiled({"x": X})[0]
    return [result.ravel().tolist() for result in results]


WITHOUT_LAST, WITHOUT_FIRST = [1, 10, 102, 20, 203, 30], [10, 102, 20, 203, 30, 300]
assert outputs("SAME_LOWER") == [WITHOUT_FIRST] * 3, outputs("SAME_LOWER")
seen = outputs("SAME_UPPER")
assert seen == [WITHOUT_LAST, WITHOUT_LAST, WITHOUT_FIRST], seen
print("as recorded: SAME_UPPER cuts at the end in onnxruntime, at the beginning in OpenVINO:", seen[0], seen[2])
PYTHON
