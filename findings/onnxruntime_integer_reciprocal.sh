#!/bin/sh
# onnxruntime: 1 / x * y of integers becomes y / x when the graph is optimized.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: Div of integers truncates (ONNX, Div), so 1 / 2 is 0 and 0 * 5 is 0 at every optimization level.
# Seen on 2026-11-28: ORT_DISABLE_ALL gives [0, 7, 0], the default (ORT_ENABLE_ALL) gives [2, 7, -3]. The rewrite is exact for
# float values only, and is applied to int32 and int64, too. With float32 both levels agree.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LEVELS = onnxruntime.GraphOptimizationLevel


def results(element_type):
    """1 / x * y without and with the optimizer."""
    array_type = helper.tensor_dtype_to_np_dtype(element_type)
    graph = helper.make_graph(
        [helper.make_node("Div", ["one", "x"], ["reciprocal"]), helper.make_node("Mul", ["reciprocal", "y"], ["z"])],
        "graph",
        [helper.make_tensor_value_info(name, element_type, [3]) for name in "xy"],
        [helper.make_tensor_value_info("z", element_type, [3])],
        [numpy_helper.from_array(np.array(1, array_type), "one")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    inputs = {"x": np.array([2, 1, -3], array_type), "y": np.array([5, 7, 9], array_type)}
    for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        yield onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)[0].tolist()


for integer in (TensorProto.INT32, TensorProto.INT64):
    plain, optimized = results(integer)
    assert plain == [0, 7, 0], plain
    assert optimized == [2, 7, -3], optimized
plain, optimized = results(TensorProto.FLOAT)
assert np.allclose(plain, optimized), (plain, optimized)
print("as recorded: int32 and int64 1 / x * y is [0, 7, 0], and [2, 7, -3] when the graph is optimized")
PYTHON
