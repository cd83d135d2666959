#!/bin/sh
# MNN: Shrink makes all negative values 0, Mod ignores fmod, and PRelu takes a slope of the last axis as one of the channels.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, MNN 3.6.1.
# Expected: "If x < -lambd, y = x + bias; If x > lambd, y = x - bias; Otherwise, y = 0" (ONNX, Shrink-9). With fmod=1 the sign of Mod is that
# of the dividend (Mod-13). The slope of PRelu is "unidirectional broadcastable to input tensor X" (PRelu-16), so a slope of the
# shape [3] belongs to the last axis of [1, 3, 1, 3].
# Seen on 2026-11-29: Shrink of -2, -0.5, 0.5, 2 with lambd=1 and bias=0.5 is -1.5, 0, 0, 1.5 and in MNN 0, 0, 0, 1.5. The remainders of
# -5 by 3 and 5 by -3 with fmod=1 are -2 and 2, and in MNN 1 and -1. PRelu of minus ones with the slopes 0.1, 0.2, 0.3 is -0.1, -0.2,
# -0.3 along the last axis, in MNN along the channels. mnnconvert reports no error.

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
right, seen = both("Shrink", {"x": np.array([-2, -0.5, 0.5, 2], f)}, {}, [4], lambd=1.0, bias=0.5)
assert right.tolist() == [-1.5, 0, 0, 1.5] and seen.tolist() == [0, 0, 0, 1.5], seen

dividend, divisor = np.array([-5, 5], f), np.array([3, -3], f)
right, seen = both("Mod", {"a": dividend, "b": divisor}, {}, [2], fmod=1)
assert right.tolist() == np.fmod(dividend, divisor).tolist() == [-2, 2], right
assert seen.tolist() == np.mod(dividend, divisor).tolist() == [1, -1], seen

slope = np.array([0.1, 0.2, 0.3], f)
negative = -np.ones((1, 3, 1, 3), f)
right, seen = both("PRelu", {"x": negative}, {"slope": slope}, [1, 3, 1, 3])
assert np.allclose(right, negative * slope), right
assert np.allclose(seen, negative * slope.reshape(3, 1, 1)), seen
print("as recorded: Shrink of -2 with lambd=1 and bias=0.5 is -1.5, in MNN 0")
PYTHON
