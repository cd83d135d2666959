#!/bin/sh
# Keras: an exported TimeDistributed with an open length computes as many time steps as the batch has samples.
#
# Packages: keras 3.15.1, tensorflow 2.21.0.
# Expected: the layer is applied to every temporal slice of an input; "every input should be at least 3D, and the dimension of
# index one of the first input will be considered to be the temporal dimension" (documentation of keras.layers.TimeDistributed).
# The exported function takes [batch, time, 3], both open, and has to give [batch, time, 4] as model(x) does.
# Seen on 2026-11-29: with a batch of 2 and 4 time steps the exported function gives [2, 2, 4]: the last two time steps are missing,
# without an error. model(x) and model.predict(x) know the sizes, and give [2, 4, 4]. A batch of 4 with 4 steps is right.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'keras==3.15.1' 'tensorflow==2.21.0'
cd "$folder"
TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES=-1 "$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import keras
import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).standard_normal((4, 4, 3)).astype(np.float32)
given = keras.Input((None, 3))
model = keras.Model(given, keras.layers.TimeDistributed(keras.layers.Dense(4))(given))
assert model.output_shape == (None, None, 4)
kernel, bias = (weight.numpy() for weight in model.weights)
assert np.allclose(model(x[:2]), x[:2] @ kernel + bias, atol=1e-5)
assert model.predict(x[:2], verbose=0).shape == (2, 4, 4)

model.export("exported", verbose=False)
loaded = tf.saved_model.load("exported")
found = loaded.serve(x[:2]).numpy()
assert found.shape == (2, 2, 4), found.shape
assert np.allclose(found, (x[:2] @ kernel + bias)[:, :2], atol=1e-5)
assert np.allclose(loaded.serve(x), x @ kernel + bias, atol=1e-5)
print(f"as recorded: of a batch of 2 with 4 time steps the exported function gives {found.shape}, model(x) (2, 4, 4)")
PYTHON
