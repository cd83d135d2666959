#!/bin/sh
# onnxruntime MatMulNBitsQuantizer: the QDQ format names operator set 21 without converting the nodes, so a Softmax changes its meaning.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, onnx-ir 1.1.0, ml_dtypes 0.5.4.
# Expected: quantizing the weights of a MatMul changes nothing but the weights. A model of operator set 12 has a Softmax whose axis is 1
# by default and which normalizes over all dimensions from there on; from 13 on the default is -1, and one dimension is normalized.
# quantize_static to 16 bits, which needs operator set 21, too, converts the model (onnx.version_converter).
# Seen on 2026-11-28: MatMul, Softmax on [2, 3, 4] of operator set 12: each of the two [3, 4] sums to 1. MatMulNBitsQuantizer gives 1
# in the QOperator format, and with quant_format=QuantFormat.QDQ a model of operator set 21 whose results sum to 3.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0' 'onnx-ir==1.1.0' 'ml_dtypes==0.5.4'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

logging.disable(logging.WARNING)
chance = np.random.default_rng(0)
X, W = chance.standard_normal((2, 3, 32)).astype(np.float32), chance.standard_normal((32, 4)).astype(np.float32)


class Reader(CalibrationDataReader):
    """The one input as calibration data."""

    def __init__(self):
        self.inputs = iter([{"x": X}])

    def get_next(self):
        return next(self.inputs, None)


def sums(model):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": X})[0].sum(axis=(1, 2))


def standard_set(model):
    return max(entry.version for entry in model.opset_import if entry.domain == "")


graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3, 4])],
    [numpy_helper.from_array(W, "w")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
onnx.checker.check_model(model, full_check=True)
onnx.save(model, "float.onnx")
np.testing.assert_allclose(sums(model), 1, atol=1e-5)
for form, expected, version in ((QuantFormat.QOperator, 1, 12), (QuantFormat.QDQ, 3, 21)):
    quantizer = MatMulNBitsQuantizer(onnx.load("float.onnx"), block_size=16, is_symmetric=True, quant_format=form)
    quantizer.process()
    assert standard_set(quantizer.model.model) == version
    np.testing.assert_allclose(sums(quantizer.model.model), expected, atol=1e-4)
quantize_static("float.onnx", "stored.onnx", Reader(), activation_type=QuantType.QUInt16, weight_type=QuantType.QInt8)
assert standard_set(onnx.load("stored.onnx")) == 21
np.testing.assert_allclose(sums(onnx.load("stored.onnx")), 1, atol=0.01)
print("as recorded: a Softmax of operator set 12 sums to 3 instead of 1 after MatMulNBitsQuantizer in the QDQ format")
PYTHON
