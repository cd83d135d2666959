#!/bin/sh
# tf2onnx: the model of a resize from 5 to 7 pixels cannot be run if the image has one channel.
#
# Packages: tensorflow 2.21.0, tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: tf.image.resize gives the size that is asked for, for any number of channels, and so does the converted model.
# Seen on 2026-11-28: with two channels the model agrees with TensorFlow. With one channel it fails when it runs: the Transpose back
# to NHWC is written as a Reshape, whose shape is computed again from the scale: 5 times the float32 next to 1.4, rounded down, is 6
# instead of 7. onnxruntime computes 7 in float32, and the Reshape of 7 to 6 fails. From 4 to 7 pixels, whose scale is exact, all is right.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'tensorflow==2.21.0' 'tf2onnx==1.17.0' 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx
from onnx import numpy_helper

logging.disable(logging.WARNING)
onnxruntime.set_default_logger_severity(4)


def convert(width, channels, method):
    """TensorFlow's result, the converted model, and its input."""
    x = np.arange(width * channels, dtype=np.float32).reshape(1, 1, width, channels)
    function = tf.function(lambda x: tf.image.resize(x, (1, 7), method), autograph=False)
    model, _ = tf2onnx.convert.from_function(function, input_signature=[tf.TensorSpec(x.shape, x.dtype, name="x")], opset=18)
    return function(x).numpy(), model, x


for method in ("bilinear", "nearest"):
    for width, channels in ((5, 2), (4, 1)):
        expected, model, x = convert(width, channels, method)
        seen = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
        assert expected.shape == (1, 1, 7, channels) and np.allclose(seen, expected, atol=1e-5), (method, width, channels, seen)
    expected, model, x = convert(5, 1, method)
    assert expected.shape == (1, 1, 7, 1), expected.shape
    constants = {constant.name: numpy_helper.to_array(constant).tolist() for constant in model.graph.initializer}
    last = model.graph.node[-1]
    assert last.op_type == "Reshape" and constants[last.input[1]] == [1, 1, 6, 1], (last, constants)
    try:
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    except Exception as error:
        assert "Reshape" in str(error), error
    else:
        raise AssertionError("the model runs now")
print("as recorded: a resize from 5 to 7 pixels of one channel ends with a Reshape to 6")
PYTHON
