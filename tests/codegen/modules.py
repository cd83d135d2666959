"""Small models for tests of lowering and code generation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode, QuantType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.normalization import InstanceNorm
from mslite.converter.mindir.ops.pooling import AvgPoolFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.mindir.ops.tables import QuantParam
from tests.passes.builder import Builder, integers, numbers

BATCH = -(1 << 40) - 1
"""An unknown size."""


def write(module: Module, folder: Path, name: str = "model") -> Path:
    """Returns the module's `.ms` file, with images marked as NHWC."""
    nodes = [node for graph in module.graphs for node in graph.nodes]
    if any(node.op.declaration.layout == "nhwc" for node in nodes):
        for value in (value for node in nodes for value in (*node.inputs, *node.outputs)):
            value.format = Format.NHWC
    return save(module, folder / f"{name}.ms")[0]


def convolution(out: int, channels: int, stride: int = 1) -> Conv2DFusion:
    return Conv2DFusion(
        kernel_size=(3, 3), stride=(stride, stride), dilation=(1, 1), pad_mode=PadMode.SAME, group=1,
        in_channel=channels, out_channel=out, activation_type=ActivationType.RELU,
    )  # fmt: skip


def floats(batch: int = 1) -> Module:
    """Two convolutions, a pooling, a reshape and a matmul."""
    build = Builder()
    x = build.input(batch, 12, 10, 3)
    y = build.call(convolution(8, 3, 2), x, numbers(8, 3, 3, 3), numbers(8))
    y = build.call(convolution(4, 8), y, numbers(4, 3, 3, 8, seed=1), numbers(4, seed=1))
    y = build.call(AvgPoolFusion(kernel_size=(2, 2), strides=(2, 2), pad_mode=PadMode.VALID), y)
    build.call(Activation(activation_type=ActivationType.SIGMOID), y)  # not used
    flat = build.call(Reshape(), y, integers(-1, 24))
    return build.module(build.call(MatMulFusion(transpose_b=True), flat, numbers(5, 24), numbers(5)))


def normalized() -> Module:
    """InstanceNorm as in files, after an activation, on NCHW and on rows."""
    build = Builder()
    x = build.input(2, 7, 5, 6)
    norm, weights = InstanceNorm(epsilon=1e-3), (numbers(6), numbers(6, seed=1))
    y = build.call(norm, build.call(Transpose(), x, integers(0, 3, 1, 2)), *weights)
    y = build.call(Activation(activation_type=ActivationType.RELU), y)
    last = build.call(Transpose(), y, integers(0, 2, 3, 1))
    first = build.call(norm, build.call(Transpose(), last, integers(0, 3, 1, 2)), *weights)
    rows = build.call(Transpose(), build.call(Reshape(), first, integers(2, 6, 35, 1)), integers(0, 3, 1, 2))
    y = build.call(norm, build.call(Reshape(), rows, integers(2, 6, 35, 1)), *weights)
    return build.module(last, y)


def stored(seed: int = 0, size: int = 16) -> Module:
    """A chain of int8 convolutions, as in quantized models."""
    draw = np.random.default_rng(seed)
    build = Builder()
    x = build.input(1, size, size, 4, dtype=np.int8)
    x.quant = (QuantParam(scale=0.05, zeroPoint=-3),)
    for layer, (out, stride) in enumerate(((8, 1), (16, 2), (4, 1))):
        channels = (x.shape or ())[3]
        weight = constant(f"w{layer}", draw.integers(-127, 128, (out, 3, 3, channels)).astype(np.int8))
        weight.quant = tuple(QuantParam(scale=0.002 * (k + 1)) for k in range(out))
        bias = constant(f"b{layer}", draw.integers(-999, 999, out).astype(np.int32))
        bias.quant = tuple(QuantParam(scale=0.0001 * (k + 1)) for k in range(out))
        height = ((x.shape or ())[1] + stride - 1) // stride
        y = Value(f"y{layer}", DataType.INT8, (1, height, height, out), quant=(QuantParam(scale=0.3, zeroPoint=layer),))
        op = convolution(out, channels, stride)
        build.graph.nodes.append(Node(op, f"conv{layer}", (x, weight, bias), (y,), quant_type=QuantType.QUANT_ALL))
        x = y
    return build.module(x)


def counter() -> Module:
    """A variable that is increased by the input in each run."""
    build = Builder()
    x = build.input(4)
    first = constant("first", np.array([1, 0, 0, 2], np.float32))
    old = Value("old", DataType.FLOAT32, (4,))
    build.graph.nodes.append(Node(ReadVariable(variable="count"), "read", (first,), (old,)))
    new = build.call(AddFusion(), old, x)
    kept = Value("kept", DataType.FLOAT32, (4,))
    build.graph.nodes.append(Node(AssignVariable(variable="count"), "assign", (new,), (kept,)))
    return build.module(new)


def looked_up() -> Module:
    """Gathers rows of a table; an index may be out of range."""
    build = Builder()
    index = build.input(3, dtype=np.int32)
    return build.module(build.call(Gather(), numbers(5, 2), index, integers(0)))


def passed_on() -> Module:
    """Outputs that no step computes: a reshaped input, and a constant."""
    build = Builder()
    x = build.input(2, 3)
    y = build.call(Activation(activation_type=ActivationType.RELU), x)
    return build.module(build.call(Reshape(), x, integers(6)), y, build.call(Reshape(), y, integers(3, 2)))


def fixed() -> Module:
    """An output that does not depend on the input."""
    build = Builder()
    x = build.input(2, 3)
    return build.module(build.call(Shape(), x))


def extreme() -> Module:
    """An int8 matmul with weights of -128 and other negative values, which some kernels do not support."""
    build = Builder()
    x = build.input(2, 6, dtype=np.int8)
    x.quant = (QuantParam(scale=0.05, zeroPoint=-3),)
    weight = constant("w", np.array([[-1, 5, -128, 7, 0, -9], [-128, 3, -128, 127, 1, -2]], np.int8))
    weight.quant = (QuantParam(scale=0.01),)
    y = Value("y", DataType.INT8, (2, 2), quant=(QuantParam(scale=0.2, zeroPoint=4),))
    op = MatMulFusion(transpose_b=True)
    build.graph.nodes.append(Node(op, "product", (x, weight), (y,), quant_type=QuantType.QUANT_ALL))
    return build.module(y)


def swapped() -> Module:
    """Two variables that are exchanged in each run; the old value of one is an output."""
    build = Builder()
    x = build.input(4)
    old = {}
    for name, first in (("one", [1, 0, 0, 2]), ("other", [5, 6, 7, 8])):
        old[name] = Value(f"old_{name}", DataType.FLOAT32, (4,))
        start = constant(f"first_{name}", np.array(first, np.float32))
        build.graph.nodes.append(Node(ReadVariable(variable=name), f"read_{name}", (start,), (old[name],)))
    y = build.call(AddFusion(), old["one"], x)
    for name, value in (("one", old["other"]), ("other", old["one"])):
        kept = Value(f"kept_{name}", DataType.FLOAT32, (4,))
        build.graph.nodes.append(Node(AssignVariable(variable=name), f"assign_{name}", (value,), (kept,)))
    return build.module(y, old["other"])
