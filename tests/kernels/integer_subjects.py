"""Models of one quantized TensorFlow Lite operator for each quantized data type: the subjects of the integer audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.kernels.integer_models import Array, Field, Tensor, integers

Quant = tuple[float, int]
Options = tuple[str, dict[int, Field]]
NONE: Options = ("NONE", {})
SHAPE = (2, 4, 6, 3)


@dataclass
class Subject:
    """The tensors of a model with one operator: operands first, then `outputs` outputs."""

    tensors: Sequence[Tensor]
    options: Options = NONE
    outputs: int = 1
    inputs: Sequence[Array] = field(default_factory=list)
    """data of the operands without constants; random integers if empty"""


Maker = Callable[[str], Subject]
"""Quantized data type -> model."""


def zero_point(dtype: str, point: int = 9) -> int:
    return {"int8": point, "uint8": point + 128, "int16": 0}[dtype]


def activations(
    dtype: str, shape: Sequence[int] = SHAPE, scale: float = 0.05, name: str = "x", point: int = 9
) -> Tensor:
    return Tensor(name, shape, dtype, quant=(float(np.float32(scale)), zero_point(dtype, point)))


def constants(*values: int) -> Tensor:
    return Tensor("ints", (len(values),), "int32", data=np.array(values, np.int32))


def scalar(value: int) -> Tensor:
    return Tensor("scalar", (), "int32", data=np.array(value, np.int32))


def weights(dtype: str, shape: Sequence[int], name: str = "w") -> Tensor:
    if dtype == "uint8":
        return Tensor(name, data=integers(5, "uint8", shape), quant=(0.02, 120))
    return Tensor(name, data=np.maximum(integers(5, "int8", shape), -127).astype(np.int8), quant=(0.02, 0))


def biases(dtype: str, count: int) -> Tensor:
    wide = np.int64 if dtype == "int16" else np.int32
    return Tensor("b", data=np.arange(-count, count, 2).astype(wide) * 9, quant=(0.001, 0))


def same(*more: Tensor, shape: Sequence[int] = SHAPE, options: Options = NONE, source: Sequence[int] = SHAPE) -> Maker:
    """Model of x and constants to y with x's quantization parameters."""
    return lambda dtype: Subject([activations(dtype, source), *more, activations(dtype, shape, name="y")], options)


def function(scale: float, result: Quant, options: Options = NONE, at_zero: bool = False) -> Maker:
    """Model in which y has its own quantization parameters. `at_zero`: both zero points represent 0."""

    def make(dtype: str) -> Subject:
        fine = 300.0 if dtype == "int16" else 1.0
        point = 0 if at_zero else 9
        y = Tensor("y", SHAPE, dtype, quant=(float(np.float32(result[0] / fine)), zero_point(dtype, result[1])))
        return Subject([activations(dtype, scale=scale / fine, point=point), y], options)

    return make


def gate(scale: float, result: Quant, options: Options = NONE) -> Maker:
    """Like `function`; 16-bit outputs have the scale 2^-15."""

    def make(dtype: str) -> Subject:
        if dtype == "int16":
            return Subject([activations(dtype, scale=0.0003), Tensor("y", SHAPE, dtype, quant=(1 / 32768, 0))], options)
        return function(scale, result, options)(dtype)

    return make


def binary(scale: float, result: float, options: Options = NONE, constant: bool = False) -> Maker:
    def make(dtype: str) -> Subject:
        b = activations(dtype, (6, 3), scale * 0.7, "b", 3)
        b_data = integers(7, dtype, (6, 3))
        b_data[b_data == zero_point(dtype, 3)] += 1
        if constant:
            b.data = b_data
        factor = 300.0 if dtype == "int16" and result > scale * scale * 5 else 1.0
        y = activations(dtype, name="y", scale=result / factor, point=-4)
        x = integers(3, dtype, SHAPE)
        return Subject(
            [activations(dtype, scale=scale / factor), b, y], options, inputs=[x] if constant else [x, b_data]
        )

    return make


