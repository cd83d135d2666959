#!/bin/sh
# TensorFlow Lite: an int8 LSTM whose cell state stays below 0.5 in calibration is converted, and LiteRT computes no tanh of it.
#
# Packages: tensorflow 2.21.0, tf_keras 2.21.0, ai-edge-litert 2.3.0.
# Expected: outputs within a few steps of int8 of the float model's, as post-training quantization gives them; or an error.
# Seen on 2026-11-29: the converter gives the cell state the scale 2^-16, for which the kernel has no tanh (it has those for 2^-15 to
# 2^-9). Nothing is said. The outputs are 231 steps of int8 away from those of the float model. With inputs of eight times the size
# the cell state has the scale 2^-14, and the outputs are 1 step away.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'tensorflow==2.21.0' 'tf_keras==2.21.0' 'ai-edge-litert==2.3.0'
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES='' "$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import numpy as np
import tensorflow as tf
import tf_keras
from ai_edge_litert.interpreter import Interpreter


def largest_error(factor):
    """In steps of the output, and the scale of the cell state."""
    draw = np.random.default_rng(0)
    model = tf_keras.Sequential([tf_keras.layers.Input((6, 5)), tf_keras.layers.LSTM(4)])
    model.set_weights([draw.uniform(-0.25, 0.25, weight.shape) for weight in model.get_weights()])
    samples = [(factor * draw.uniform(-1, 1, (1, 6, 5))).astype(np.float32) for _ in range(20)]
    function = tf.function(lambda x: model(x), input_signature=[tf.TensorSpec([1, 6, 5])])
    model.save("saved", save_format="tf", signatures=function.get_concrete_function())
    converter = tf.lite.TFLiteConverter.from_saved_model("saved")
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    runner = Interpreter(model_content=converter.convert())
    runner.allocate_tensors()
    (scale,) = {
        item["quantization"][0]
        for item in runner.get_tensor_details()
        if item["dtype"] is np.int16 and item["quantization"][0] > 0
    }
    output = runner.get_output_details()[0]
    step = next(item["quantization"][0] for item in runner.get_tensor_details() if tuple(item["shape"]) == (1, 6, 4))
    errors = []
    for sample in samples:
        runner.reset_all_variables()
        runner.set_tensor(runner.get_input_details()[0]["index"], sample)
        runner.invoke()
        errors.append(np.abs(runner.get_tensor(output["index"]) - model(sample).numpy()).max() / step)
    return max(errors), scale


small, small_scale = largest_error(1)
large, large_scale = largest_error(8)
assert small_scale <= 2.0**-16 and small > 128, (small, small_scale)
assert 2.0**-15 <= large_scale <= 2.0**-9 and large < 12, (large, large_scale)
print(f"as recorded: cell scale {small_scale}: {small:.0f} steps off; {large_scale}: {large:.0f} steps off")
PYTHON
