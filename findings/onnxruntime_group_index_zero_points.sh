#!/bin/sh
# onnxruntime: MatMulNBits with a group index (g_idx) ignores packed zero points: each block has 8, the default.
#
# Packages: onnx 1.23.2, onnxruntime 1.32.0.
# Expected: zero_points of type uint8 hold two 4-bit zero points a byte (com.microsoft, MatMulNBits), whether or not g_idx
# is given. A g_idx that names the blocks in their order changes nothing.
# Seen on 2026-11-28: without g_idx the product is x (scale (B - zero point)) as NumPy has it. With the g_idx of that same
# order it is x (scale (B - 8)), without a message. g_idx is deprecated, but taken; files of GPTQ weights have both.

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

COLUMNS, ROWS, BLOCK = 4, 32, 16
BLOCKS = ROWS // BLOCK
chance = np.random.default_rng(0)
codes = chance.integers(0, 16, (COLUMNS, BLOCKS, BLOCK), np.uint8)
scales = chance.uniform(0.1, 1, (COLUMNS, BLOCKS)).astype(np.float32)
zero_points = chance.integers(0, 16, (COLUMNS, BLOCKS), np.uint8)
x = chance.standard_normal((2, ROWS)).astype(np.float32)


def product(zero):
    weights = (codes.astype(np.float32) - zero[..., None]) * scales[..., None]
    return x @ weights.reshape(COLUMNS, ROWS).T


def result(constants):
    """What onnxruntime makes of x and the constants, whose names are those of the operator's inputs."""
    values = {
        "B": codes[..., ::2] | codes[..., 1::2] << 4,
        "scales": scales.reshape(-1),
        "zero_points": (zero_points[:, ::2] | zero_points[:, 1::2] << 4).reshape(-1),
        "g_idx": np.arange(ROWS, dtype=np.int32) // BLOCK,
    }
    node = helper.make_node(
        "MatMulNBits", ["x", *constants], ["y"], domain="com.microsoft", K=ROWS, N=COLUMNS, bits=4, block_size=BLOCK
    )
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, COLUMNS])],
        [numpy_helper.from_array(values[name], name) for name in constants if name],
    )
    domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=10)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]


of_eight = product(np.full_like(zero_points, 8))
assert np.abs(of_eight - product(zero_points)).max() > 1
assert np.allclose(result(["B", "scales", "zero_points"]), product(zero_points), atol=1e-4)
assert np.allclose(result(["B", "scales", "", "g_idx"]), of_eight, atol=1e-4)
assert np.allclose(result(["B", "scales", "zero_points", "g_idx"]), of_eight, atol=1e-4)
print("as recorded: with g_idx the zero points of each block are 8, whatever zero_points says")
PYTHON
