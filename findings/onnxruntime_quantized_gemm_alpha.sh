#!/bin/sh
# onnxruntime quantizer: in the QOperator format the bias of a Gemm is multiplied by alpha.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: Gemm is alpha * A * B + beta * C (ONNX, Gemm): alpha does not touch the bias. Quantizing to 8 bits costs at most a step.
# Seen on 2026-11-28, bias [10, 20], alpha=0.5: the first row is [10.5, 21] in float and with QuantFormat.QDQ, and about [5.5, 11] with
# QuantFormat.QOperator. The quantizer writes the bias with the scale of the activation times that of the weights, as for a
# convolution; QGemm multiplies its accumulator, with the bias in it, by alpha. With alpha=1 the formats agree. With alpha=2 the
# bias counts twice and the result saturates.

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
X = np.eye(3, dtype=np.float32)


class Reader(CalibrationDataReader):
    """The one input as calibration data."""

    def __init__(self):
        self.inputs = iter([{"x": X}])

    def get_next(self):
        return next(self.inputs, None)


def outputs(alpha):
    """Float, QDQ, QOperator."""
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], alpha=alpha)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 2])],
        [
            numpy_helper.from_array(np.array([[1, 2], [3, 4], [5, 6]], np.float32), "w"),
            numpy_helper.from_array(np.array([10, 20], np.float32), "b"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "float.onnx")
    paths = ["float.onnx"]
    for name, form in (("qdq.onnx", QuantFormat.QDQ), ("qoperator.onnx", QuantFormat.QOperator)):
        quantize_static("float.onnx", name, Reader(), form, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        paths.append(name)
    return [onnxruntime.InferenceSession(path).run(None, {"x": X})[0] for path in paths]


exact, qdq, qoperator = outputs(1.0)
assert np.abs(qdq - exact).max() < 0.2 and np.abs(qoperator - exact).max() < 0.2, (exact, qdq, qoperator)
exact, qdq, qoperator = outputs(0.5)
bias = np.array([10, 20])
assert np.array_equal(exact[0], [10.5, 21]) and np.abs(qdq - exact).max() < 0.2, (exact, qdq)
assert np.abs(qoperator - (exact - bias / 2)).max() < 0.2, qoperator
print("as recorded: Gemm with alpha=0.5 and bias [10, 20], QOperator:", qoperator[0].round(2), "instead of [10.5 21]")
PYTHON
