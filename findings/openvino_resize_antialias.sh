#!/bin/sh
# OpenVINO: Resize with antialias=1 or exclude_outside=1 is converted as if the attribute were 0.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: antialias=1 stretches the filter by 1 / scale when an image becomes smaller, exclude_outside=1 gives no weight to samples
# outside of the image and scales the others to a sum of 1 (ONNX, Resize-18 and later); what a tool cannot do it refuses.
# onnxruntime and onnx's reference evaluator agree on both.
# Seen on 2026-11-28: OpenVINO's output with the attribute is its output without it, bit by bit; no warning, no error.
# This meets models that were exported from PyTorch: interpolate(antialias=True) becomes antialias=1.

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

X = (np.arange(8, dtype=np.float32) ** 2).reshape(1, 1, 1, 8)


def outputs(scale, **attributes):
    """onnxruntime, reference evaluator, OpenVINO."""
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1, int(8 * scale)])],
        [numpy_helper.from_array(np.array([1, 1, 1, scale], np.float32), "scales")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return (
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": X})[0].ravel(),
        ReferenceEvaluator(model).run(None, {"x": X})[0].ravel(),
        compiled({"x": X})[0].ravel(),
    )


for scale, mode, attribute in ((0.5, "linear", "antialias"), (0.5, "cubic", "antialias"), (2.0, "cubic", "exclude_outside")):
    plain = outputs(scale, mode=mode)
    used = outputs(scale, mode=mode, **{attribute: 1})
    assert np.allclose(plain[0], plain[1], atol=1e-4) and np.allclose(plain[0], plain[2], atol=1e-4), plain
    assert np.allclose(used[0], used[1], atol=1e-4) and np.abs(used[0] - plain[0]).max() > 0.02, used
    assert np.array_equal(used[2], plain[2]), used
    if mode == "linear":
        assert np.allclose(used[0], [0.875, 7, 21, 41.125]) and np.allclose(used[2], [0.5, 6.5, 20.5, 42.5]), used
print("as recorded: linear, antialias=1, half size: onnxruntime [0.875, 7, 21, 41.125], OpenVINO [0.5, 6.5, 20.5, 42.5]")
PYTHON