def compared(dtype: str) -> Subject:
    return Subject([activations(dtype), activations(dtype, (6, 3), 0.04, "b", 3), Tensor("y", SHAPE, "bool")])


def records_shared(operands: int, options: Options = NONE) -> Maker:
    def make(dtype: str) -> Subject:
        return Subject(
            [*(activations(dtype, name=f"x{index}") for index in range(operands)), activations(dtype, name="y")],
            options,
        )

    return make


def pool(dtype: str) -> Subject:
    options = {0: ("byte", 1), 1: ("int", 1), 2: ("int", 2), 3: ("int", 2), 4: ("int", 3)}
    return Subject([activations(dtype), activations(dtype, (2, 1, 5, 3), name="y")], ("Pool2DOptions", options))


def reduced(result: float | None) -> Maker:
    def make(dtype: str) -> Subject:
        y = (
            activations(dtype, (2, 6, 3), name="y")
            if result is None
            else activations(dtype, (2, 6, 3), result, "y", -4)
        )
        return Subject([activations(dtype), constants(1), y], ("ReducerOptions", {0: ("bool", False)}))

    return make


def conv(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("byte", 1)}
    tensors = [
        activations(dtype),
        weights(dtype, (5, 3, 3, 3)),
        biases(dtype, 5),
        activations(dtype, (2, 4, 6, 5), 0.4, "y"),
    ]
    return Subject(tensors, ("Conv2DOptions", options))


def depthwise(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("int", 1)}
    tensors = [activations(dtype), weights(dtype, (1, 3, 3, 3)), biases(dtype, 3), activations(dtype, SHAPE, 0.3, "y")]
    return Subject(tensors, ("DepthwiseConv2DOptions", options))


def transposed(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 2), 2: ("int", 2)}
    tensors = [
        constants(2, 8, 12, 5),
        weights(dtype, (5, 3, 3, 3)),
        activations(dtype),
        activations(dtype, (2, 8, 12, 5), 0.3, "y"),
    ]
    return Subject(tensors, ("TransposeConvOptions", options))


def dense(dtype: str) -> Subject:
    tensors = [
        activations(dtype, (4, 18)),
        weights(dtype, (7, 18)),
        biases(dtype, 7),
        activations(dtype, (4, 7), 0.4, "y"),
    ]
    return Subject(tensors, ("FullyConnectedOptions", {}))


def batched(dtype: str) -> Subject:
    tensors = [
        activations(dtype, (2, 4, 6)),
        activations(dtype, (2, 6, 5), 0.03, "b", -2),
        activations(dtype, (2, 4, 5), 0.2, "y"),
    ]
    if dtype == "int16":
        tensors[2].quant = (80.0, 0)
    return Subject(tensors, ("BatchMatMulOptions", {}))


def softmax(dtype: str) -> Subject:
    x = activations(dtype, (4, 9), 0.0003 if dtype == "int16" else 0.1)
    quant = (1 / 32768, 0) if dtype == "int16" else (1 / 256, zero_point(dtype, -128))
    return Subject([x, Tensor("y", (4, 9), dtype, quant=quant)], ("SoftmaxOptions", {0: ("float", 1.0)}))


def log_softmax(dtype: str) -> Subject:
    return Subject([activations(dtype, (4, 9), 0.1), Tensor("y", (4, 9), dtype, quant=(1 / 16, zero_point(dtype, 127)))],
                   ("LogSoftmaxOptions", {}))  # fmt: skip


def l2(dtype: str) -> Subject:
    return Subject(
        [activations(dtype), Tensor("y", SHAPE, dtype, quant=(1 / 128, zero_point(dtype, 0)))], ("L2NormOptions", {})
    )


def concat(dtype: str) -> Subject:
    tensors = [activations(dtype, name="a"), activations(dtype, name="b"), activations(dtype, (2, 8, 6, 3), name="y")]
    return Subject(tensors, ("ConcatenationOptions", {0: ("int", 1)}))


