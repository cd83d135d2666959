#!/bin/sh
# jax2onnx: a dynamic_slice that begins too near to the end is cut short instead of moved back.
#
# Packages: jax 0.10.2, jax2onnx 0.17.1, onnx 1.23.2, onnxruntime 1.32.0.
# Expected: if "the requested slice overruns the bounds of the array; in this case the start index is adjusted to return a slice of the
# requested size" (documentation of jax.lax.dynamic_slice). Three of 0, 1, 2, 3, 4 from 4 on are 2, 3, 4, as from 2 on.
# Seen on 2026-11-29: JAX returns 2, 3, 4 for the starts 2, 3 and 4; the exported model in onnxruntime returns 2, 3, 4, then 3, 4, then 4,
# although its output has the fixed shape [3]. dynamic_update_slice of the same start is clamped as it is in JAX.

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
X = np.arange(5, dtype=np.float32)


def session_of(function):
    arguments = [jax.ShapeDtypeStruct((5,), np.float32), jax.ShapeDtypeStruct((), np.int32)]
    return onnxruntime.InferenceSession(to_onnx(function, arguments).SerializeToString())


def run(session, start):
    values = (X, np.array(start, np.int32))
    return session.run(None, {each.name: value for each, value in zip(session.get_inputs(), values, strict=True)})[0].tolist()


def sliced(x, start):
    return jax.lax.dynamic_slice(x, (start,), (3,))


def updated(x, start):
    return jax.lax.dynamic_update_slice(x, np.full(3, 9, np.float32), (start,))


session = session_of(sliced)
assert session.get_outputs()[0].shape == [3], session.get_outputs()[0].shape
for start, wrong in ((0, [0, 1, 2]), (2, [2, 3, 4]), (3, [3, 4]), (4, [4])):
    first = np.clip(start, 0, 2)
    assert np.asarray(sliced(X, np.int32(start))).tolist() == X[first : first + 3].tolist()
    assert run(session, start) == wrong, (start, run(session, start))

session = session_of(updated)
for start in (0, 2, 4):
    assert np.asarray(updated(X, np.int32(start))).tolist() == run(session, start), start
print("as recorded: dynamic_slice of three from 4 on is 2, 3, 4 in JAX and 4 in the exported model")
PYTHON
