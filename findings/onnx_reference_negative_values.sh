#!/bin/sh
# onnx reference evaluator: LpNormalization with p=1 divides by the sum, and the mean of NegativeLogLikelihoodLoss counts ignore_index=-1.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: the L1 norm is the sum of the absolute values (ONNX, LpNormalization, "apply Lp-normalization"; ReduceL1). ignore_index is "a
# target value that is ignored and does not contribute to the input gradient. It's an optional value", any integer; in the mean,
# weight[n] is 0 where the target is ignore_index (ONNX, NegativeLogLikelihoodLoss).
# Seen on 2026-11-28: [3, -4] with p=1 is [3/7, -4/7] in onnxruntime and [-3, 4] in the reference evaluator: divided by 3 - 4, so that
# even the signs are turned. p=2 is right. The mean loss of two rows, one with the target -1 = ignore_index, is 1.61 in onnxruntime and
# 0.80 in the reference evaluator, which divides by two; with ignore_index=2 it divides by one, and SoftmaxCrossEntropyLoss is right
# with both.

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
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

SCORES = np.log(np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], np.float32))


def both(operator, arrays, shape, **attributes):
    """onnxruntime and the reference evaluator."""
    arrays = {f"x{index}": array for index, array in enumerate(arrays)}
    graph = helper.make_graph(
        [helper.make_node(operator, list(arrays), ["y"], **attributes)],
        "graph",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in arrays.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, arrays)[0], ReferenceEvaluator(model).run(None, arrays)[0]


x = np.array([[3, -4]], np.float32)
runtime, reference = both("LpNormalization", [x], [1, 2], p=1, axis=1)
assert np.allclose(runtime, x / 7) and np.allclose(reference, -x), (runtime, reference)
runtime, reference = both("LpNormalization", [x], [1, 2], p=2, axis=1)
assert np.allclose(runtime, x / 5) and np.allclose(reference, x / 5), (runtime, reference)

ONE = -np.log(0.2)
for operator, ignored, seen in (
    ("NegativeLogLikelihoodLoss", -1, ONE / 2),
    ("NegativeLogLikelihoodLoss", 2, ONE),
    ("SoftmaxCrossEntropyLoss", -1, ONE),
    ("SoftmaxCrossEntropyLoss", 2, ONE),
):
    targets = np.array([1, ignored], np.int64)
    runtime, reference = both(operator, [SCORES, targets], [], ignore_index=ignored, reduction="mean")
    assert np.allclose(runtime, ONE, atol=1e-5) and np.allclose(reference, seen, atol=1e-5), (operator, ignored, runtime, reference)
print("as recorded: [3, -4] divided by its L1 norm is [0.43, -0.57] in onnxruntime and [-3, 4] in the reference evaluator")
PYTHON
