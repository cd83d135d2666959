#!/bin/sh
# Resize with align_corners and a scale that has to be rounded: onnx's reference evaluator does not align the corners,
# onnxruntime does.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: x_original = x_resized * (length_original - 1) / (length_resized - 1) with "length_resized as the length of the
# resized tensor" (ONNX, Resize). 5 elements times 1.7 are 8 elements: the last one of the result is the last one of the input.
# With `sizes` of 8 both give that.
# Seen on 2026-11-28: given the scale, the reference evaluator divides by 5 * 1.7 - 1 = 7.5 instead of 7, so 0, 1, 2, 3, 4
# ends at 3.7333 instead of 4. The conformance test resize_downsample_scales_linear_align_corners of onnx expects the same.
# onnxruntime gives 4. torch.onnx.export writes the scale of interpolate(scale_factor=1.7, align_corners=True), which in
# PyTorch means the rounded length, too.

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
from onnx.reference import ReferenceEvaluator


def results(name, target):
    """What the reference evaluator and onnxruntime make of 0, 1, 2, 3, 4 for this scale or size."""
    inputs = ["x", "", "target"] if name == "scales" else ["x", "", "", "target"]
    graph = helper.make_graph(
        [helper.make_node("Resize", inputs, ["y"], mode="linear", coordinate_transformation_mode="align_corners")],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 1, 8])],
        [numpy_helper.from_array(target, "target")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 1, 5)
    reference = ReferenceEvaluator(model).run(None, {"x": x})[0].ravel()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return reference, session.run(None, {"x": x})[0].ravel()


aligned = np.arange(8) * 4 / 7
for found in results("sizes", np.array([1, 1, 1, 8], np.int64)):
    np.testing.assert_allclose(found, aligned, rtol=0, atol=1e-5)
reference, runtime = results("scales", np.array([1, 1, 1, 1.7], np.float32))
np.testing.assert_allclose(runtime, aligned, rtol=0, atol=1e-5)
np.testing.assert_allclose(reference, np.arange(8) * 4 / 7.5, rtol=0, atol=1e-5)
print(f"as recorded: the last of 8 elements is {reference[-1]:.4f} in the reference evaluator, {runtime[-1]:.4f} in onnxruntime")
PYTHON
