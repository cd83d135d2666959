#!/bin/sh
# OpenVINO: a one-sided DFT of a real signal has one dimension too many.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, openvino 2026.4.1.
# Expected: the input [1, 8, 1] is a real signal of 8 numbers; its DFT has the shape [1, 8, 2], and with onesided=1 [1, 5, 2]: as many
# dimensions as the input, the last is 2, and "signal_dim_axis = floor(dft_length/2) + 1" (ONNX, DFT-17 and DFT-20).
# Seen on 2026-11-28: onnxruntime and the reference evaluator return [1, 5, 2], OpenVINO [1, 5, 1, 2] with the same numbers. The last
# dimension of the input stays when onesided is 1; without onesided it is right. A node behind it that counts on the rank fails or
# broadcasts: a sum with the one-sided DFT of the same signal, given as a constant, is [1, 5, 5, 2].

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
from onnx.reference import ReferenceEvaluator

X = np.arange(1, 9, dtype=np.float32).reshape(1, 8, 1)
HALF = np.stack([np.fft.rfft(X[..., 0]).real, np.fft.rfft(X[..., 0]).imag], -1).astype(np.float32)


def outputs(opset, onesided):
    """The DFT, and its sum with a constant DFT: onnxruntime, reference evaluator, OpenVINO."""
    inputs = ["x", "", "axis"] if opset == 20 else ["x"]
    attributes = {} if opset == 20 else {"axis": 1}
    nodes = [helper.make_node("DFT", inputs, ["y"], onesided=onesided, **attributes)]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5 if onesided else 8, 2])]
    constants = [numpy_helper.from_array(np.array(1, np.int64), "axis")] if opset == 20 else []
    if onesided:
        nodes.append(helper.make_node("Add", ["y", "half"], ["sum"]))
        results.append(helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1, 5, 2]))
        constants.append(numpy_helper.from_array(HALF, "half"))
    graph = helper.make_graph(nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 1])], results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    seen = compiled({"x": X})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    reference = ReferenceEvaluator(model).run(None, {"x": X})
    return session.run(None, {"x": X}), reference, [seen[index] for index in range(len(results))]


for opset in (17, 20):
    runtime, reference, seen = outputs(opset, 1)
    for right in (runtime, reference):
        assert [array.shape for array in right] == [(1, 5, 2), (1, 5, 2)], right
        assert np.allclose(right[0], HALF, atol=1e-4) and np.allclose(right[1], 2 * HALF, atol=1e-4), right
    assert [array.shape for array in seen] == [(1, 5, 1, 2), (1, 5, 5, 2)], seen
    assert np.allclose(seen[0].reshape(1, 5, 2), HALF, atol=1e-4), seen[0]
    runtime, reference, seen = outputs(opset, 0)
    assert runtime[0].shape == reference[0].shape == seen[0].shape == (1, 8, 2), seen
    assert np.allclose(runtime[0], seen[0], atol=1e-4), seen
print("as recorded: the one-sided DFT of [1, 8, 1] is [1, 5, 2] in onnxruntime and [1, 5, 1, 2] in OpenVINO")
PYTHON
