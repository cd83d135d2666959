#!/bin/sh
# onnx reference evaluator: LSTM, GRU and RNN ignore sequence_lens and clip, LSTM and GRU also activations.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: a sequence ends at its own length; later rows of Y are 0 and Y_h is the state after the last valid step (ONNX, LSTM,
# input sequence_lens; onnxruntime). `clip` bounds the inputs of the activations, `activations` replaces them. What an
# evaluator does not do it refuses.
# Seen on 2026-11-28: they change nothing in the result, bit by bit (RNN knows two activations and refuses the others). So a comparison with
# the reference evaluator says that a runtime is wrong where it is right.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

STEPS, BATCH, SIZE, HIDDEN = 4, 1, 3, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
OTHER = {"LSTM": ["Sigmoid", "Relu", "Relu"], "GRU": ["Sigmoid", "Relu"]}
generator = np.random.default_rng(0)
X = generator.standard_normal((STEPS, BATCH, SIZE)).astype(np.float32)


def outputs(operator, length=None, **attributes):
    """All steps (Y) by the reference evaluator and by onnxruntime."""
    values = np.random.default_rng(1)
    rows = GATES[operator] * HIDDEN
    initializers = {
        "w": values.standard_normal((1, rows, SIZE)).astype(np.float32),
        "r": values.standard_normal((1, rows, HIDDEN)).astype(np.float32),
    }
    names = ["x", "w", "r"]
    if length is not None:
        initializers["lengths"] = np.array([length] * BATCH, np.int32)
        names += ["", "lengths"]
    graph = helper.make_graph(
        [helper.make_node(operator, names, ["y"], hidden_size=HIDDEN, **attributes)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [STEPS, 1, BATCH, HIDDEN])],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return ReferenceEvaluator(model).run(None, {"x": X})[0], session.run(None, {"x": X})[0]


for operator in GATES:
    plain, runtime_plain = outputs(operator)
    assert np.allclose(plain, runtime_plain, atol=1e-5), operator
    changes = [{"length": 2}, {"clip": 0.1}]
    if operator in OTHER:
        changes.append({"activations": OTHER[operator]})
    for change in changes:
        reference, runtime = outputs(operator, **change)
        assert np.array_equal(reference, plain), (operator, change)
        assert np.abs(runtime - plain).max() > 0.05, (operator, change)
    assert not outputs(operator, length=2)[1][2:].any()
print("as recorded: sequence_lens and clip change nothing in the reference evaluator's LSTM, GRU and RNN")
PYTHON
