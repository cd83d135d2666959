"""One model per operator of TensorFlow Lite and type of stored integers: does the reference take it, and what do we do?

    python -m tests.kernels.integer_audit [-k TEXT]

prints a line per operator and type: `equal` (computed on integers, the reference's bits), the operators that run in float32
between casts, or what differs. `REFUSED` says that LiteRT's reference kernels do not take the type.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.e2e.integers import run
from tests.kernels.integer_models import Array, Field, Tensor, converted, integers, model, reference

Quant = tuple[float, int]
Options = tuple[str, dict[int, Field]]
NONE: Options = ("NONE", {})
DTYPES = ("int8", "uint8", "int16")
SHAPE = (2, 4, 6, 3)


@dataclass
class Subject:
    """The tensors of a model of one operator: operands first, `outputs` results last."""

    tensors: Sequence[Tensor]
    options: Options = NONE
    outputs: int = 1
    inputs: Sequence[Array] = field(default_factory=list)
    """what the operands without contents get; random integers where it is empty"""


def _zero(dtype: str, point: int = 9) -> int:
    return {"int8": point, "uint8": point + 128, "int16": 0}[dtype]


def _x(dtype: str, shape: Sequence[int] = SHAPE, scale: float = 0.05, name: str = "x", point: int = 9) -> Tensor:
    return Tensor(name, shape, dtype, quant=(float(np.float32(scale)), _zero(dtype, point)))


def _ints(*values: int) -> Tensor:
    return Tensor("ints", (len(values),), "int32", data=np.array(values, np.int32))


def _scalar(value: int) -> Tensor:
    return Tensor("scalar", (), "int32", data=np.array(value, np.int32))


def _weight(dtype: str, shape: Sequence[int], name: str = "w") -> Tensor:
    if dtype == "uint8":
        return Tensor(name, data=integers(5, "uint8", shape), quant=(0.02, 120))
    return Tensor(name, data=np.maximum(integers(5, "int8", shape), -127).astype(np.int8), quant=(0.02, 0))


def _bias(dtype: str, count: int) -> Tensor:
    wide = np.int64 if dtype == "int16" else np.int32
    return Tensor("b", data=np.arange(-count, count, 2).astype(wide) * 9, quant=(0.001, 0))


def _same(*more: Tensor, shape: Sequence[int] = SHAPE, options: Options = NONE, source: Sequence[int] = SHAPE) -> Maker:
    """x and constants to y with x's record."""
    return lambda dtype: Subject([_x(dtype, source), *more, _x(dtype, shape, name="y")], options)


def _function(scale: float, result: Quant, options: Options = NONE, at_zero: bool = False) -> Maker:
    """y has a record of its own; its zero point is that of int8. `at_zero`: both zero points stand for 0."""

    def make(dtype: str) -> Subject:
        fine = 300.0 if dtype == "int16" else 1.0
        point = 0 if at_zero else 9
        y = Tensor("y", SHAPE, dtype, quant=(float(np.float32(result[0] / fine)), _zero(dtype, result[1])))
        return Subject([_x(dtype, scale=scale / fine, point=point), y], options)

    return make


def _gate(scale: float, result: Quant, options: Options = NONE) -> Maker:
    """As `_function`; 16-bit results are in units of 2^-15."""

    def make(dtype: str) -> Subject:
        if dtype == "int16":
            return Subject([_x(dtype, scale=0.0003), Tensor("y", SHAPE, dtype, quant=(1 / 32768, 0))], options)
        return _function(scale, result, options)(dtype)

    return make


def _binary(scale: float, result: float, options: Options = NONE, constant: bool = False) -> Maker:
    def make(dtype: str) -> Subject:
        b = _x(dtype, (6, 3), scale * 0.7, "b", 3)
        b_data = integers(7, dtype, (6, 3))
        b_data[b_data == _zero(dtype, 3)] += 1
        if constant:
            b.data = b_data
        factor = 300.0 if dtype == "int16" and result > scale * scale * 5 else 1.0
        y = _x(dtype, name="y", scale=result / factor, point=-4)
        x = integers(3, dtype, SHAPE)
        return Subject([_x(dtype, scale=scale / factor), b, y], options, inputs=[x] if constant else [x, b_data])

    return make


def _compared(dtype: str) -> Subject:
    return Subject([_x(dtype), _x(dtype, (6, 3), 0.04, "b", 3), Tensor("y", SHAPE, "bool")])