def pack(dtype: str) -> Subject:
    tensors = [
        activations(dtype, (4, 6), name="a"),
        activations(dtype, (4, 6), name="b"),
        activations(dtype, (4, 2, 6), name="y"),
    ]
    return Subject(tensors, ("PackOptions", {0: ("int", 2), 1: ("int", 1)}))


def unpack(dtype: str) -> Subject:
    return Subject([activations(dtype), *(activations(dtype, (4, 6, 3), name=f"y{i}") for i in range(2))],
                   ("UnpackOptions", {0: ("int", 2), 1: ("int", 0)}), 2)  # fmt: skip


def split(dtype: str) -> Subject:
    return Subject([scalar(2), activations(dtype), *(activations(dtype, (2, 4, 3, 3), name=f"y{i}") for i in range(2))],
                   ("SplitOptions", {0: ("int", 2)}), 2)  # fmt: skip


def split_v(dtype: str) -> Subject:
    sizes = [(2, 4, size, 3) for size in (1, 5)]
    return Subject([activations(dtype), constants(1, 5), scalar(2), *(activations(dtype, size, name=f"y{size[2]}") for size in sizes)],
                   ("SplitVOptions", {0: ("int", 2)}), 2)  # fmt: skip


def top(dtype: str) -> Subject:
    return Subject([activations(dtype, (4, 9)), scalar(3), activations(dtype, (4, 3), name="y"), Tensor("at", (4, 3), "int32")],
                   ("TopKV2Options", {}), 2)  # fmt: skip


def positions(kind: str) -> Maker:
    return lambda dtype: Subject(
        [activations(dtype), scalar(2), Tensor("y", (2, 4, 3), "int32")], (kind, {0: ("byte", 2)})
    )


def select(name: str) -> Maker:
    def make(dtype: str) -> Subject:
        condition = Tensor("c", SHAPE, "bool", data=integers(3, "int8", SHAPE) > 0)
        return Subject(
            [condition, activations(dtype, name="a"), activations(dtype, name="b"), activations(dtype, name="y")],
            (name, {}),
        )

    return make


def prelu(dtype: str) -> Subject:
    return Subject(
        [
            activations(dtype),
            weights("int8" if dtype == "int16" else dtype, (1, 1, 3)),
            activations(dtype, name="y", scale=0.04),
        ]
    )


def resize(name: str, slots: tuple[int, int]) -> Maker:
    options: Options = (name, {slots[0]: ("bool", False), slots[1]: ("bool", True)})
    return lambda dtype: Subject(
        [activations(dtype), constants(7, 9), activations(dtype, (2, 7, 9, 3), name="y")], options
    )


def padded(kind: str) -> Maker:
    def make(dtype: str) -> Subject:
        pads = Tensor("pads", data=np.array([[0, 0], [1, 1], [1, 0], [0, 1]], np.int32))
        values = (
            [Tensor("value", data=np.array([5], dtype), quant=activations(dtype).quant)]
            if kind == "PadV2Options"
            else []
        )
        slots: dict[int, Field] = {0: ("byte", 1)} if kind == "MirrorPadOptions" else {}
        return Subject([activations(dtype), pads, *values, activations(dtype, (2, 6, 7, 4), name="y")], (kind, slots))

    return make


def scattered(dtype: str) -> Subject:
    at = Tensor("at", data=np.array([[3], [1]], np.int32))
    return Subject([at, activations(dtype, (2, 5), point=0), constants(4, 5), activations(dtype, (4, 5), name="y", point=0)],
                   ("ScatterNdOptions", {}))  # fmt: skip


def one_hot(dtype: str) -> Subject:
    at = Tensor("at", (3,), "int32")
    on, off = (
        Tensor(name, data=np.array(value, dtype), quant=activations(dtype).quant)
        for name, value in (("on", 7), ("off", 1))
    )
    return Subject([at, scalar(4), on, off, activations(dtype, (3, 4), name="y")], ("OneHotOptions", {0: ("int", -1)}),
                   inputs=[np.array([3, 1, 0], np.int32)])  # fmt: skip


