"""Small fused float networks as modules, samples for them, and functions to run the quantized model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation, Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode, RoundMode
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import Reshape

Array = npt.NDArray[Any]


def real(name: str, *shape: int) -> Value:
    return Value(name, DataType.FLOAT32, shape, format=Format.NHWC)


def weight(draw: np.random.Generator, name: str, *shape: int) -> Value:
    scale = 1 / np.sqrt(np.prod(shape[1:]))
    return constant(name, (draw.normal(0, scale, shape)).astype(np.float32), Format.NHWC)


def node(op: Operator, name: str, inputs: Sequence[Value], output: Value) -> Node:
    return Node(op, name, tuple(inputs), (output,))


def convolution(
    channels: tuple[int, int], group: int = 1, activation: ActivationType = ActivationType.RELU
) -> Operator:
    return Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.SAME, group=group,
        in_channel=channels[0], out_channel=channels[1], activation_type=activation,
    )  # fmt: skip


def image_network(seed: int = 0) -> Module:
    """8x8x3 → convolution → depthwise → max pooling and a convolution → concatenation → add → fully connected → softmax."""
    draw = np.random.default_rng(seed)
    x, a, b = real("x", 1, 8, 8, 3), real("a", 1, 8, 8, 16), real("b", 1, 8, 8, 16)
    p, s = real("p", 1, 8, 8, 16), real("s", 1, 8, 8, 32)
    t, f, g, y = real("t", 1, 8, 8, 32), real("f", 1, 2048), real("g", 1, 10), real("y", 1, 10)
    pool = MaxPoolFusion(
        format=Format.NHWC, kernel_size=(3, 3), strides=(1, 1), pad_mode=PadMode.SAME, round_mode=RoundMode.FLOOR
    )
    bias = constant("bias", draw.normal(0, 0.1, 16).astype(np.float32))
    nodes = [
        node(convolution((3, 16)), "conv", [x, weight(draw, "w1", 16, 3, 3, 3), bias], a),
        node(convolution((16, 16), 16), "depthwise", [a, weight(draw, "w2", 16, 3, 3, 1)], b),
        node(pool, "pool", [a], p),
        node(Concat(axis=3), "concat", [b, p], s),
        node(AddFusion(), "add", [s, constant("offset", np.full(32, 0.25, np.float32))], t),
        node(Reshape(), "flatten", [t, constant("shape", np.array([1, 2048], np.int32))], f),
        node(FullConnection(has_bias=False), "dense", [f, weight(draw, "w3", 10, 2048)], g),
        node(Softmax(axis=(1,)), "softmax", [g], y),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def matrix_network(seed: int = 0) -> Module:
    """Two inputs [2, 12, 24]: matmuls with constants and with each other, a sigmoid, and an Erf that stays in float."""
    draw = np.random.default_rng(seed)
    from mslite.converter.mindir.ops.unary import Erf

    u, v = real("u", 2, 12, 24), real("v", 2, 12, 24)
    k, q, m, e, z = (real(name, 2, 12, 12 if name == "m" else 32) for name in ("k", "q", "m", "e", "z"))
    e.shape = z.shape = (2, 12, 12)
    wq = constant("wq", draw.normal(0, 0.2, (24, 32)).astype(np.float32))
    wk = constant("wk", draw.normal(0, 0.2, (32, 24)).astype(np.float32))
    bias = constant("bk", draw.normal(0, 0.5, 32).astype(np.float32))
    nodes = [
        node(MatMulFusion(), "query", [u, wq], q),
        node(MatMulFusion(transpose_b=True), "key", [v, wk, bias], k),
        node(MatMulFusion(transpose_b=True), "scores", [q, k], m),
        node(Erf(), "erf", [m], e),
        node(Activation(activation_type=ActivationType.SIGMOID), "sigmoid", [e], z),
    ]
    return Module([Graph("main", [u, v], [z], nodes)])


def samples(module: Module, count: int, seed: int = 1) -> list[list[Array]]:
    draw = np.random.default_rng(seed)
    return [[draw.normal(0, 1, value.shape).astype(np.float32) for value in module.main.inputs] for _ in range(count)]


def run(module: Module, inputs: Sequence[Array], folder: Path) -> list[Array]:
    """Returns the outputs of a module in the runtime."""
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    module_io.save(module, path)
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return [tensor.get_data_to_numpy().copy() for tensor in model.predict(list(inputs))]


def sqnr(wanted: Array, got: Array) -> float:
    """Returns the SQNR in dB."""
    noise = float(((wanted.astype(np.float64) - got) ** 2).sum())
    return float(10 * np.log10((wanted.astype(np.float64) ** 2).sum() / noise)) if noise else float("inf")


def node_of(module: Module, name: str) -> Node:
    return next(item for item in module.main.nodes if item.name == name)
