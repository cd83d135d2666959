#!/bin/sh
# OpenVINO: ReduceL1, ReduceL2 and ReduceLogSum over an empty set of axes return their input unchanged.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: with noop_with_empty_axes=1 and no axes only the summing falls away, "composite-reduction operators will still perform the
# non-reduction steps" (ONNX, ReduceL1-18): ReduceL1 and ReduceL2 give the absolute value, ReduceLogSum the logarithm,
# ReduceSumSquare the square. onnxruntime and onnx's reference evaluator do so.
# Seen on 2026-11-28: OpenVINO squares in ReduceSumSquare, and gives back [1, -2, 4] from ReduceL1 and ReduceL2 and [1, 2, 4] from
# ReduceLogSum.

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


def outputs(operator, values):
    """onnxruntime, reference evaluator, OpenVINO."""
    x = np.array([values], np.float32)
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], noop_with_empty_axes=1)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return (
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0].ravel(),
        ReferenceEvaluator(model).run(None, {"x": x})[0].ravel(),
        compiled({"x": x})[0].ravel(),
    )


for operator, values, defined, openvino_values in (
    ("ReduceL1", [1, -2, 4], [1, 2, 4], [1, -2, 4]),
    ("ReduceL2", [1, -2, 4], [1, 2, 4], [1, -2, 4]),
    ("ReduceLogSum", [1, 2, 4], np.log([1, 2, 4]), [1, 2, 4]),
    ("ReduceSumSquare", [1, -2, 4], [1, 4, 16], [1, 4, 16]),
):
    runtime, reference, other = outputs(operator, values)
    assert np.allclose(runtime, defined) and np.allclose(reference, defined), (operator, runtime, reference)
    assert np.allclose(other, openvino_values), (operator, other)
print("as recorded: OpenVINO's ReduceL1, ReduceL2 and ReduceLogSum without axes return their input")
PYTHON
