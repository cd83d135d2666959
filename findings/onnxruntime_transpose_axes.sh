#!/bin/sh
# onnxruntime: a Transpose in front of Pad or Resize with `axes` is moved behind it, and the axes are forgotten.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: the same result at every optimization level. With `axes`, the pads and scales are in the order of these axes, not of the
# dimensions (ONNX, Pad-18 and Resize-18).
# Seen on 2026-11-28: NCHW to NHWC, operator, back to NCHW. Resize with axes=[3, 2, 1, 0] and scales [1, 2, 1, 1] makes [1, 2, 3, 4]
# to [1, 2, 3, 8] without the optimizer and to [1, 4, 3, 4] with it (the default): the transpose optimizer permutes the scales as if
# they belonged to dimensions 0 to 3. Pad in the same way. With axes=[1, 2] there are only two scales and the default session
# fails at run time: "indices element out of data bounds". Without `axes` both agree.

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
X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


def outputs(operator, values, axes):
    """NCHW to NHWC, Pad or Resize, and back: without and with the optimizer."""
    if operator == "Pad":
        inputs, attributes = ["t", "values", "", "axes"] if axes else ["t", "values"], {}
    else:
        inputs, attributes = ["t", "", "values"], {"mode": "nearest"} | ({"axes": axes} if axes else {})
    initializers = [numpy_helper.from_array(values, "values")]
    if operator == "Pad" and axes:
        initializers.append(numpy_helper.from_array(np.array(axes), "axes"))
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
            helper.make_node(operator, inputs, ["u"], **attributes),
            helper.make_node("Transpose", ["u"], ["y"], perm=[0, 3, 1, 2]),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "c", "h", "w"])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        try:
            yield session.run(None, {"x": X})[0].shape
        except Exception as error:
            yield str(error)


scales = np.array([1, 2, 1, 1], np.float32)
pads = np.array([1, 0, 0, 0, 0, 0, 0, 0])
assert list(outputs("Resize", scales, None)) == [(1, 2, 6, 4), (1, 2, 6, 4)]
seen = list(outputs("Resize", scales, [3, 2, 1, 0]))
assert seen == [(1, 2, 3, 8), (1, 4, 3, 4)], seen
seen = list(outputs("Pad", pads, [3, 2, 1, 0]))
assert seen == [(1, 3, 3, 4), (1, 2, 3, 5)], seen
for operator, values in (("Resize", np.array([2, 2], np.float32)), ("Pad", np.array([1, 1, 1, 1]))):
    plain, optimized = outputs(operator, values, [1, 2])
    assert isinstance(plain, tuple) and "out of data bounds" in optimized, (plain, optimized)
print("as recorded: Resize with axes between two Transposes gives (1, 2, 3, 8), and (1, 4, 3, 4) when the graph is optimized")
PYTHON
