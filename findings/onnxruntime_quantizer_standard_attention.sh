#!/bin/sh
# onnxruntime quantizer: quantize_dynamic makes com.microsoft.QAttention of the standard's Attention, whose operands are others.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: Attention of the standard (operator set 23, as torch.onnx.export writes it) has the inputs Q, K and V, and com.microsoft.Attention
# the inputs x, weights and bias. The quantizer knows the latter; another operator is left as it is.
# Seen on 2026-11-28: MatMul, Attention(a, a, a) of operator set 23 runs in float. quantize_dynamic with its defaults returns a model with a
# com.microsoft.QAttention that reads Q as x, K as weights and V as bias and has no num_heads: onnxruntime refuses it as invalid. Without
# Attention in op_types_to_quantize the quantized model runs.

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
from onnxruntime.quantization import quantize_dynamic

logging.disable(logging.WARNING)
chance = np.random.default_rng(0)
X, W = chance.standard_normal((2, 3, 32)).astype(np.float32), 0.1 * chance.standard_normal((32, 4)).astype(np.float32)


def run(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options).run(None, {"x": X})[0]


attention = helper.make_node("Attention", ["a", "a", "a"], ["y"], q_num_heads=2, kv_num_heads=2)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["a"]), attention],
    "graph",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3, 4])],
    [numpy_helper.from_array(W, "w")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
onnx.checker.check_model(model, full_check=True)
onnx.save(model, "float.onnx")
real = run("float.onnx")
quantize_dynamic("float.onnx", "products.onnx", op_types_to_quantize=["MatMul"])
np.testing.assert_allclose(run("products.onnx"), real, atol=0.05)
quantize_dynamic("float.onnx", "stored.onnx")
(made,) = (node for node in onnx.load("stored.onnx").graph.node if node.op_type == "QAttention")
assert made.domain == "com.microsoft"
assert not any(attribute.name == "num_heads" for attribute in made.attribute)
try:
    run("stored.onnx")
except Exception as error:
    assert "QAttention" in str(error)
else:
    raise AssertionError("onnxruntime runs the model")
print("as recorded: the quantized model has a QAttention without num_heads, which onnxruntime refuses")
PYTHON
