#!/bin/sh
# tf2onnx: empty segments are NaN or infinite instead of 0, and entries with a negative segment are put into the last one.
#
# Packages: tensorflow 2.21.0, tf2onnx 1.17.0, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: "If the mean is empty for a given segment ID i, output[i] = 0" (documentation of tf.math.segment_mean; the same of
# segment_max and segment_min). "If the given segment ID i is negative, the value is dropped" (documentation of
# tf.math.unsorted_segment_sum).
# Seen on 2026-11-28: the segments 0, 0, 2, 2 of [1, 2, 3, 4]: the empty segment 1 is 0 in TensorFlow; in the converted model it is NaN
# (segment_mean), minus infinity (segment_max) and infinity (segment_min); segment_sum is right. With the segments 0, -1, 2, 2 of four,
# unsorted_segment_sum is [1, 0, 7, 0] in TensorFlow and [1, 0, 7, 2] in the converted model, the mean and the product
# likewise. No warning.

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

onnxruntime.set_default_logger_severity(4)
X = np.array([1, 2, 3, 4], np.float32)


def both(function, segments):
    """The results of TensorFlow and of the converted model in onnxruntime."""
    arrays = {"x": X, "segments": np.array(segments, np.int32)}
    signature = [tf.TensorSpec(array.shape, array.dtype, name=name) for name, array in arrays.items()]
    expected = function(*[tf.constant(array) for array in arrays.values()]).numpy()
    model, _ = tf2onnx.convert.from_function(tf.function(function, autograph=False), input_signature=signature, opset=18)
    return expected.tolist(), onnxruntime.InferenceSession(model.SerializeToString()).run(None, arrays)[0].tolist()


for function, right, wrong in (
    (tf.math.segment_sum, [3, 0, 7], 0),
    (tf.math.segment_mean, [1.5, 0, 3.5], np.nan),
    (tf.math.segment_max, [2, 0, 4], -np.inf),
    (tf.math.segment_min, [1, 0, 3], np.inf),
):
    expected, seen = both(lambda x, segments: function(x, segments), [0, 0, 2, 2])
    assert expected == right, expected
    assert np.array_equal(seen, [right[0], wrong, right[2]], equal_nan=True), (function, seen)

for function, right in (
    (tf.math.unsorted_segment_sum, [1, 0, 7, 0]),
    (tf.math.unsorted_segment_mean, [1, 0, 3.5, 0]),
    (tf.math.unsorted_segment_prod, [1, 1, 12, 1]),
):
    expected, seen = both(lambda x, segments: function(x, segments, 4), [0, -1, 2, 2])
    assert expected == right and seen == [*right[:3], 2], (function, expected, seen)
    expected, seen = both(lambda x, segments: function(x, segments, 4), [0, 1, 2, 2])
    assert expected == seen, (function, expected, seen)
print("as recorded: the mean of an empty segment is 0 in TensorFlow and NaN in the model that tf2onnx writes")
PYTHON
