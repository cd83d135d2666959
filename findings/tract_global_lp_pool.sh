#!/bin/sh
# tract: GlobalLpPool is a mean of powers without absolute values, and Celu and Swish forget `alpha`.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0, tract 0.23.9.
# Expected: GlobalLpPool "applies lp pool pooling across the values", the p-norm (sum |x|^p)^(1/p); Celu is
# max(0, x) + min(0, alpha * (exp(x / alpha) - 1)); Swish is x * sigmoid(alpha * x) (ONNX, GlobalLpPool-2, Celu-12, Swish-24).
# Seen on 2026-11-29: of 1, -2, 3, -4 onnxruntime computes 10 for p=1, 5.477 for p=2 and 4.642 for p=3, as NumPy does; tract computes
# (sum(x^p) / 4)^(1/p): -0.5 for p=1, 2.739 for p=2 and NaN for p=3. Celu of -2 with alpha=2 is -1.264, in tract -0.632; with
# alpha=1 it is right. Swish of 1 with alpha=2 is 0.881, in tract 0.731.

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
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def both(operator, x, shape, opset=18, **attributes):
    """The result that is right (onnxruntime; the reference evaluator for Swish), and that of tract."""
    x = np.array(x, np.float32).reshape(shape)
    output = [*shape[:2], 1, 1] if operator == "GlobalLpPool" else shape
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "graph", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, "model.onnx")
    if operator == "Swish":
        right = ReferenceEvaluator(model).run(None, {"x": x})[0]
    else:
        right = onnxruntime.InferenceSession("model.onnx").run(None, {"x": x})[0]
    seen = tract.onnx().load("model.onnx").into_model().into_runnable().run([x])[0].to_numpy()
    assert right.shape == seen.shape, (right.shape, seen.shape)
    return right.ravel(), seen.ravel()


for values in ([1, -2, 3, -4], [1, 2, 3, 4]):
    for p in (1, 2, 3):
        powers = np.array(values, float) ** p
        right, seen = both("GlobalLpPool", values, [1, 1, 2, 2], p=p)
        assert np.allclose(right, np.sum(np.abs(powers)) ** (1 / p)), right
        if p == 3 and min(values) < 0:
            assert np.isnan(seen).all(), seen
        else:
            assert np.allclose(seen, np.mean(powers) ** (1 / p), atol=1e-4), seen

x = np.array([-2, -1, 1])
for alpha in (1.0, 2.0):
    celu = np.maximum(0, x) + np.minimum(0, alpha * (np.exp(x / alpha) - 1))
    right, seen = both("Celu", x, [3], alpha=alpha)
    assert np.allclose(right, celu, atol=1e-4), right
    assert np.allclose(seen[:2], celu[:2] / alpha, atol=1e-4), seen
    right, seen = both("Swish", x, [3], 24, alpha=alpha)
    assert np.allclose(right, x / (1 + np.exp(-alpha * x)), atol=1e-4), right
    assert np.allclose(seen, x / (1 + np.exp(-x)), atol=1e-3), seen
print("as recorded: GlobalLpPool with p=1 of 1, -2, 3, -4 is 10, in tract -0.5")
PYTHON
