#!/bin/sh
# onnxruntime: QLinearAveragePool with ceil_mode and count_include_pad counts what lies behind the padding; AveragePool does not.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: count_include_pad=1 includes pad pixels (AveragePool). Elements that a last window has beyond the padded input, with
# ceil_mode=1, are no pads: onnxruntime's and onnx's AveragePool leave them out of the divisor. The quantized operator is the same
# average to within a step.
# Seen on 2026-11-28: the 3x3 average with stride 2 of a 4x4 image of ones, without pads, is 1, 1, 1, 1 in float. quantize_static in
# the QOperator format gives 1, 0.667, 0.667, 0.443: sums of 6 and 4 ones over 9. With count_include_pad=0 it gives ones.

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
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

logging.disable(logging.WARNING)
X = np.ones((1, 1, 4, 4), np.float32)


class Reader(CalibrationDataReader):
    """The one input as calibration data."""

    def __init__(self):
        self.inputs = iter([{"x": X}])

    def get_next(self):
        return next(self.inputs, None)


def outputs(count_include_pad):
    """Float by onnxruntime and by onnx, and quantized."""
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": count_include_pad}
    graph = helper.make_graph(
        [helper.make_node("AveragePool", ["x"], ["y"], **attributes)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "float.onnx")
    quantize_static("float.onnx", "stored.onnx", Reader(), QuantFormat.QOperator, activation_type=QuantType.QUInt8)
    assert "QLinearAveragePool" in [node.op_type for node in onnx.load("stored.onnx").graph.node]
    results = [onnxruntime.InferenceSession(path).run(None, {"x": X})[0] for path in ("float.onnx", "stored.onnx")]
    return [result.ravel() for result in (results[0], ReferenceEvaluator(model).run(None, {"x": X})[0], results[1])]


for result in outputs(0):
    np.testing.assert_allclose(result, 1, atol=0.01)
real, reference, stored = outputs(1)
np.testing.assert_allclose(real, 1)
np.testing.assert_allclose(reference, 1)
np.testing.assert_allclose(stored, [1, 6 / 9, 6 / 9, 4 / 9], atol=0.01)
print("as recorded: the average of ones is 1 in float, and 0.67 and 0.44 at the border in QLinearAveragePool")
PYTHON