def _records_shared(operands: int, options: Options = NONE) -> Maker:
    def make(dtype: str) -> Subject:
        return Subject([*(_x(dtype, name=f"x{index}") for index in range(operands)), _x(dtype, name="y")], options)

    return make


def _pool(dtype: str) -> Subject:
    options = {0: ("byte", 1), 1: ("int", 1), 2: ("int", 2), 3: ("int", 2), 4: ("int", 3)}
    return Subject([_x(dtype), _x(dtype, (2, 1, 5, 3), name="y")], ("Pool2DOptions", options))


def _reduced(result: float | None) -> Maker:
    def make(dtype: str) -> Subject:
        y = _x(dtype, (2, 6, 3), name="y") if result is None else _x(dtype, (2, 6, 3), result, "y", -4)
        return Subject([_x(dtype), _ints(1), y], ("ReducerOptions", {0: ("bool", False)}))

    return make


def _conv(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("byte", 1)}
    tensors = [_x(dtype), _weight(dtype, (5, 3, 3, 3)), _bias(dtype, 5), _x(dtype, (2, 4, 6, 5), 0.4, "y")]
    return Subject(tensors, ("Conv2DOptions", options))


def _depthwise(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("int", 1)}
    tensors = [_x(dtype), _weight(dtype, (1, 3, 3, 3)), _bias(dtype, 3), _x(dtype, SHAPE, 0.3, "y")]
    return Subject(tensors, ("DepthwiseConv2DOptions", options))


def _transposed(dtype: str) -> Subject:
    options = {0: ("byte", 0), 1: ("int", 2), 2: ("int", 2)}
    tensors = [_ints(2, 8, 12, 5), _weight(dtype, (5, 3, 3, 3)), _x(dtype), _x(dtype, (2, 8, 12, 5), 0.3, "y")]
    return Subject(tensors, ("TransposeConvOptions", options))


def _dense(dtype: str) -> Subject:
    tensors = [_x(dtype, (4, 18)), _weight(dtype, (7, 18)), _bias(dtype, 7), _x(dtype, (4, 7), 0.4, "y")]
    return Subject(tensors, ("FullyConnectedOptions", {}))


def _batched(dtype: str) -> Subject:
    tensors = [_x(dtype, (2, 4, 6)), _x(dtype, (2, 6, 5), 0.03, "b", -2), _x(dtype, (2, 4, 5), 0.2, "y")]
    if dtype == "int16":
        tensors[2].quant = (80.0, 0)
    return Subject(tensors, ("BatchMatMulOptions", {}))


def _softmax(dtype: str) -> Subject:
    x = _x(dtype, (4, 9), 0.0003 if dtype == "int16" else 0.1)
    quant = (1 / 32768, 0) if dtype == "int16" else (1 / 256, _zero(dtype, -128))
    return Subject([x, Tensor("y", (4, 9), dtype, quant=quant)], ("SoftmaxOptions", {0: ("float", 1.0)}))


def _log_softmax(dtype: str) -> Subject:
    return Subject([_x(dtype, (4, 9), 0.1), Tensor("y", (4, 9), dtype, quant=(1 / 16, _zero(dtype, 127)))],
                   ("LogSoftmaxOptions", {}))  # fmt: skip


def _l2(dtype: str) -> Subject:
    return Subject([_x(dtype), Tensor("y", SHAPE, dtype, quant=(1 / 128, _zero(dtype, 0)))], ("L2NormOptions", {}))


def _concat(dtype: str) -> Subject:
    tensors = [_x(dtype, name="a"), _x(dtype, name="b"), _x(dtype, (2, 8, 6, 3), name="y")]
    return Subject(tensors, ("ConcatenationOptions", {0: ("int", 1)}))


def _pack(dtype: str) -> Subject:
    tensors = [_x(dtype, (4, 6), name="a"), _x(dtype, (4, 6), name="b"), _x(dtype, (4, 2, 6), name="y")]
    return Subject(tensors, ("PackOptions", {0: ("int", 2), 1: ("int", 1)}))


def _unpack(dtype: str) -> Subject:
    return Subject([_x(dtype), *(_x(dtype, (4, 6, 3), name=f"y{i}") for i in range(2))],
                   ("UnpackOptions", {0: ("int", 2), 1: ("int", 0)}), 2)  # fmt: skip


