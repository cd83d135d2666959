#!/bin/sh
# MNN: Gemm with transA=1 and constant weights reads its input untransposed, and adds a column as C as if it were a row.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, MNN 3.6.1.
# Expected: Y = alpha * A' * B' + beta * C; A' is the transpose of A if transA is not zero, and C is "unidirectional broadcastable to (M, N)"
# (ONNX, Gemm-13). With B the unit matrix, Y is the transpose of A, plus C.
# Seen on 2026-11-29: of A = [[1, 2, 3], [4, 5, 6]] with transA=1 onnxruntime computes [[1, 4], [2, 5], [3, 6]], MNN [[1, 2], [3, 4], [5, 6]]:
# the numbers of A in their order, in the shape of the transpose. Without transA, [[1, 2], [3, 4]] plus the column [[10], [20]] is
# [[11, 12], [23, 24]], in MNN [[11, 22], [13, 24]], the sum with the row 10, 20. mnnconvert reports no error.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0' 'MNN==3.6.1'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import pathlib
import subprocess
import sys

import MNN.expr
import MNN.nn
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def both(operator, feeds, constants, shape, **attributes):
    """The results of onnxruntime and of MNN for a model of one node."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.float32))
    inputs = [helper.make_tensor_value_info(name, kind, array.shape) for name, array in feeds.items()]
    outputs = [helper.make_tensor_value_info("y", kind, shape)]
    node = helper.make_node(operator, [*feeds, *constants], ["y"], **attributes)
    graph = helper.make_graph([node], "graph", inputs, outputs, [numpy_helper.from_array(a, name) for name, a in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    converter = pathlib.Path(sys.executable).with_name("mnnconvert")
    command = [converter, "-f", "ONNX", "--modelFile", "model.onnx", "--MNNModel", "model.mnn", "--bizCode", "x"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    module = MNN.nn.load_module_from_file("model.mnn", list(feeds), ["y"])
    variables = [MNN.expr.const(array, list(array.shape), MNN.expr.NCHW, MNN.expr.float) for array in feeds.values()]
    seen = MNN.expr.convert(module.forward(variables)[0], MNN.expr.NCHW)
    return onnxruntime.InferenceSession("model.onnx").run(None, feeds)[0], np.array(seen.read())


f = np.float32
A, UNIT = np.array([[1, 2, 3], [4, 5, 6]], f), np.eye(2, dtype=f)
right, seen = both("Gemm", {"a": np.ascontiguousarray(A.T)}, {"b": UNIT}, [3, 2])
assert np.array_equal(right, A.T) and np.allclose(seen, A.T), seen
right, seen = both("Gemm", {"a": A}, {"b": UNIT}, [3, 2], transA=1)
assert np.array_equal(right, A.T), right
assert np.allclose(seen, A.reshape(3, 2)), seen

SQUARE = np.array([[1, 2], [3, 4]], f)
row, column = np.array([[10, 20]], f), np.array([[10], [20]], f)
right, seen = both("Gemm", {"a": SQUARE}, {"b": UNIT, "c": row}, [2, 2])
assert np.array_equal(right, SQUARE + row) and np.allclose(seen, SQUARE + row), seen
right, seen = both("Gemm", {"a": SQUARE}, {"b": UNIT, "c": column}, [2, 2])
assert np.array_equal(right, SQUARE + column), right
assert np.allclose(seen, SQUARE + row), seen
print("as recorded: Gemm with transA=1 of [[1, 2, 3], [4, 5, 6]] and the unit matrix gives [[1, 2], [3, 4], [5, 6]] in MNN")
PYTHON
