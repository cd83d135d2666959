#!/bin/sh
# tf2onnx: scatter_nd keeps one of the values for an index that comes twice, and one_hot counts negative indices from the end.
#
# Packages: tensorflow 2.21.0, tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: tf.scatter_nd adds the values of equal indices up (its documentation); ONNX ScatterND without a reduction does not define
# which of them is kept, with reduction="add" (opset 16) it does the same as TensorFlow. tf.one_hot gives a row of the off value for an
# index out of range, and -1 is out of range; for ONNX OneHot, -1 is the last class. -1 is a usual mark for "no label".
# Seen on 2026-11-28, opset 18: scatter_nd becomes ScatterND without a reduction, one_hot becomes OneHot alone; no warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'tensorflow==2.21.0' 'tf2onnx==1.17.0' 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx


@tf.autograph.experimental.do_not_convert
def scatter(x):
    return tf.scatter_nd([[1], [1], [3]], x, [5])


@tf.autograph.experimental.do_not_convert
def one_hot(x):
    return tf.one_hot(x, 3)


def both(function, array):
    """The results of TensorFlow and of the converted model in onnxruntime."""
    signature = [tf.TensorSpec(array.shape, array.dtype, name="x")]
    expected = function(tf.constant(array)).numpy()
    model, _ = tf2onnx.convert.from_function(tf.function(function), input_signature=signature, opset=18)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return expected.tolist(), session.run(None, {"x": array})[0].tolist()


pair = both(scatter, np.array([1, 2, 4], np.float32))
assert pair == ([0, 3, 0, 4, 0], [0, 2, 0, 4, 0]), pair
pair = both(one_hot, np.array([1, -1, 7], np.int32))
assert pair == ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]), pair
print("as recorded: scatter_nd of 1 and 2 to one place is 3 in TensorFlow and 2 behind tf2onnx; one_hot(-1) marks the last class")
PYTHON
