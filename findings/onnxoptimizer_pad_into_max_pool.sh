#!/bin/sh
# onnxoptimizer: fuse_pad_into_pool moves a Pad of zeros into MaxPool, which pads with minus infinity.
#
# Packages: onnx 1.23.2, onnxoptimizer 0.4.2, onnxruntime 1.32.0.
# Expected: an optimizer keeps the results. A Pad with mode "constant" puts zeros around the input, and these take part in the
# maximum; the padding of MaxPool never wins (ONNX, MaxPool: padded elements are not taken for the maximum). The two are
# the same only where no input is negative. Where MaxPool has an auto_pad, its explicit pads may not be given at all.
# Seen on 2026-11-28: all inputs -1 to -4, Pad by one on each side, MaxPool of 3 with stride 3: [0, 0] before, [-1, -3] after.
# With auto_pad=SAME_UPPER the fused model has another output shape: 4 elements before, 3 after.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxoptimizer==0.4.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxoptimizer
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)


def run(model, x):
    """The output and the operators of a model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    output = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]
    return output.ravel().tolist(), [node.op_type for node in model.graph.node]


def before_and_after(length, **attributes):
    """Pad by one zero on each side, then MaxPool of 3: as written and as optimized."""
    graph = helper.make_graph(
        [
            helper.make_node("Pad", ["x", "pads"], ["padded"]),
            helper.make_node("MaxPool", ["padded"], ["y"], kernel_shape=[3], **attributes),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, length])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, None])],
        [numpy_helper.from_array(np.array([0, 0, 1, 0, 0, 1]), "pads")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    x = -np.arange(1, length + 1, dtype=np.float32).reshape(1, 1, length)
    fused = onnxoptimizer.optimize(model, ["fuse_pad_into_pool"])
    return run(model, x), run(fused, x)


(before, operators), (after, fused) = before_and_after(4, strides=[3])
assert operators == ["Pad", "MaxPool"] and fused == ["MaxPool"], fused
assert before == [0, 0] and after == [-1, -3], (before, after)
(before, _), (after, _) = before_and_after(6, strides=[2], auto_pad="SAME_UPPER")
assert len(before) == 4 and len(after) == 3, (before, after)
print("as recorded: MaxPool behind a Pad of zeros gives [0, 0], after fuse_pad_into_pool [-1, -3]")
PYTHON
