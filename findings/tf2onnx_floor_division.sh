#!/bin/sh
# tf2onnx: // and % of negative integers, right_shift of negative int8 and area resizing are converted to other operators.
#
# Packages: tensorflow 2.21.0, tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: what a converter cannot express it refuses. TensorFlow's floordiv rounds down and floormod has the sign of the divisor,
# for integers, too: -7 // 2 is -4, -7 % 2 is 1 (as in Python). ONNX Div of integers truncates. right_shift of a negative number
# keeps its sign; ONNX BitShift is for unsigned integers. resize(method="area") averages.
# Seen on 2026-11-28: floordiv becomes Div alone: -7 // 2 is -3, 7 // -2 is -3. floormod follows: -7 % 2 is -1, 7 % -2 is 1.
# -100 >> 2 of int8 is 39, by way of uint8. An area resize of 0, 1, 2, 3 to two pixels takes two of its pixels, not the averages.
# No warning.

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


def both(function, *arrays):
    """The results of TensorFlow and of the converted model in onnxruntime."""
    signature = [tf.TensorSpec(array.shape, array.dtype, name=f"x{index}") for index, array in enumerate(arrays)]
    expected = function(*[tf.constant(array) for array in arrays]).numpy()
    model, _ = tf2onnx.convert.from_function(tf.function(function), input_signature=signature, opset=18)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    seen = session.run(None, {f"x{index}": array for index, array in enumerate(arrays)})[0]
    return np.ravel(expected).tolist(), np.ravel(seen).tolist()


@tf.autograph.experimental.do_not_convert
def shift(x):
    return tf.bitwise.right_shift(x, tf.constant(2, tf.int8))


@tf.autograph.experimental.do_not_convert
def halve(x):
    return tf.image.resize(x, (1, 2), "area")


for integer in (np.int32, np.int64):
    x, y = np.array([-7, 7, -7, 8], integer), np.array([2, -2, -3, 3], integer)
    pair = both(tf.math.floordiv, x, y)
    assert pair == ([-4, -4, 2, 2], [-3, -3, 2, 2]), pair
    pair = both(tf.math.floormod, x, y)
    assert pair == ([1, -1, -1, 2], [-1, 1, -1, 2]), pair
pair = both(shift, np.array([100, -100], np.int8))
assert pair == ([25, -25], [25, 39]), pair
pair = both(halve, np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1))
assert pair == ([0.5, 2.5], [0, 2]), pair
print("as recorded: -7 // 2 and -7 % 2 are -4 and 1 in TensorFlow, -3 and -1 in the model that tf2onnx writes")
PYTHON
