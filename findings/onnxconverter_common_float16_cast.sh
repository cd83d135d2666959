#!/bin/sh
# onnxconverter-common: convert_float_to_float16 makes invalid models of a Cast to float, and of nodes without names.
#
# Packages: onnx 1.23.2, onnxconverter-common 1.16.0, onnxruntime 1.32.0.
# Expected: a valid model becomes a valid model of float16. A node's name is optional (ONNX, IR.md:
# "An optional name of the node, used only for diagnostic purposes").
# Seen on 2026-11-28: the result of a Cast from int64 to float is declared as float16, but the Cast still makes float: onnx.checker and
# onnxruntime refuse the model, with and without keep_io_types. With keep_io_types=True, an input that two nodes without names take
# gets two Casts with one name and one result, "x_cast_to_", and the model is refused; with names it is valid. No error, no warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnxconverter-common==1.16.0' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnxconverter_common import float16

onnxruntime.set_default_logger_severity(4)


def convert(nodes, kind, keep_io_types):
    """The model of the nodes, converted; None, or what onnx.checker and onnxruntime say."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", kind, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    x = np.array([1, 2], helper.tensor_dtype_to_np_dtype(kind))
    onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    half = float16.convert_float_to_float16(model, keep_io_types=keep_io_types)
    messages = []
    for check in (
        lambda: onnx.checker.check_model(half, full_check=True),
        lambda: onnxruntime.InferenceSession(half.SerializeToString()),
    ):
        try:
            check()
        except Exception as error:
            messages.append(str(error))
    return messages


def two(*names):
    """Two nodes take the input, one joins them."""
    nodes = [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Neg", ["x"], ["b"]), helper.make_node("Add", ["a", "b"], ["y"])]
    for node, name in zip(nodes, names):
        node.name = name
    return nodes


cast = [helper.make_node("Cast", ["x"], ["a"], name="cast", to=TensorProto.FLOAT), helper.make_node("Neg", ["a"], ["y"], name="neg")]
for keep_io_types in (False, True):
    messages = convert(cast, TensorProto.INT64, keep_io_types)
    assert len(messages) == 2 and "elem type" in messages[0] and "float16" in messages[1], messages
assert convert(two("abs", "neg", "add"), TensorProto.FLOAT, True) == []
assert convert(two(), TensorProto.FLOAT, False) == []
messages = convert(two(), TensorProto.FLOAT, True)
assert len(messages) == 2 and all("x_cast_to_" in message for message in messages), messages
print("as recorded: a Cast to float stays one in a float16 model, which onnx.checker and onnxruntime refuse")
PYTHON
