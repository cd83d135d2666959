#!/bin/sh
# OpenVINO: BitShift to the left saturates instead of dropping the bits that are shifted out.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: a shift of bits (ONNX, BitShift): what is shifted out is lost, 200 << 1 of uint8 is 144.
# Seen on 2026-11-28: [200, 129, 3] << 1 is [144, 2, 6] in onnxruntime and in the reference evaluator and [255, 255, 6] in OpenVINO,
# which multiplies by a power of two and converts with saturation. To the right it is the same in all.

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
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

INPUTS = {"x": np.array([200, 129, 3], np.uint8), "amount": np.array([1, 1, 1], np.uint8)}


def outputs(direction):
    """onnxruntime, reference evaluator, OpenVINO."""
    graph = helper.make_graph(
        [helper.make_node("BitShift", ["x", "amount"], ["y"], direction=direction)],
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, [3]) for name in INPUTS],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    results = session.run(None, INPUTS)[0], ReferenceEvaluator(model).run(None, INPUTS)[0], compiled(INPUTS)[0]
    return [result.tolist() for result in results]


assert outputs("RIGHT") == [[100, 64, 1]] * 3, outputs("RIGHT")
seen = outputs("LEFT")
assert seen == [[144, 2, 6], [144, 2, 6], [255, 255, 6]], seen
print("as recorded: 200 << 1 of uint8 is 144 in onnxruntime and 255 in OpenVINO")
PYTHON
