#!/bin/sh
# onnxruntime: MaxPool and AveragePool with auto_pad=SAME_UPPER forget the dilation when they pad.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: with SAME_UPPER the output has ceil(input / stride) elements, and the sum of the pads is (output - 1) * stride +
# (kernel - 1) * dilation + 1 - input (ONNX, MaxPool and AveragePool). Kernel 3 with dilation 2 on 8 elements: 8 outputs.
# onnx infers 8 and its reference evaluator computes 8 for MaxPool.
# Seen on 2026-11-28: onnxruntime pads as for dilation 1 and returns 6 elements, with the declared output shape of 8 (it prints
# a warning). Conv with the same attributes refuses to run ("Dilation not supported for AutoPadType").
# Also seen: a stride longer than the kernel makes that sum negative. AveragePool then cuts elements off at the front (stride 3
# and kernel 1 on 0..8 give [1, 4, 7]), Conv does not (with the weight 1: [0, 3, 6]).

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

onnxruntime.set_default_logger_severity(4)


def model_of(operator, length, weight=None, **attributes):
    """One operator with auto_pad=SAME_UPPER, its output shape inferred by onnx."""
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"] if weight is None else ["x", "w"], ["y"], auto_pad="SAME_UPPER", **attributes)],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, length])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [] if weight is None else [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(model, full_check=True)
    return model


def run(model, length):
    """The output of onnxruntime for 0, 1, 2, ..."""
    x = np.arange(length, dtype=np.float32).reshape(1, 1, length)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0].ravel().tolist()


for operator, expected in (("MaxPool", [3, 4, 5, 6, 7, 6]), ("AveragePool", [2, 2, 3, 4, 5, 5])):
    model = model_of(operator, 8, kernel_shape=[3], dilations=[2])
    assert model.graph.output[0].type.tensor_type.shape.dim[2].dim_value == 8
    seen = run(model, 8)
    assert seen == expected, (operator, seen)
    if operator == "MaxPool":
        x = np.arange(8, dtype=np.float32).reshape(1, 1, 8)
        reference = ReferenceEvaluator(model).run(None, {"x": x})[0].ravel().tolist()
        assert reference == [2, 3, 4, 5, 6, 7, 6, 7], reference
average = run(model_of("AveragePool", 9, kernel_shape=[1], strides=[3]), 9)
convolution = run(model_of("Conv", 9, np.ones((1, 1, 1), np.float32), kernel_shape=[1], strides=[3]), 9)
assert average == [1, 4, 7] and convolution == [0, 3, 6], (average, convolution)
print("as recorded: SAME_UPPER, kernel 3, dilation 2 on 8 elements gives 6 elements; onnx infers 8")
PYTHON
