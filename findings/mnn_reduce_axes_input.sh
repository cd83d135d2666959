#!/bin/sh
# MNN: ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum and ReduceLogSumExp of opset 18 are computed over all axes.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, MNN 3.6.1.
# Expected: from opset 18 on the axes are the second input, as they are of ReduceSum from 13 on (ONNX, ReduceL1-18 and the others).
# Over the axis 1 of [[1, 2], [3, 4]] with keepdims=0 the sum of absolute values is [3, 7].
# Seen on 2026-11-29: onnxruntime computes [3, 7]; the model that mnnconvert writes gives a single 10, the sum of the whole tensor, and
# the other four operators likewise. ReduceSum, ReduceMean, ReduceMax, ReduceMin and ReduceProd with the same axes are right.
# mnnconvert reports no error.

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


X = np.array([[1, 2], [3, 4]], np.float32)
FUNCTIONS = {
    "ReduceSum": lambda axis: X.sum(axis),
    "ReduceMean": lambda axis: X.mean(axis),
    "ReduceMax": lambda axis: X.max(axis),
    "ReduceMin": lambda axis: X.min(axis),
    "ReduceProd": lambda axis: X.prod(axis),
    "ReduceL1": lambda axis: np.abs(X).sum(axis),
    "ReduceL2": lambda axis: np.sqrt((X * X).sum(axis)),
    "ReduceSumSquare": lambda axis: (X * X).sum(axis),
    "ReduceLogSum": lambda axis: np.log(X.sum(axis)),
    "ReduceLogSumExp": lambda axis: np.log(np.exp(X).sum(axis)),
}

for position, (operator, function) in enumerate(FUNCTIONS.items()):
    right, seen = both(operator, {"x": X}, {"axes": np.array([1])}, [2], keepdims=0)
    assert right.shape == (2,) and np.allclose(right, function(1), atol=1e-4), (operator, right)
    if position < 5:
        assert np.allclose(seen, right, atol=1e-4), (operator, seen)
    else:
        assert seen.size == 1 and np.allclose(seen, function(None), atol=1e-3), (operator, seen)
print("as recorded: ReduceL1 over one axis of [[1, 2], [3, 4]] is [3, 7], in MNN 10")
PYTHON
