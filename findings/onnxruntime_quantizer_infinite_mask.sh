#!/bin/sh
# onnxruntime quantizer: an attention mask of minus infinity gets an infinite scale, and the quantized model gives zeros.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: static quantization costs a few steps, or refuses the model. Masks of minus infinity are how PyTorch and others write
# causal attention.
# Seen on 2026-11-28: Add of such a mask, Softmax, MatMul of 4 rows. quantize_static in the QDQ format returns without an error; the scales of
# the mask and of the sum are infinite, and the model gives 0 for every row in onnxruntime. A mask of -100 gives results within 0.06 of numbers up to 1.04.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import logging

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

logging.disable(logging.WARNING)
chance = np.random.default_rng(0)
X, W = (chance.standard_normal(shape).astype(np.float32) for shape in ((1, 4, 4), (4, 4)))


class Reader(CalibrationDataReader):
    """The one input as calibration data."""

    def __init__(self):
        self.inputs = iter([{"x": X}])

    def get_next(self):
        return next(self.inputs, None)


def outputs(masked):
    """Float, quantized, and the scales of the latter."""
    mask = np.triu(np.full((4, 4), masked, np.float32), 1)
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "m"], ["a"]),
            helper.make_node("Softmax", ["a"], ["s"]),
            helper.make_node("MatMul", ["s", "w"], ["y"]),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, X.shape)],
        [numpy_helper.from_array(mask, "m"), numpy_helper.from_array(W, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "float.onnx")
    quantize_static("float.onnx", "stored.onnx", Reader(), activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    scales = {
        tensor.name: numpy_helper.to_array(tensor).max()
        for tensor in onnx.load("stored.onnx").graph.initializer
        if tensor.name.endswith("_scale")
    }
    results = [onnxruntime.InferenceSession(path).run(None, {"x": X})[0] for path in ("float.onnx", "stored.onnx")]
    return *results, scales


logits = np.where(np.triu(np.ones((4, 4)), 1), -np.inf, X[0])
weights = np.exp(logits - logits.max(1, keepdims=True))
expected = weights / weights.sum(1, keepdims=True) @ W
real, stored, scales = outputs(-100)
np.testing.assert_allclose(real[0], expected, atol=1e-5)
assert np.isfinite(list(scales.values())).all()
finite_error = np.abs(stored[0] - expected).max()
real, stored, scales = outputs(-np.inf)
np.testing.assert_allclose(real[0], expected, atol=1e-5)
assert np.isinf(scales["m_scale"])
assert np.isinf(scales["a_scale"])
assert np.all(stored == 0)
assert finite_error < 0.1
print("as recorded: two scales are infinite, and the quantized model gives zeros")
PYTHON