def _split(dtype: str) -> Subject:
    return Subject([_scalar(2), _x(dtype), *(_x(dtype, (2, 4, 3, 3), name=f"y{i}") for i in range(2))],
                   ("SplitOptions", {0: ("int", 2)}), 2)  # fmt: skip


def _split_v(dtype: str) -> Subject:
    sizes = [(2, 4, size, 3) for size in (1, 5)]
    return Subject([_x(dtype), _ints(1, 5), _scalar(2), *(_x(dtype, size, name=f"y{size[2]}") for size in sizes)],
                   ("SplitVOptions", {0: ("int", 2)}), 2)  # fmt: skip


def _top(dtype: str) -> Subject:
    return Subject([_x(dtype, (4, 9)), _scalar(3), _x(dtype, (4, 3), name="y"), Tensor("at", (4, 3), "int32")],
                   ("TopKV2Options", {}), 2)  # fmt: skip


def _positions(kind: str) -> Maker:
    return lambda dtype: Subject([_x(dtype), _scalar(2), Tensor("y", (2, 4, 3), "int32")], (kind, {0: ("byte", 2)}))


def _select(name: str) -> Maker:
    def make(dtype: str) -> Subject:
        condition = Tensor("c", SHAPE, "bool", data=integers(3, "int8", SHAPE) > 0)
        return Subject([condition, _x(dtype, name="a"), _x(dtype, name="b"), _x(dtype, name="y")], (name, {}))

    return make


def _prelu(dtype: str) -> Subject:
    return Subject(
        [_x(dtype), _weight("int8" if dtype == "int16" else dtype, (1, 1, 3)), _x(dtype, name="y", scale=0.04)]
    )


def _resize(name: str, slots: tuple[int, int]) -> Maker:
    options: Options = (name, {slots[0]: ("bool", False), slots[1]: ("bool", True)})
    return lambda dtype: Subject([_x(dtype), _ints(7, 9), _x(dtype, (2, 7, 9, 3), name="y")], options)


def _padded(kind: str) -> Maker:
    def make(dtype: str) -> Subject:
        pads = Tensor("pads", data=np.array([[0, 0], [1, 1], [1, 0], [0, 1]], np.int32))
        values = [Tensor("value", data=np.array([5], dtype), quant=_x(dtype).quant)] if kind == "PadV2Options" else []
        slots: dict[int, Field] = {0: ("byte", 1)} if kind == "MirrorPadOptions" else {}
        return Subject([_x(dtype), pads, *values, _x(dtype, (2, 6, 7, 4), name="y")], (kind, slots))

    return make


def _scattered(dtype: str) -> Subject:
    at = Tensor("at", data=np.array([[3], [1]], np.int32))
    return Subject([at, _x(dtype, (2, 5), point=0), _ints(4, 5), _x(dtype, (4, 5), name="y", point=0)],
                   ("ScatterNdOptions", {}))  # fmt: skip


def _one_hot(dtype: str) -> Subject:
    at = Tensor("at", (3,), "int32")
    on, off = (
        Tensor(name, data=np.array(value, dtype), quant=_x(dtype).quant) for name, value in (("on", 7), ("off", 1))
    )
    return Subject([at, _scalar(4), on, off, _x(dtype, (3, 4), name="y")], ("OneHotOptions", {0: ("int", -1)}),
                   inputs=[np.array([3, 1, 0], np.int32)])  # fmt: skip


def _update(dtype: str) -> Subject:
    return Subject([_x(dtype), _x(dtype, (1, 2, 3, 3), name="u"), _ints(1, 1, 2, 0), _x(dtype, name="y")],
                   ("DynamicUpdateSliceOptions", {}))  # fmt: skip


def _embedding(dtype: str) -> Subject:
    table = _x(dtype, (5, 4), name="table")
    table.data = integers(3, dtype, (5, 4))
    at = Tensor("at", (3,), "int32")
    return Subject([at, table, _x(dtype, (3, 4), name="y")], inputs=[np.array([3, 0, 3], np.int32)])


def _fill(dtype: str) -> Subject:
    return Subject([_ints(2, 3), _x(dtype, ()), _x(dtype, (2, 3), name="y")], ("FillOptions", {}))


def _sparse(dtype: str) -> Subject:
    default = Tensor("d", data=np.array(4, dtype), quant=_x(dtype).quant)
    return Subject([Tensor("at", data=np.array([1, 3], np.int32)), _ints(6), _x(dtype, (2,)), default,
                    _x(dtype, (6,), name="y")], ("SparseToDenseOptions", {}))  # fmt: skip


