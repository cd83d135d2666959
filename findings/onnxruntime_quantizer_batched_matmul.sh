#!/bin/sh
# onnxruntime quantizer: per_channel=True makes a MatMul with weights of three dimensions into a model that onnxruntime cannot run.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: a quantizer writes a model that its own runtime runs, or leaves a MatMul that the integer operator does not take in float.
# Seen on 2026-11-28, weights of 2x4x5: quantize_static in the QOperator format and quantize_dynamic, each with per_channel=True, report
# success and write five scales and zero points of the shape [5]. A run fails: "weight zero point must be a scalar, 1D tensor of size 1,
# or last to second dimension is 1" and "MatmulInteger : b zero point is not valid". In the QDQ format, without per_channel, and with
# weights of 4x5, all run and are right.

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
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

logging.disable(logging.WARNING)
onnxruntime.set_default_logger_severity(4)
random = np.random.default_rng(0)


class Reader(CalibrationDataReader):
    """One input as calibration data."""

    def __init__(self, x):
        self.inputs = iter([{"x": x}])

    def get_next(self):
        return next(self.inputs, None)


def run(form, batch, per_channel):
    """The largest difference from the float result, or the message of the error."""
    x, w = (random.uniform(-1, 1, (*batch, *shape)).astype(np.float32) for shape in ((3, 4), (4, 5)))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*batch, 3, 5])],
        [numpy_helper.from_array(w, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "float.onnx")
    if form == "dynamic":
        quantize_dynamic("float.onnx", "quantized.onnx", weight_type=QuantType.QInt8, per_channel=per_channel)
    else:
        quantize_static("float.onnx", "quantized.onnx", Reader(x), form, weight_type=QuantType.QInt8, per_channel=per_channel)
    try:
        seen = onnxruntime.InferenceSession("quantized.onnx").run(None, {"x": x})[0]
    except Exception as error:
        return str(error)
    return np.abs(seen - x @ w).max()


for form in (QuantFormat.QDQ, QuantFormat.QOperator, "dynamic"):
    for batch in ((), (2,)):
        for per_channel in (False, True):
            result = run(form, batch, per_channel)
            if batch and per_channel and form != QuantFormat.QDQ:
                assert isinstance(result, str) and "zero point" in result, (form, batch, per_channel, result)
            else:
                assert not isinstance(result, str) and result < 0.1, (form, batch, per_channel, result)
print("as recorded: per-channel quantized weights of 2x4x5 cannot be run in the QOperator format and the dynamic one")
PYTHON
