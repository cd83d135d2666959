#!/bin/sh
# jax2onnx: lax.round is exported with halves to even instead of away from zero, and one_hot counts negative classes from the end.
#
# Packages: jax 0.10.2, jax2onnx 0.17.1, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: the default of jax.lax.round is RoundingMethod.AWAY_FROM_ZERO, "Rounds halfway values away from zero (e.g., 0.5 -> 1,
# -0.5 -> -1)"; jax.nn.one_hot: "Indices outside the range [0, num_classes) will be encoded as zeros" (documentation of JAX).
# Seen on 2026-11-29: of -2.5, -0.5, 0.5, 2.5 JAX computes -3, -1, 1, 3, the exported model in onnxruntime -2, 0, 0, 2, for
# AWAY_FROM_ZERO as for TO_NEAREST_EVEN. one_hot of 0, -1, 3 with three classes has zeros for -1 and for 3 in JAX; the exported
# model writes a 1 into the last class for -1 (3 is right). Nothing is said.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'jax==0.10.2' 'jax2onnx==0.17.1' 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import jax
import numpy as np
import onnxruntime
from jax2onnx import to_onnx

onnxruntime.set_default_logger_severity(4)


def both(function, x):
    """The results of JAX and of the exported model in onnxruntime."""
    model = to_onnx(function, [jax.ShapeDtypeStruct(x.shape, x.dtype)])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    seen = session.run(None, {session.get_inputs()[0].name: x})[0]
    return np.asarray(jax.jit(function)(x)).tolist(), seen.tolist()


halves = np.array([-2.5, -0.5, 0.5, 2.5], np.float32)
to_even = lambda x: jax.lax.round(x, jax.lax.RoundingMethod.TO_NEAREST_EVEN)  # noqa: E731
right, seen = both(to_even, halves)
assert right == seen == [-2, 0, 0, 2], (right, seen)
right, seen = both(lambda x: jax.lax.round(x), halves)
assert right == [-3, -1, 1, 3], right
assert seen == [-2, 0, 0, 2], seen

right, seen = both(lambda x: jax.nn.one_hot(x, 3), np.array([0, -1, 3], np.int32))
assert right == [[1, 0, 0], [0, 0, 0], [0, 0, 0]], right
assert seen == [[1, 0, 0], [0, 0, 1], [0, 0, 0]], seen
print("as recorded: lax.round of 0.5 and 2.5 is 1 and 3 in JAX, in the exported model 0 and 2")
PYTHON