def _reversed(dtype: str) -> Subject:
    options: Options = ("ReverseSequenceOptions", {0: ("int", 1), 1: ("int", 0)})
    return Subject([_x(dtype), Tensor("n", data=np.array([2, 3], np.int32)), _x(dtype, name="y")], options)


def _cast(dtype: str) -> Subject:
    return Subject([_x(dtype), Tensor("y", SHAPE, "int32")], ("CastOptions", {}))


def _diagonal(dtype: str) -> Subject:
    return Subject([_x(dtype, (2, 3), point=0), _x(dtype, (2, 3, 3), name="y", point=0)], ("MatrixDiagOptions", {}))


def _diagonal_set(dtype: str) -> Subject:
    return Subject([_x(dtype, (2, 3, 3)), _x(dtype, (2, 3), name="d"), _x(dtype, (2, 3, 3), name="y")],
                   ("MatrixSetDiagOptions", {}))  # fmt: skip


def _broadcast(dtype: str) -> Subject:
    return Subject([_x(dtype), _ints(3, 2, 4, 6, 3), _x(dtype, (3, *SHAPE), name="y")], ("BroadcastToOptions", {}))


def _quantised(dtype: str) -> Subject:
    return Subject([Tensor("x", SHAPE), _x(dtype, name="y")], ("QuantizeOptions", {}),
                   inputs=[np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)])  # fmt: skip


def _dequantised(dtype: str) -> Subject:
    return Subject([_x(dtype), Tensor("y", SHAPE)], ("DequantizeOptions", {}))


def _window(dtype: str) -> Subject:
    """The largest of each window."""
    init = Tensor("i", data=np.array(np.iinfo(dtype).min, dtype), quant=_x(dtype).quant)
    sizes = ((1, 2, 2, 1), (1, 2, 2, 1), (1, 1, 1, 1))
    window = [Tensor(f"w{index}", data=np.array(values, np.int64)) for index, values in enumerate(sizes)]
    return Subject(
        [_x(dtype), init, *window, _x(dtype, (2, 2, 3, 3), name="y")], ("ReduceWindowOptions", {0: ("int", 4)})
    )


def _root(scale: float, result: Quant) -> Maker:
    """Of numbers above zero."""

    def make(dtype: str) -> Subject:
        subject = _function(scale, result)(dtype)
        x = np.maximum(integers(3, dtype, SHAPE), _zero(dtype) + 1).astype(dtype)
        return Subject(subject.tensors, subject.options, inputs=[x])

    return make