def update(dtype: str) -> Subject:
    return Subject([activations(dtype), activations(dtype, (1, 2, 3, 3), name="u"), constants(1, 1, 2, 0), activations(dtype, name="y")],
                   ("DynamicUpdateSliceOptions", {}))  # fmt: skip


def embedding(dtype: str) -> Subject:
    table = activations(dtype, (5, 4), name="table")
    table.data = integers(3, dtype, (5, 4))
    at = Tensor("at", (3,), "int32")
    return Subject([at, table, activations(dtype, (3, 4), name="y")], inputs=[np.array([3, 0, 3], np.int32)])


def fill(dtype: str) -> Subject:
    return Subject([constants(2, 3), activations(dtype, ()), activations(dtype, (2, 3), name="y")], ("FillOptions", {}))


def sparse(dtype: str) -> Subject:
    default = Tensor("d", data=np.array(4, dtype), quant=activations(dtype).quant)
    return Subject([Tensor("at", data=np.array([1, 3], np.int32)), constants(6), activations(dtype, (2,)), default,
                    activations(dtype, (6,), name="y")], ("SparseToDenseOptions", {}))  # fmt: skip


def reversed(dtype: str) -> Subject:
    options: Options = ("ReverseSequenceOptions", {0: ("int", 1), 1: ("int", 0)})
    return Subject(
        [activations(dtype), Tensor("n", data=np.array([2, 3], np.int32)), activations(dtype, name="y")], options
    )


def cast(dtype: str) -> Subject:
    return Subject([activations(dtype), Tensor("y", SHAPE, "int32")], ("CastOptions", {}))


def diagonal(dtype: str) -> Subject:
    return Subject(
        [activations(dtype, (2, 3), point=0), activations(dtype, (2, 3, 3), name="y", point=0)],
        ("MatrixDiagOptions", {}),
    )


def diagonal_set(dtype: str) -> Subject:
    return Subject([activations(dtype, (2, 3, 3)), activations(dtype, (2, 3), name="d"), activations(dtype, (2, 3, 3), name="y")],
                   ("MatrixSetDiagOptions", {}))  # fmt: skip


def broadcast(dtype: str) -> Subject:
    return Subject(
        [activations(dtype), constants(3, 2, 4, 6, 3), activations(dtype, (3, *SHAPE), name="y")],
        ("BroadcastToOptions", {}),
    )


def quantize(dtype: str) -> Subject:
    return Subject([Tensor("x", SHAPE), activations(dtype, name="y")], ("QuantizeOptions", {}),
                   inputs=[np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)])  # fmt: skip


def dequantize(dtype: str) -> Subject:
    return Subject([activations(dtype), Tensor("y", SHAPE)], ("DequantizeOptions", {}))


def reduce_window(dtype: str) -> Subject:
    """Maximum of each window."""
    init = Tensor("i", data=np.array(np.iinfo(dtype).min, dtype), quant=activations(dtype).quant)
    sizes = ((1, 2, 2, 1), (1, 2, 2, 1), (1, 1, 1, 1))
    window = [Tensor(f"w{index}", data=np.array(values, np.int64)) for index, values in enumerate(sizes)]
    return Subject(
        [activations(dtype), init, *window, activations(dtype, (2, 2, 3, 3), name="y")],
        ("ReduceWindowOptions", {0: ("int", 4)}),
    )


def root(scale: float, result: Quant) -> Maker:
    """Values greater than zero."""

    def make(dtype: str) -> Subject:
        subject = function(scale, result)(dtype)
        x = np.maximum(integers(3, dtype, SHAPE), zero_point(dtype) + 1).astype(dtype)
        return Subject(subject.tensors, subject.options, inputs=[x])

    return make
