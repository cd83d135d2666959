#!/bin/sh
# MaxPool: the Indices of onnx's reference evaluator are wrong, and those of OpenVINO with storage_order=1.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: Indices are positions in the flattened input; with storage_order=1 they are computed in column-major order. Their shape is that
# of Y (ONNX, MaxPool).
# Seen on 2026-11-28, window 2x2 over the numbers 0 to 11 as 3x4, so that each number is its own row-major position and Y is
# [[5, 6, 7], [9, 10, 11]]: onnxruntime has Y as Indices, and [[4, 7, 10], [5, 8, 11]], row + 3 * column, with storage_order=1. The
# reference evaluator has [[4, 5, 6], [8, 9, 10]] for both, each one too small. OpenVINO is right with storage_order=0, and with
# storage_order=1 it has the row-major positions, transposed, in an array of 3x2 beside a Y of 2x3.

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

X = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)


def indices(storage_order):
    """onnxruntime, reference evaluator, OpenVINO."""
    graph = helper.make_graph(
        [helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], storage_order=storage_order)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 3]),
            helper.make_tensor_value_info("i", TensorProto.INT64, [1, 1, 2, 3]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    results = [session.run(None, {"x": X}), ReferenceEvaluator(model).run(None, {"x": X}), list(compiled({"x": X}).values())]
    for maxima, _ in results:
        assert maxima[0, 0].tolist() == [[5, 6, 7], [9, 10, 11]], maxima
    return [positions[0, 0].tolist() for _, positions in results]


REFERENCE = [[4, 5, 6], [8, 9, 10]]
row_major = indices(0)
assert row_major == [[[5, 6, 7], [9, 10, 11]], REFERENCE, [[5, 6, 7], [9, 10, 11]]], row_major
column_major = indices(1)
assert column_major == [[[4, 7, 10], [5, 8, 11]], REFERENCE, [[5, 9], [6, 10], [7, 11]]], column_major
print("as recorded: Indices of the first window, where 5 is the largest: onnxruntime 5, reference evaluator", row_major[1][0][0])
PYTHON
