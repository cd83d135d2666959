"""Checks each TensorFlow Lite operator with each quantized data type, with one model each.

    python -m tests.kernels.integer_audit [-k TEXT]

Prints a line per operator and data type: `equal` (computed on integers, with the reference's bits), the operators that run in float32
between casts, or the differences. `REFUSED` means that LiteRT's reference kernels do not support the data type.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.e2e.integers import run
from tests.kernels import integer_subjects as make
from tests.kernels.integer_models import Array, Tensor, converted, integers, model, reference

DTYPES = ("int8", "uint8", "int16")

CASES: dict[str, make.Maker] = {
    "ABS": make.function(0.05, (0.04, -20)),
    "ADD": make.binary(0.05, 0.08, ("AddOptions", {0: ("byte", 1)})),
    "ADD_N": make.records_shared(3, ("AddNOptions", {})),
    "ARG_MAX": make.positions("ArgMaxOptions"),
    "ARG_MIN": make.positions("ArgMinOptions"),
    "AVERAGE_POOL_2D": make.pool,
    "BATCH_MATMUL": make.batched,
    "BATCH_TO_SPACE_ND": make.same(
        make.constants(2, 1), Tensor("crops", data=np.array([[0, 1], [1, 0]], np.int32)), shape=(1, 7, 5, 3),
        options=("BatchToSpaceNDOptions", {}),
    ),
    "BROADCAST_TO": make.broadcast,
    "CAST": make.cast,
    "CEIL": make.function(0.05, (0.05, 9)),
    "CONCATENATION": make.concat,
    "CONV_2D": make.conv,
    "COS": make.function(0.05, (0.01, 0), ("CosOptions", {})),
    "CUMSUM": make.same(make.scalar(1), options=("CumsumOptions", {})),
    "DEPTHWISE_CONV_2D": make.depthwise,
    "DEPTH_TO_SPACE": make.same(source=(2, 4, 6, 12), shape=(2, 8, 12, 3), options=("DepthToSpaceOptions", {0: ("int", 2)})),
    "DEQUANTIZE": make.dequantize,
    "DIV": make.binary(0.05, 0.1, ("DivOptions", {})),
    "DYNAMIC_UPDATE_SLICE": make.update,
    "ELU": make.function(0.05, (0.05, -20)),
    "EMBEDDING_LOOKUP": make.embedding,
    "EQUAL": make.compared,
    "EXP": make.function(0.02, (0.1, -128), ("ExpOptions", {})),
    "EXPAND_DIMS": make.same(make.scalar(1), shape=(2, 1, 4, 6, 3), options=("ExpandDimsOptions", {})),
    "FILL": make.fill,
    "FLOOR": make.function(0.05, (0.05, 9)),
    "FLOOR_DIV": make.binary(0.05, 0.05, ("FloorDivOptions", {})),
    "FLOOR_MOD": make.binary(0.05, 0.05, ("FloorModOptions", {})),
    "FULLY_CONNECTED": make.dense,
    "GATHER": make.same(make.constants(2, 0, 2), shape=(2, 3, 6, 3), options=("GatherOptions", {0: ("int", 1)})),
    "GATHER_ND": make.same(
        Tensor("at", data=np.array([[1, 3], [0, 2]], np.int32)), shape=(2, 6, 3), options=("GatherNdOptions", {})
    ),
    "GELU": make.function(0.05, (0.04, -100), ("GeluOptions", {0: ("bool", False)})),
    "GREATER": make.compared,
    "GREATER_EQUAL": make.compared,
    "HARD_SWISH": make.function(0.05, (0.04, -100), ("HardSwishOptions", {})),
    "L2_NORMALIZATION": make.l2,
    "L2_POOL_2D": make.pool,
    "LEAKY_RELU": make.function(0.05, (0.04, -50), ("LeakyReluOptions", {0: ("float", 0.2)})),
    "LESS": make.compared,
    "LESS_EQUAL": make.compared,
    "LOCAL_RESPONSE_NORMALIZATION": make.same(options=("LocalResponseNormalizationOptions", {0: ("int", 2)})),
    "LOG": make.function(0.05, (0.03, -20)),
    "LOGISTIC": make.gate(0.05, (1 / 256, -128)),
    "LOG_SOFTMAX": make.log_softmax,
    "MATRIX_DIAG": make.diagonal,
    "MATRIX_SET_DIAG": make.diagonal_set,
    "MAXIMUM": make.records_shared(2, ("MaximumMinimumOptions", {})),
    "MAX_POOL_2D": make.pool,
    "MEAN": make.reduced(0.03),
    "MINIMUM": make.records_shared(2, ("MaximumMinimumOptions", {})),
    "MIRROR_PAD": make.padded("MirrorPadOptions"),
    "MUL": make.binary(0.05, 0.3, ("MulOptions", {0: ("byte", 0)})),
    "NEG": make.function(0.05, (0.05, 0), ("NegOptions", {}), at_zero=True),
    "NOT_EQUAL": make.compared,
    "ONE_HOT": make.one_hot,
    "PACK": make.pack,
    "PAD": make.padded("PadOptions"),
    "PADV2": make.padded("PadV2Options"),
    "POW": make.binary(0.05, 0.1, ("PowOptions", {})),
    "PRELU": make.prelu,
    "QUANTIZE": make.quantize,
    "REDUCE_MAX": make.reduced(None),
    "REDUCE_MIN": make.reduced(None),
    "REDUCE_PROD": make.reduced(0.5),
    "REDUCE_WINDOW": make.reduce_window,
    "RELU": make.function(0.05, (0.04, -100)),
    "RELU6": make.function(0.05, (0.04, -100)),
    "RELU_0_TO_1": make.function(0.05, (0.04, -100)),
    "RELU_N1_TO_1": make.function(0.05, (0.04, -100)),
    "RESHAPE": make.same(make.constants(8, 18), shape=(8, 18), options=("ReshapeOptions", {})),
    "RESIZE_BILINEAR": make.resize("ResizeBilinearOptions", (2, 3)),
    "RESIZE_NEAREST_NEIGHBOR": make.resize("ResizeNearestNeighborOptions", (0, 1)),
    "REVERSE_SEQUENCE": make.reversed,
    "REVERSE_V2": make.same(make.constants(1), options=("ReverseV2Options", {})),
    "ROUND": make.function(0.05, (0.05, 9)),
    "RSQRT": make.root(0.05, (0.03, -20)),
    "SCATTER_ND": make.scattered,
    "SELECT": make.select("SelectOptions"),
    "SELECT_V2": make.select("SelectV2Options"),
    "SIGN": make.function(0.05, (0.05, 9)),
    "SIN": make.function(0.05, (0.01, 0)),
    "SLICE": make.same(make.constants(0, 1, 2, 0), make.constants(2, 3, -1, 2), shape=(2, 3, 4, 2), options=("SliceOptions", {})),
    "SOFTMAX": make.softmax,
    "SPACE_TO_BATCH_ND": make.same(
        make.constants(2, 2), Tensor("pads", data=np.array([[0, 0], [1, 1]], np.int32)), shape=(8, 2, 4, 3),
        options=("SpaceToBatchNDOptions", {}),
    ),
    "SPACE_TO_DEPTH": make.same(shape=(2, 2, 3, 12), options=("SpaceToDepthOptions", {0: ("int", 2)})),
    "SPARSE_TO_DENSE": make.sparse,
    "SPLIT": make.split,
    "SPLIT_V": make.split_v,
    "SQRT": make.root(0.05, (0.03, -20)),
    "SQUARE": make.function(0.05, (0.2, -20), ("SquareOptions", {})),
    "SQUARED_DIFFERENCE": make.binary(0.05, 0.6, ("SquaredDifferenceOptions", {})),
    "SQUEEZE": make.same(source=(2, 1, 6, 3), shape=(2, 6, 3), options=("SqueezeOptions", {0: ("[int]", [1])})),
    "STRIDED_SLICE": make.same(
        make.constants(0, 3, 0, 0), make.constants(2, 0, 6, 3), make.constants(1, -1, 2, 1), shape=(2, 3, 3, 3),
        options=("StridedSliceOptions", {}),
    ),
    "SUB": make.binary(0.05, 0.08, ("SubOptions", {0: ("byte", 0)})),
    "SUM": make.reduced(0.2),
    "TANH": make.gate(0.05, (1 / 128, 0)),
    "TILE": make.same(make.constants(1, 2, 1, 2), shape=(2, 8, 6, 6), options=("TileOptions", {})),
    "TOPK_V2": make.top,
    "TRANSPOSE": make.same(make.constants(0, 3, 1, 2), shape=(2, 3, 4, 6), options=("TransposeOptions", {})),
    "TRANSPOSE_CONV": make.transposed,
    "UNPACK": make.unpack,
    "ZEROS_LIKE": make.same(options=("ZerosLikeOptions", {})),
}  # fmt: skip


def content_and_inputs(name: str, dtype: str) -> tuple[bytes, list[Array]]:
    """Returns the model of an operator, and its inputs."""
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
    """Returns `equal`, REFUSED, or the problem."""
    content, inputs = content_and_inputs(name, dtype)
    try:
        # LiteRT has a quantized ELU, but not among the reference kernels.
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
        except Exception as error:  # an error of the converter or the runtime is the result
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
