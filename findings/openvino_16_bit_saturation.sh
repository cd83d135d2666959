#!/bin/sh
# OpenVINO: a pair of QuantizeLinear and DequantizeLinear of 16 bits is removed together with its saturation.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: QuantizeLinear saturates to the range of its type (ONNX, QuantizeLinear): with uint16 and zero point 0 the pair is a Relu,
# too. Quantizers count on this and remove a Relu in front of such a pair.
# Seen on 2026-11-28: [-3, -1, 1, 3] through the pair and a MatMul with the identity is [0, 0, 1, 3] in onnxruntime and [-3, -1, 1, 3]
# in OpenVINO. The same with int16 and zero point -32768; with uint8 OpenVINO saturates. A QuantizeLinear of 16 bits whose
# result is the model's output saturates, too; only the pair is removed. The rounding to the step goes with it.

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

X = np.array([[-3, -1, 1, 3]], np.float32)


def outputs(zero_point):
    """Quantize, dequantize, multiply by the identity: onnxruntime and OpenVINO."""
    graph = helper.make_graph(
        [
            helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero_point"], ["d"]),
            helper.make_node("MatMul", ["d", "w"], ["y"]),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [
            numpy_helper.from_array(np.array(0.0625, np.float32), "scale"),
            numpy_helper.from_array(zero_point, "zero_point"),
            numpy_helper.from_array(np.eye(4, dtype=np.float32), "w"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": X})[0].ravel().tolist(), compiled({"x": X})[0].ravel().tolist()


seen = [outputs(np.array(value, kind)) for value, kind in ((0, np.uint8), (0, np.uint16), (-32768, np.int16))]
assert seen[0] == ([0, 0, 1, 3], [0, 0, 1, 3]), seen[0]
for pair in seen[1:]:
    assert pair == ([0, 0, 1, 3], [-3, -1, 1, 3]), pair
print("as recorded: a uint16 pair with zero point 0 makes -3 to 0 in onnxruntime, and lets it through in OpenVINO")
PYTHON
