"""Calls of TensorFlow Lite operators that are not in the parser tests: functions, comparisons, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.parsers.tflite.test_tflite_families import CASES as FAMILIES
from tests.parsers.tflite.test_tflite_operators import CASES as OPERATORS
from tests.parsers.tflite.test_tflite_operators import f32, i32, options
from tests.parsers.tflite.tflite_build import Tensor
from tests.parsers.tflite.tflite_run import Array

Call = tuple[str, list[Array | Tensor | None], dict[str, Any]]
"""Operator, operands, and the arguments of `single`."""

_FUNCTIONS = (
    *(
        "ABS",
        "CEIL",
        "COS",
        "EXP",
        "FLOOR",
        "LOG",
        "LOGISTIC",
        "NEG",
        "RELU",
        "RELU6",
        "RSQRT",
        "SIN",
        "SQRT",
        "SQUARE",
    ),
    *("TANH", "ZEROS_LIKE", "QUANTIZE", "DEQUANTIZE"),
    *(
        "STABLEHLO_ABS",
        "STABLEHLO_CBRT",
        "STABLEHLO_COSINE",
        "STABLEHLO_EXPONENTIAL",
        "STABLEHLO_FLOOR",
        "STABLEHLO_LOG",
    ),
    *("STABLEHLO_LOGISTIC", "STABLEHLO_NEGATE", "STABLEHLO_RSQRT", "STABLEHLO_TANH", "STABLEHLO_CONVERT"),
)
_PAIRS = {
    "ADD": "AddOptions", "DIV": "DivOptions", "FLOOR_DIV": "FloorDivOptions", "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions", "MUL": "MulOptions", "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "ADD_N": "AddNOptions", "STABLEHLO_DIVIDE": "NONE", "STABLEHLO_MINIMUM": "NONE", "STABLEHLO_MULTIPLY": "NONE",
    "STABLEHLO_POWER": "NONE", "STABLEHLO_REMAINDER": "NONE", "STABLEHLO_SUBTRACT": "NONE", "STABLEHLO_AND": "NONE",
    "STABLEHLO_OR": "NONE",
}  # fmt: skip
_COMPARISONS = {
    "EQUAL": "EqualOptions", "GREATER": "GreaterOptions", "GREATER_EQUAL": "GreaterEqualOptions", "LESS": "LessOptions",
    "LESS_EQUAL": "LessEqualOptions", "NOT_EQUAL": "NotEqualOptions",
}  # fmt: skip


def _positive(*shape: int) -> Array:
    return np.asarray(np.abs(f32(*shape)) + np.float32(0.5))


def _more() -> list[Call]:
    truths = np.array([[True, False, True], [False, False, True]])
    pool = options("Pool2DOptions", _0=("byte", 0), _1=("int", 2), _2=("int", 2), _3=("int", 3), _4=("int", 2))
    calls: list[Call] = [(name, [_positive(2, 5)], {}) for name in _FUNCTIONS]
    calls += [(name, [_positive(2, 5), _positive(2, 5)], options(kind)) for name, kind in _PAIRS.items()]
    for name, kind in _COMPARISONS.items():
        calls.append((name, [f32(2, 5), f32(5)], {"outputs": ("bool",)} | options(kind)))
    for name in ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
        reduced = {"constant": (1,)} | options("ReducerOptions", _0=("bool", 1))
        calls.append((name, [f32(3, 4, 2), i32(1)], reduced))
    for name in ("LOGICAL_AND", "LOGICAL_OR"):
        kind = {"LOGICAL_AND": "LogicalAndOptions", "LOGICAL_OR": "LogicalOrOptions"}[name]
        calls.append((name, [truths, ~truths[:1]], {"outputs": ("bool",)} | options(kind)))
    calls.append(("LOGICAL_NOT", [truths], {"outputs": ("bool",)} | options("LogicalNotOptions")))
    calls.append(("REDUCE_ALL", [truths, i32(1)], {"constant": (1,), "outputs": ("bool",)} | options("ReducerOptions")))
    last = np.array(-1, np.int32)
    calls += [
        (
            "ARG_MIN",
            [f32(3, 5), last],
            {"constant": (1,), "outputs": ("int32",)} | options("ArgMinOptions", _0=("byte", 2)),
        ),
        ("MAX_POOL_2D", [f32(1, 7, 6, 3)], pool),
        ("RANK", [f32(2, 3)], {"outputs": ("int32",)} | options("RankOptions")),
        ("RESHAPE", [f32(2, 6), i32(3, 4)], {"constant": (1,)} | options("ReshapeOptions", _0=("[int]", [3, 4]))),
        ("TRANSPOSE", [f32(2, 3, 4), i32(2, 0, 1)], {"constant": (1,)} | options("TransposeOptions")),
        (
            "UNIQUE",
            [np.float32([3, 1, 3, 2])],
            {"outputs": ("float32", "int32")} | options("UniqueOptions", _0=("byte", 2)),
        ),
        ("STABLEHLO_CONCATENATE", [f32(2, 3), f32(2, 4)], options("StablehloConcatenateOptions", _0=("long", 1))),
        ("STABLEHLO_CLAMP", [np.float32(-1), f32(2, 3), np.float32(1)], {}),
        ("STABLEHLO_SELECT", [truths, f32(2, 3), f32(2, 3)], {}),
        ("STABLEHLO_TRANSPOSE", [f32(2, 3, 4)], options("StablehloTransposeOptions", _0=("[long]", [2, 0, 1]))),
        (
            "STABLEHLO_SLICE",
            [f32(4, 5)],
            options("StablehloSliceOptions", _0=("[long]", [1, 0]), _1=("[long]", [3, 5]), _2=("[long]", [1, 2])),
        ),
    ]
    return calls


CALLS: list[Call] = [*OPERATORS.values(), *FAMILIES.values(), *_more()]
