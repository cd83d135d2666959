#!/bin/sh
# onnx2torch: CumSum without attributes is summed from the end, NonZero is transposed, and IsInf ignores detect_negative.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, torch 2.14.1, torchvision 0.29.1, onnx2torch 1.5.15.
# Expected: the default of reverse is 0, "if set to 1 will perform the sums in reverse direction" (ONNX, CumSum-14). NonZero "behaves similar
# to numpy.nonzero", its result is [rank, N] (NonZero-13). "Set this attribute to 0 if negative infinity should be mapped to false"
# (detect_negative, IsInf-10).
# Seen on 2026-11-29: of 1, 2, 3, 4 onnxruntime computes 1, 3, 6, 10 and the converted module 10, 9, 7, 4; with reverse=0 written down it is
# right. NonZero of [[1, 0, 2], [0, 0, 3]] is [[0, 0, 1], [0, 2, 2]], in the module [[0, 0], [0, 2], [1, 2]]. IsInf of minus infinity
# with detect_negative=0 is true in the module. Nothing is said.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0' 'torch==2.14.1' 'torchvision==0.29.1' 'onnx2torch==1.5.15'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnx2torch
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper


def both(operator, x, kind, shape, axis=None, opset=13, **attributes):
    """The results of onnxruntime and of the module that onnx2torch makes."""
    x = np.array(x, np.float32)
    constants = [] if axis is None else [numpy_helper.from_array(np.array(axis, np.int64), "axis")]
    node = helper.make_node(operator, ["x", *(constant.name for constant in constants)], ["y"], **attributes)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    graph = helper.make_graph([node], "graph", inputs, [helper.make_tensor_value_info("y", kind, shape)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    right = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    return right.tolist(), onnx2torch.convert(model)(torch.from_numpy(x)).numpy().tolist()


right, seen = both("CumSum", [1, 2, 3, 4], TensorProto.FLOAT, [4], 0)
assert right == np.cumsum([1, 2, 3, 4]).tolist() == [1, 3, 6, 10], right
assert seen == [10, 9, 7, 4], seen
right, seen = both("CumSum", [1, 2, 3, 4], TensorProto.FLOAT, [4], 0, reverse=0)
assert right == seen == [1, 3, 6, 10], seen

matrix = [[1, 0, 2], [0, 0, 3]]
right, seen = both("NonZero", matrix, TensorProto.INT64, [2, None])
assert right == np.array(np.nonzero(matrix)).tolist() == [[0, 0, 1], [0, 2, 2]], right
assert seen == np.array(right).T.tolist(), seen

right, seen = both("IsInf", [1, np.inf, -np.inf], TensorProto.BOOL, [3], detect_negative=0)
assert right == [False, True, False], right
assert seen == [False, True, True], seen
print("as recorded: CumSum of 1, 2, 3, 4 is 1, 3, 6, 10, in onnx2torch 10, 9, 7, 4")
PYTHON
