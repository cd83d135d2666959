#!/bin/sh
# onnx reference evaluator: GlobalMaxPool of a volume keeps one dimension too many, and MaxPool reads pads in another order.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: "The output tensor has the same rank as the input. The first two dimensions of output shape are the same as the input (N x C),
# while the other dimensions are all 1" (ONNX, GlobalMaxPool-22); pads is "[x1_begin, x2_begin...x1_end, x2_end,...]" (MaxPool-12): with
# pads=[1, 1, 0, 0] and a kernel of 2x2 an image of 3x3 gets one row above and one column to the left, and the result is 3x3.
# Seen on 2026-11-29: onnxruntime agrees with NumPy. Of the volume [1, 1, 2, 2, 2] of 0 to 7 the reference evaluator returns 3 and 7, in
# the shape [1, 1, 2, 1, 1, 1], instead of 7 in [1, 1, 1, 1, 1]. Of the image it returns 4x2: it pads one row above and one
# below, as pads=[1, 0, 1, 0] says. AveragePool with the same pads is right.

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
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def both(operator, x, shape, **attributes):
    """The results of onnxruntime and of the reference evaluator."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "graph", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    right = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    return right, ReferenceEvaluator(model).run(None, {"x": x})[0]


def padded_maximum(image, top, left, bottom, right):
    padded = np.pad(image, ((top, bottom), (left, right)), constant_values=-np.inf)
    return np.lib.stride_tricks.sliding_window_view(padded, (2, 2)).max((-1, -2))


volume = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
right, seen = both("GlobalMaxPool", volume, [1, 1, 1, 1, 1])
assert right.shape == (1, 1, 1, 1, 1) and right.ravel().tolist() == [volume.max()] == [7], right
assert seen.shape == (1, 1, 2, 1, 1, 1) and seen.ravel().tolist() == [3, 7], seen
right, seen = both("GlobalAveragePool", volume, [1, 1, 1, 1, 1])
assert right.shape == seen.shape and right.ravel().tolist() == seen.ravel().tolist() == [3.5], seen

image = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
pads = {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}
right, seen = both("MaxPool", image, [1, 1, 3, 3], **pads)
assert np.array_equal(right[0, 0], padded_maximum(image[0, 0], 1, 1, 0, 0)), right
assert np.array_equal(seen[0, 0], padded_maximum(image[0, 0], 1, 0, 1, 0)) and seen.shape == (1, 1, 4, 2), seen
right, seen = both("AveragePool", image, [1, 1, 3, 3], **pads)
assert np.allclose(right, seen), seen
print("as recorded: MaxPool with pads=[1, 1, 0, 0] of 3x3 is 3x3, in the reference evaluator 4x2")
PYTHON
