#!/bin/sh
# onnxruntime: a session for int8 Q-DQ-Reshape-MatMul of opset 21 cannot be made with the default optimization.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, on x86-64.
# Expected: what runs with ORT_DISABLE_ALL runs with the default. QuantizeLinear has an attribute output_dtype since opset 21.
# Seen on 2026-11-28: InferenceSession fails with "output_dtype INT8 does not match y_zero_point type UINT8" for a node that the
# model does not hold: the optimizer copies the pair behind the Reshape, with output_dtype, and another step then turns int8
# into uint8, the zero point but not the attribute. With uint8, with opset 20, or without the Reshape, the same model loads. Way out:
# the session option session.disable_quant_qdq=1.

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

onnxruntime.set_default_logger_severity(4)
LEVELS = onnxruntime.GraphOptimizationLevel


def run(element_type, opset, level=LEVELS.ORT_ENABLE_ALL, reshape=True, **entries):
    """The output, or the message."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero_point"], ["d"]),
        helper.make_node("Reshape", ["d", "shape"], ["r"]) if reshape else helper.make_node("Neg", ["d"], ["r"]),
        helper.make_node("MatMul", ["r", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2, 2] if reshape else [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        [
            numpy_helper.from_array(np.array(0.5, np.float32), "scale"),
            numpy_helper.from_array(np.array(0, element_type), "zero_point"),
            numpy_helper.from_array(np.eye(4, dtype=np.float32), "w"),
        ]
        + ([numpy_helper.from_array(np.array([2, 4]), "shape")] if reshape else []),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    for key, value in entries.items():
        options.add_session_config_entry(key.replace("__", "."), value)
    x = np.arange(8, dtype=np.float32).reshape([2, 2, 2] if reshape else [2, 4])
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0].ravel().tolist()
    except Exception as error:
        return str(error)


values = [0, 1, 2, 3, 4, 5, 6, 7]
message = run(np.int8, 21)
assert "output_dtype INT8 does not match y_zero_point type UINT8" in message, message
assert run(np.int8, 21, LEVELS.ORT_DISABLE_ALL) == values
assert run(np.int8, 20) == values
assert run(np.uint8, 21) == values
assert run(np.int8, 21, reshape=False) == [-value for value in values]
assert run(np.int8, 21, session__disable_quant_qdq="1") == values
print("as recorded: int8 Q-DQ-Reshape-MatMul, opset 21: no session with the default optimization, right without it")
PYTHON