Maker = Callable[[str], Subject]
_ACTIVATED = {0: ("byte", 1), 1: ("bool", 0)}
CASES: dict[str, Maker] = {
    "ABS": _function(0.05, (0.04, -20)),
    "ADD": _binary(0.05, 0.08, ("AddOptions", {0: ("byte", 1)})),
    "ADD_N": _records_shared(3, ("AddNOptions", {})),
    "ARG_MAX": _positions("ArgMaxOptions"),
    "ARG_MIN": _positions("ArgMinOptions"),
    "AVERAGE_POOL_2D": _pool,
    "BATCH_MATMUL": _batched,
    "BATCH_TO_SPACE_ND": _same(
        _ints(2, 1), Tensor("crops", data=np.array([[0, 1], [1, 0]], np.int32)), shape=(1, 7, 5, 3),
        options=("BatchToSpaceNDOptions", {}),
    ),
    "BROADCAST_TO": _broadcast,
    "CAST": _cast,
    "CEIL": _function(0.05, (0.05, 9)),
    "CONCATENATION": _concat,
    "CONV_2D": _conv,
    "COS": _function(0.05, (0.01, 0), ("CosOptions", {})),
    "CUMSUM": _same(_scalar(1), options=("CumsumOptions", {})),
    "DEPTHWISE_CONV_2D": _depthwise,
    "DEPTH_TO_SPACE": _same(source=(2, 4, 6, 12), shape=(2, 8, 12, 3), options=("DepthToSpaceOptions", {0: ("int", 2)})),
    "DEQUANTIZE": _dequantised,
    "DIV": _binary(0.05, 0.1, ("DivOptions", {})),
    "DYNAMIC_UPDATE_SLICE": _update,
    "ELU": _function(0.05, (0.05, -20)),
    "EMBEDDING_LOOKUP": _embedding,
    "EQUAL": _compared,
    "EXP": _function(0.02, (0.1, -128), ("ExpOptions", {})),
    "EXPAND_DIMS": _same(_scalar(1), shape=(2, 1, 4, 6, 3), options=("ExpandDimsOptions", {})),
    "FILL": _fill,
    "FLOOR": _function(0.05, (0.05, 9)),
    "FLOOR_DIV": _binary(0.05, 0.05, ("FloorDivOptions", {})),
    "FLOOR_MOD": _binary(0.05, 0.05, ("FloorModOptions", {})),
    "FULLY_CONNECTED": _dense,
    "GATHER": _same(_ints(2, 0, 2), shape=(2, 3, 6, 3), options=("GatherOptions", {0: ("int", 1)})),
    "GATHER_ND": _same(
        Tensor("at", data=np.array([[1, 3], [0, 2]], np.int32)), shape=(2, 6, 3), options=("GatherNdOptions", {})
    ),
    "GELU": _function(0.05, (0.04, -100), ("GeluOptions", {0: ("bool", False)})),
    "GREATER": _compared,
    "GREATER_EQUAL": _compared,
    "HARD_SWISH": _function(0.05, (0.04, -100), ("HardSwishOptions", {})),
    "L2_NORMALIZATION": _l2,
    "L2_POOL_2D": _pool,
    "LEAKY_RELU": _function(0.05, (0.04, -50), ("LeakyReluOptions", {0: ("float", 0.2)})),
    "LESS": _compared,
    "LESS_EQUAL": _compared,
    "LOCAL_RESPONSE_NORMALIZATION": _same(options=("LocalResponseNormalizationOptions", {0: ("int", 2)})),
    "LOG": _function(0.05, (0.03, -20)),
    "LOGISTIC": _gate(0.05, (1 / 256, -128)),
    "LOG_SOFTMAX": _log_softmax,
    "MATRIX_DIAG": _diagonal,
    "MATRIX_SET_DIAG": _diagonal_set,
    "MAXIMUM": _records_shared(2, ("MaximumMinimumOptions", {})),
    "MAX_POOL_2D": _pool,
    "MEAN": _reduced(0.03),
    "MINIMUM": _records_shared(2, ("MaximumMinimumOptions", {})),
    "MIRROR_PAD": _padded("MirrorPadOptions"),
    "MUL": _binary(0.05, 0.3, ("MulOptions", {0: ("byte", 0)})),
    "NEG": _function(0.05, (0.05, 0), ("NegOptions", {}), at_zero=True),
    "NOT_EQUAL": _compared,
    "ONE_HOT": _one_hot,
    "PACK": _pack,
    "PAD": _padded("PadOptions"),
    "PADV2": _padded("PadV2Options"),
    "POW": _binary(0.05, 0.1, ("PowOptions", {})),
    "PRELU": _prelu,
    "QUANTIZE": _quantised,
    "REDUCE_MAX": _reduced(None),
    "REDUCE_MIN": _reduced(None),
    "REDUCE_PROD": _reduced(0.5),
    "REDUCE_WINDOW": _window,
    "RELU": _function(0.05, (0.04, -100)),
    "RELU6": _function(0.05, (0.04, -100)),
    "RELU_0_TO_1": _function(0.05, (0.04, -100)),
    "RELU_N1_TO_1": _function(0.05, (0.04, -100)),
    "RESHAPE": _same(_ints(8, 18), shape=(8, 18), options=("ReshapeOptions", {})),
    "RESIZE_BILINEAR": _resize("ResizeBilinearOptions", (2, 3)),
    "RESIZE_NEAREST_NEIGHBOR": _resize("ResizeNearestNeighborOptions", (0, 1)),
    "REVERSE_SEQUENCE": _reversed,
    "REVERSE_V2": _same(_ints(1), options=("ReverseV2Options", {})),
    "ROUND": _function(0.05, (0.05, 9)),
    "RSQRT": _root(0.05, (0.03, -20)),
    "SCATTER_ND": _scattered,
    "SELECT": _select("SelectOptions"),
    "SELECT_V2": _select("SelectV2Options"),
    "SIGN": _function(0.05, (0.05, 9)),
    "SIN": _function(0.05, (0.01, 0)),
    "SLICE": _same(_ints(0, 1, 2, 0), _ints(2, 3, -1, 2), shape=(2, 3, 4, 2), options=("SliceOptions", {})),
    "SOFTMAX": _softmax,
    "SPACE_TO_BATCH_ND": _same(
        _ints(2, 2), Tensor("pads", data=np.array([[0, 0], [1, 1]], np.int32)), shape=(8, 2, 4, 3),
        options=("SpaceToBatchNDOptions", {}),
    ),
    "SPACE_TO_DEPTH": _same(shape=(2, 2, 3, 12), options=("SpaceToDepthOptions", {0: ("int", 2)})),
    "SPARSE_TO_DENSE": _sparse,
    "SPLIT": _split,
    "SPLIT_V": _split_v,
    "SQRT": _root(0.05, (0.03, -20)),
    "SQUARE": _function(0.05, (0.2, -20), ("SquareOptions", {})),
    "SQUARED_DIFFERENCE": _binary(0.05, 0.6, ("SquaredDifferenceOptions", {})),
    "SQUEEZE": _same(source=(2, 1, 6, 3), shape=(2, 6, 3), options=("SqueezeOptions", {0: ("[int]", [1])})),
    "STRIDED_SLICE": _same(
        _ints(0, 3, 0, 0), _ints(2, 0, 6, 3), _ints(1, -1, 2, 1), shape=(2, 3, 3, 3),
        options=("StridedSliceOptions", {}),
    ),
    "SUB": _binary(0.05, 0.08, ("SubOptions", {0: ("byte", 0)})),
    "SUM": _reduced(0.2),
    "TANH": _gate(0.05, (1 / 128, 0)),
    "TILE": _same(_ints(1, 2, 1, 2), shape=(2, 8, 6, 6), options=("TileOptions", {})),
    "TOPK_V2": _top,
    "TRANSPOSE": _same(_ints(0, 3, 1, 2), shape=(2, 3, 4, 6), options=("TransposeOptions", {})),
    "TRANSPOSE_CONV": _transposed,
    "UNPACK": _unpack,
    "ZEROS_LIKE": _same(options=("ZerosLikeOptions", {})),
}  # fmt: skip


