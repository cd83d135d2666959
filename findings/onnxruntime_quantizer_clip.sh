#!/bin/sh
# onnxruntime quantizer: a Clip behind a convolution is removed although its bounds do not hold zero.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: a Relu or Clip can be left out where the quantized range does the same. That is so for bounds around zero only: the range
# of QuantizeLinear is widened to hold zero exactly. Quantizing to 8 bits costs at most a step.
# Seen on 2026-11-28: Conv, Clip(0.5, 3) of [-4, -1, 0, 1, 2, 4] is [0.5, 0.5, 0.5, 1, 2, 3] in float; quantize_static, calibrated with
# the same numbers, removes the Clip: [0, 0, 0, 1, 2, 3], in both formats. Clip(-3, -1) loses its upper bound: 4 gives 0 instead of -1.
# Clip(-1, 3) is removed, too, and right.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

logging.disable(logging.WARNING)
X = np.array([[[[-4, -1, 0, 1, 2, 4]]]], np.float32)


class Reader(CalibrationDataReader):
    """The one input as calibration data."""

    def __init__(self):
        self.inputs = iter([{"x": X}])

    def get_next(self):
        return next(self.inputs, None)


def outputs(low, high):
    """Float, QDQ, QOperator, rounded to halves: the step is less than 0.05."""
    constants = {"w": np.ones((1, 1, 1, 1)), "low": np.array(low), "high": np.array(high)}
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Clip", ["c", "low", "high"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, X.shape)],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "float.onnx")
    paths = ["float.onnx"]
    for name, form in (("qdq.onnx", QuantFormat.QDQ), ("qoperator.onnx", QuantFormat.QOperator)):
        quantize_static("float.onnx", name, Reader(), form, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        assert "Clip" not in [node.op_type for node in onnx.load(name).graph.node], name
        paths.append(name)
    results = [onnxruntime.InferenceSession(path).run(None, {"x": X})[0] for path in paths]
    return [(np.round(result.ravel() * 2) / 2 + 0).tolist() for result in results]


for low, high, exact, quantized in (
    (-1, 3, [-1, -1, 0, 1, 2, 3], [-1, -1, 0, 1, 2, 3]),
    (0.5, 3, [0.5, 0.5, 0.5, 1, 2, 3], [0, 0, 0, 1, 2, 3]),
    (-3, -1, [-3, -1, -1, -1, -1, -1], [-3, -1, 0, 0, 0, 0]),
):
    seen = outputs(low, high)
    assert seen == [exact, quantized, quantized], (low, high, seen)
print("as recorded: Conv and Clip(0.5, 3) quantized give 0 where 0.5 is the least")
PYTHON
