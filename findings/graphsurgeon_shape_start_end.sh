#!/bin/sh
# onnx-graphsurgeon: fold_constants folds a Shape with start or end into the whole shape.
#
# Packages: onnx 1.23.2, onnx-graphsurgeon 0.6.1, onnxruntime 1.32.0.
# Expected: "Optional attributes start and end can be used to compute a slice of the input tensor's shape" (ONNX, Shape-15). Folding does
# not change what a model computes.
# Seen on 2026-11-28, x of 2x3x4: Shape(x, start=1) is [3, 4]; after fold_constants it is the constant [2, 3, 4]. The product of
# the last two sizes is then 24 instead of 12. The same with end=2 and with negative numbers. No warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'onnx==1.23.2' 'onnx-graphsurgeon==0.6.1' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnx
import onnx_graphsurgeon
import onnxruntime
from onnx import TensorProto, helper

X = np.zeros((2, 3, 4), np.float32)


def both(**attributes):
    """The sizes and their product: of the model, and of the folded one."""
    graph = helper.make_graph(
        [
            helper.make_node("Shape", ["x"], ["sizes"], **attributes),
            helper.make_node("ReduceProd", ["sizes"], ["product"], keepdims=0),
            helper.make_node("Identity", ["x"], ["y"]),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [
            helper.make_tensor_value_info("sizes", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("product", TensorProto.INT64, []),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, X.shape),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    folded = onnx_graphsurgeon.export_onnx(onnx_graphsurgeon.import_onnx(model).fold_constants().cleanup())
    results = []
    for one in (model, folded):
        session = onnxruntime.InferenceSession(one.SerializeToString())
        sizes, product = session.run(["sizes", "product"], {"x": X})
        results.append((sizes.tolist(), int(product)))
    return results


assert both() == [([2, 3, 4], 24)] * 2, both()
for attributes, right in (({"start": 1}, [3, 4]), ({"end": 2}, [2, 3]), ({"start": -2, "end": -1}, [3])):
    seen = both(**attributes)
    assert seen == [(right, int(np.prod(right))), ([2, 3, 4], 24)], (attributes, seen)
print("as recorded: Shape(start=1) of 2x3x4 is [3, 4], and [2, 3, 4] after onnx-graphsurgeon folded it")
PYTHON
