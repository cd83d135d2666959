#!/bin/sh
# MNN: auto_pad=SAME_LOWER of Conv and ConvTranspose is computed as SAME_UPPER.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, MNN 3.6.1.
# Expected: "the padding is split between the two sides equally or almost equally (...). In case the padding is an odd number, the extra
# padding is added at the end for SAME_UPPER and at the beginning for SAME_LOWER" (ONNX, Conv-11). A kernel of 2x2 needs one padding: with
# a weight of 1 at its first place and SAME_LOWER the image is shifted down and right by one.
# Seen on 2026-11-29: onnxruntime shifts the image; the model that mnnconvert writes returns it unshifted, which is right for SAME_UPPER. A
# ConvTranspose of [1, 2] with the kernel 1, 10, 100 and stride 2 is 10, 102, 20, 200 with SAME_LOWER, and in MNN 1, 10, 102, 20, as with
# SAME_UPPER. mnnconvert reports no error.

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
IMAGE = np.arange(1, 10, dtype=f).reshape(1, 1, 3, 3)
SHIFTED = np.zeros((1, 1, 3, 3), f)
SHIFTED[..., 1:, 1:] = IMAGE[..., :-1, :-1]
FIRST = np.array([[[[1, 0], [0, 0]]]], f)
for auto_pad, expected in (("SAME_UPPER", IMAGE), ("SAME_LOWER", SHIFTED)):
    right, seen = both("Conv", {"x": IMAGE}, {"w": FIRST}, [1, 1, 3, 3], auto_pad=auto_pad)
    assert np.array_equal(right, expected), right
    assert np.allclose(seen, IMAGE), (auto_pad, seen)

PAIR, KERNEL = np.array([[[[1, 2]]]], f), np.array([[[[1, 10, 100]]]], f)
whole = np.convolve([1, 0, 2], [1, 10, 100])
assert whole.tolist() == [1, 10, 102, 20, 200]
for auto_pad, expected in (("SAME_UPPER", whole[:4]), ("SAME_LOWER", whole[1:])):
    right, seen = both("ConvTranspose", {"x": PAIR}, {"w": KERNEL}, [1, 1, 1, 4], auto_pad=auto_pad, strides=[1, 2])
    assert np.array_equal(right.ravel(), expected), right
    assert np.allclose(seen.ravel(), whole[:4]), (auto_pad, seen)
print("as recorded: in MNN a convolution with SAME_LOWER is the same as with SAME_UPPER")
PYTHON
