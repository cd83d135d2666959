"""Writes maxout.onnx, a network with a custom operator, and an input with the expected output.

It also writes net.layers, the same network in the text format of layers_plugin.py, with its weights.

The operator is `com.example.Maxout`: y[..., i] = scale * max(x[..., i * pieces], ..., x[..., i * pieces + pieces - 1]).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
PIECES, SCALE, FACTOR = 2, 0.5, 0.5

LAYERS = f"""\
# The network of maxout.onnx
input x 1 8
dense w1.npy b1.npy
maxout {PIECES} {SCALE * FACTOR}
dense w2.npy b2.npy
output y
"""

Floats = npt.NDArray[np.float32]


def weights() -> dict[str, Floats]:
    draw = np.random.default_rng(7)
    shapes = {"w1": (8, 8), "b1": (8,), "w2": (4, 3), "b2": (3,)}
    return {name: draw.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def model() -> onnx.ModelProto:
    """Returns the model x [1, 8] -> Gemm -> Maxout -> Mul 0.5 -> Gemm -> y [1, 3]."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"], name="hidden"),
        helper.make_node(
            "Maxout", ["hidden"], ["best"], name="maxout", domain="com.example", pieces=PIECES, scale=SCALE
        ),
        helper.make_node("Mul", ["best", "factor"], ["scaled"], name="scaled"),
        helper.make_node("Gemm", ["scaled", "w2", "b2"], ["y"], name="scores"),
    ]
    constants = {**weights(), "factor": np.array(FACTOR, np.float32)}
    graph = helper.make_graph(
        nodes,
        "maxout",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def expected(x: Floats) -> Floats:
    """Computes the network in float64, so that the results are the same on every machine."""
    named = {name: array.astype(np.float64) for name, array in weights().items()}
    hidden = x.astype(np.float64) @ named["w1"] + named["b1"]
    best = SCALE * hidden.reshape(1, -1, PIECES).max(axis=-1)
    result: Floats = (FACTOR * best @ named["w2"] + named["b2"]).astype(np.float32)
    return result


def main() -> None:
    onnx.save(model(), HERE / "maxout.onnx")
    x = np.random.default_rng(8).uniform(-1, 1, (1, 8)).astype(np.float32)
    x.tofile(HERE / "maxout_input.bin")
    y = expected(x)
    for name, array in weights().items():
        np.save(HERE / f"{name}.npy", array)
    (HERE / "net.layers").write_text(LAYERS)
    numbers = " ".join(f"{number:.8g}" for number in y.ravel())
    (HERE / "maxout_expected.txt").write_text(f"y {y.ndim} {' '.join(map(str, y.shape))}\n{numbers}\n")


if __name__ == "__main__":
    main()
