#!/bin/sh
# tract: RNN, GRU and LSTM with direction="reverse" are computed forward, and `activations` and `clip` are ignored.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, tract 0.23.9.
# Expected: direction "must be one of forward (default), reverse, or bidirectional"; activations are the names of the functions that the
# layer uses instead of its defaults (ONNX, RNN-14, GRU-14, LSTM-14). By hand, with one unit, the inputs 1, 2, 3, the input weight 0.1
# and the recurrent weight 0.5, h = f(0.1 * x + 0.5 * h'), and reverse begins with the last input.
# Seen on 2026-11-29: onnxruntime agrees with the computation by hand. In tract 0.1, 0.24, 0.40 (tanh, forward) is the result for
# direction="reverse" of RNN, and the like of GRU and LSTM; "bidirectional" is right. An RNN with activations=["Relu"] is
# computed with tanh, and a GRU with clip=0.05 as if there were none. Nothing is said.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0' 'tract==0.23.9'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
import tract
from onnx import TensorProto, helper, numpy_helper

X = np.array([1, 2, 3], np.float32)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def both(kind, directions=1, **attributes):
    """The result Y of onnxruntime and of tract, [3, directions]."""
    weights = {
        "w": np.full((directions, GATES[kind], 1), 0.1, np.float32),
        "r": np.full((directions, GATES[kind], 1), 0.5, np.float32),
    }
    node = helper.make_node(kind, ["x", "w", "r"], ["y"], hidden_size=1, **attributes)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 1, 1])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, directions, 1, 1])]
    graph = helper.make_graph([node], "graph", inputs, outputs, [numpy_helper.from_array(a, name) for name, a in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    x = X.reshape(3, 1, 1)
    right = onnxruntime.InferenceSession("model.onnx").run(None, {"x": x})[0]
    seen = tract.onnx().load("model.onnx").into_model().into_runnable().run([x])[0].to_numpy()
    return right.reshape(3, -1), seen.reshape(3, -1)


def by_hand(inputs, function):
    state, states = 0.0, []
    for value in inputs:
        state = function(0.1 * value + 0.5 * state)
        states.append(state)
    return np.array(states)[:, None]


forward, reverse = by_hand(X, np.tanh), by_hand(X[::-1], np.tanh)[::-1]
right, seen = both("RNN")
assert np.allclose(right, forward, atol=1e-5) and np.allclose(seen, forward, atol=1e-5), seen
right, seen = both("RNN", direction="reverse")
assert np.allclose(right, reverse, atol=1e-5), right
assert np.allclose(seen, forward, atol=1e-5) and not np.allclose(seen, reverse, atol=0.1), seen
reversed_in_tract = [round(value, 2) for value in seen.ravel().tolist()]

for kind in GATES:
    forward_of_kind, _ = both(kind)
    right, seen = both(kind, direction="reverse")
    assert np.allclose(seen, forward_of_kind, atol=1e-3) and np.abs(seen - right).max() > 0.02, (kind, right, seen)
    right, seen = both(kind, 2, direction="bidirectional")
    assert np.allclose(right, seen, atol=1e-3), (kind, right, seen)

right, seen = both("RNN", activations=["Relu"])
assert np.allclose(right, by_hand(X, lambda v: max(v, 0)), atol=1e-5), right
assert np.allclose(seen, forward, atol=1e-5) and np.abs(seen - right).max() > 0.02, seen

without, _ = both("GRU")
right, seen = both("GRU", clip=0.05)
assert np.allclose(seen, without, atol=1e-3) and np.abs(seen - right).max() > 0.02, (right, seen)
print(f"as recorded: tract computes a reverse RNN of 1, 2, 3 forward, {reversed_in_tract}")
PYTHON