def content_and_inputs(name: str, dtype: str) -> tuple[bytes, list[Array]]:
    """The model of an operator, and what it is run with."""
    subject = CASES[name](dtype)
    content = model(name, subject.tensors, subject.outputs, subject.options)
    operands = subject.tensors[: len(subject.tensors) - subject.outputs]
    entering = [tensor for tensor in operands if tensor.data is None]
    inputs = list(subject.inputs) or [
        integers(3 + index, tensor.dtype, tensor.shape) for index, tensor in enumerate(entering)
    ]
    return content, inputs


REFUSED = "the reference refuses"


def outcome(name: str, dtype: str, isa: str = "scalar") -> str:
    """`equal`; REFUSED; else what is wrong."""
    content, inputs = content_and_inputs(name, dtype)
    try:
        # ELU is quantised, but not among the reference kernels.
        wanted = reference(
            content, inputs, resolver="BUILTIN_WITHOUT_DEFAULT_DELEGATES" if name == "ELU" else "BUILTIN_REF"
        )
    except (RuntimeError, ValueError) as error:
        return f"{REFUSED}: {str(error)[:110]}"
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for index, array in enumerate(inputs):
            paths.append(Path(folder) / f"input_{index}.npy")
            np.save(paths[-1], array)
        try:
            result = run(converted(content, Path(folder)), paths, Path(folder) / "out", isa)
        except Exception as error:  # what a converter or the runtime says is the outcome
            return f"FAILS: {error}"[:160]
    fallbacks = sorted({step.operator for step in result.fallbacks})
    problems = ["in float32: " + ", ".join(fallbacks)] if fallbacks else []
    for mine, want in zip(result.outputs, wanted, strict=True):
        if mine.shape != want.shape or mine.dtype != want.dtype:
            problems.append(f"{mine.dtype}{mine.shape} instead of {want.dtype}{want.shape}")
        elif not np.array_equal(mine, want):
            off = np.abs(mine.astype(np.int64) - want.astype(np.int64))
            problems.append(f"{np.count_nonzero(off)} of {off.size} differ, by up to {off.max()}")
    return "; ".join(problems) or "equal"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.integer_audit")
    parser.add_argument("-k", default="", metavar="TEXT", help="only operators whose name contains TEXT")
    options = parser.parse_args(arguments)
    for name in CASES:
        for dtype in DTYPES:
            if options.k in name:
                print(f"{name:26} {dtype:6} {outcome(name, dtype)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
