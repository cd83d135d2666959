"""Element-wise operators on stored integers: the bits of LiteRT's reference kernels, over shapes, scales and types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from integer_models import Case, Chance, Operand, Options, assert_same_bits
from tflite_run import Array

_CASES = 12
_TYPES = ["int8", "uint8", "int16"]
_MIN = {"int8": -128, "uint8": 0, "int16": 0}
"""The zero point of values between 0 and 1."""


@pytest.fixture(params=["scalar", ""], ids=["portable", "best"], autouse=True)
def _instruction_set(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs with the portable kernels, and with the best that this machine has."""
    monkeypatch.setenv("MSLITE_ISA", request.param)


def _empty(dtype: str, shape: tuple[int, ...]) -> Array:
    return np.zeros(shape, dtype)


def _every(dtype: str) -> Array:
    """Each integer of a type once."""
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1).astype(dtype)


def _activated(kind: str, chance: Chance) -> Options:
    return f"{kind}Options", {0: ("byte", int(chance.generator.integers(0, 4))), 1: ("bool", 0)}


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL", "DIV"])
def test_arithmetic(name: str, dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(1), []
    for _ in range(_CASES):
        a, b, y = chance.shapes()
        left = Operand(chance.integers(dtype, *a), chance.between(1e-3, 1), chance.zero(dtype))
        right = Operand(chance.integers(dtype, *b), chance.between(1e-3, 1), chance.zero(dtype))
        if name == "DIV":
            right.data[right.data == right.zero] = right.zero + 1 if right.zero < 127 else right.zero - 1
        scale = {
            "ADD": max(left.scale, right.scale) * chance.between(0.3, 3),
            "SUB": max(left.scale, right.scale) * chance.between(0.3, 3),
            "MUL": left.scale * right.scale * chance.between(1, 300),
            "DIV": left.scale / right.scale * chance.between(0.01, 1),
        }[name]
        result = Operand(_empty(dtype, y), scale, chance.zero(dtype))
        cases.append(Case(name, [left, right], result, _activated(name.capitalize(), chance)))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("name", ["ADD", "SUB"])
def test_scales_that_are_powers_of_two_only_shift(name: str, tmp_path: Path) -> None:
    chance, cases = Chance(2), []
    for _ in range(_CASES):
        shape, finer = (chance.size(), chance.size()), 2.0 ** (-8 - int(chance.generator.integers(0, 6)))
        scales = (2.0**-8, finer) if chance.generator.random() < 0.5 else (finer, 2.0**-8)
        operands = [Operand(chance.integers("int16", *shape), scale) for scale in scales]
        options: Options = (f"{name.capitalize()}Options", {1: ("bool", 1)})
        cases.append(Case(name, operands, Operand(_empty("int16", shape), 2.0**-8), options))
    assert_same_bits(cases, tmp_path)


def test_squared_difference(tmp_path: Path) -> None:
    chance, cases = Chance(3), []
    for _ in range(_CASES):
        a, b, y = chance.shapes()
        operands = [
            Operand(chance.integers("int8", *shape), chance.between(1e-3, 1), chance.zero("int8")) for shape in (a, b)
        ]
        scale = (2 * max(operand.scale for operand in operands)) ** 2 / 2**14 * chance.between(1.1, 300)
        cases.append(Case("SQUARED_DIFFERENCE", operands, Operand(_empty("int8", y), scale, chance.zero("int8"))))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("name", ["MAXIMUM", "MINIMUM"])
def test_larger_and_smaller(name: str, dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(4), []
    for _ in range(_CASES):
        a, b, y = chance.shapes()
        scale, zero = chance.between(1e-3, 1), chance.zero(dtype)
        operands = [Operand(chance.integers(dtype, *shape), scale, zero) for shape in (a, b)]
        cases.append(Case(name, operands, Operand(_empty(dtype, y), scale, zero)))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("name", ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"])
def test_comparisons(name: str, dtype: str, same: bool, tmp_path: Path) -> None:
    chance, cases = Chance(5), []
    for _ in range(_CASES):
        a, b, y = chance.shapes()
        left = Operand(chance.integers(dtype, *a), chance.between(1e-3, 0.9), chance.zero(dtype))
        right = Operand(chance.integers(dtype, *b), chance.between(1e-3, 0.9), chance.zero(dtype))
        if same:
            right.scale, right.zero = left.scale, left.zero
        cases.append(Case(name, [left, right], Operand(_empty("bool", y))))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
def test_prelu(dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(6), []
    for _ in range(_CASES):
        shape = (1, chance.size(), chance.size(), chance.size(40))
        slope_type = "int8" if dtype == "int16" else dtype
        x = Operand(chance.integers(dtype, *shape), chance.between(1e-3, 1), chance.zero(dtype))
        over_space = shape[1:3] if chance.generator.random() < 0.5 else (1, 1)
        slope = chance.integers(slope_type, *over_space, shape[-1])
        operands = [x, Operand(slope, chance.between(1e-4, 0.1), chance.zero(slope_type), constant=True)]
        result = Operand(_empty(dtype, shape), x.scale * chance.between(0.5, 2), chance.zero(dtype))
        cases.append(Case("PRELU", operands, result))
    assert_same_bits(cases, tmp_path)


def _unary(name: str, chance: Chance, dtype: str, scale: float, output: tuple[float, float], **more: Options) -> Case:
    """All integers of a type, with an output scale in a range."""
    x = Operand(_every(dtype), scale, chance.zero(dtype))
    if name in ("SQRT", "RSQRT"):
        x.data = x.data[x.data >= x.zero]
    y = Operand(_empty(dtype, x.data.shape), chance.between(*output), chance.zero(dtype))
    return Case(name, [x], y, more.get("options", ("NONE", {})))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in ("RELU", "RELU6", "LEAKY_RELU") for dtype in _TYPES]
    + [(name, dtype) for name in ("RELU_N1_TO_1", "RELU_0_TO_1") for dtype in ("int8", "uint8")],
)
def test_rectifiers(name: str, dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(7), []
    for _ in range(_CASES):
        scale = chance.between(1e-3, 1)
        slope = ("LeakyReluOptions", {0: ("float", float(np.float32(chance.generator.uniform(-1, 1.5))))})
        options: Options = slope if name == "LEAKY_RELU" else ("NONE", {})
        cases.append(_unary(name, chance, dtype, scale, (scale / 3, scale * 3), options=options))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_hard_swish(dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(8), []
    for _ in range(_CASES):
        scale = chance.between(1e-3, 1)
        cases.append(
            _unary("HARD_SWISH", chance, dtype, scale, (scale / 120, scale * 8), options=("HardSwishOptions", {}))
        )
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("name", ["LOGISTIC", "TANH"])
def test_sigmoid_and_tanh(name: str, dtype: str, tmp_path: Path) -> None:
    """Also 16-bit scales of 2^-12 and 2^-11, which the reference treats by themselves."""
    chance, cases = Chance(9), []
    for number in range(_CASES):
        scale = chance.between(1e-5, 3e-3) if dtype == "int16" else chance.between(1e-3, 1)
        if dtype == "int16" and number < 2:
            scale = 2.0 ** (-12 + number)
        case = _unary(name, chance, dtype, scale, (1e-3, 1e-2))
        if dtype == "int16":
            case.output.scale = 1 / 32768
        elif name == "LOGISTIC":
            case.output.scale, case.output.zero = 1 / 256, _MIN[dtype]
        cases.append(case)
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_gelu(dtype: str, approximate: bool, tmp_path: Path) -> None:
    chance, cases = Chance(10), []
    for _ in range(_CASES):
        scale = chance.between(1e-3, 1)
        options: Options = ("GeluOptions", {0: ("bool", approximate)})
        cases.append(_unary("GELU", chance, dtype, scale, (scale / 3, scale * 3), options=options))
    assert_same_bits(cases, tmp_path)


def test_elu(tmp_path: Path) -> None:
    """LiteRT's set of reference kernels leaves it out."""
    chance, cases = Chance(11), []
    for _ in range(_CASES):
        scale = chance.between(1e-3, 1)
        cases.append(_unary("ELU", chance, "int8", scale, (scale / 3, scale * 3)))
    assert_same_bits(cases, tmp_path, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")


@pytest.mark.parametrize(
    ("name", "dtype", "scales", "outputs"),
    [
        ("ABS", "int8", (1e-3, 1), (1e-3, 1)),
        ("ABS", "int16", (1e-3, 1), (1e-3, 1)),
        ("EXP", "int8", (1e-3, 0.02), (0.05, 1)),
        ("EXP", "int16", (1e-5, 1e-4), (1e-3, 1e-2)),
        ("LOG", "int8", (1e-3, 1), (3e-3, 0.1)),
        ("LOG", "int16", (1e-6, 1e-2), (3e-5, 1e-3)),
        ("SQRT", "int8", (1e-3, 1), (3e-3, 0.3)),
        ("SQRT", "int16", (1e-6, 1e-2), (3e-5, 1e-3)),
        ("RSQRT", "int8", (1e-3, 1), (3e-3, 10)),
        ("RSQRT", "int16", (1e-6, 1e-2), (3e-4, 0.1)),
    ],
)
def test_other_functions(
    name: str, dtype: str, scales: tuple[float, float], outputs: tuple[float, float], tmp_path: Path
) -> None:
    chance = Chance(12)
    cases = [_unary(name, chance, dtype, chance.between(*scales), outputs) for _ in range(_CASES)]
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_negative_of_integers_around_zero(dtype: str, tmp_path: Path) -> None:
    x = Operand(_every(dtype), 0.25)
    assert_same_bits([Case("NEG", [x], Operand(_empty(dtype, x.data.shape), 0.25))], tmp_path)


def _rows(chance: Chance, dtype: str) -> Operand:
    """Rows of integers, sometimes near each other: sums of up to 250 exponentials are within the reference's reach."""
    data = chance.integers(dtype, chance.size(4), int(chance.generator.choice([1, 2, 3, 10, 37, 250])))
    if chance.generator.random() < 0.3:
        data = np.clip(data, 0, 20).astype(dtype)
    scale = chance.between(1e-5, 3e-2) if dtype == "int16" else chance.between(1e-3, 5)
    return Operand(data, scale, chance.zero(dtype))


@pytest.mark.parametrize("dtype", [*_TYPES, "int8 to int16", "uint8 to int16"])
def test_softmax(dtype: str, tmp_path: Path) -> None:
    source, target = (dtype.split(" to ") * 2)[:2]
    chance, cases = Chance(13), []
    for _ in range(_CASES):
        x = _rows(chance, source)
        y = Operand(_empty(target, x.data.shape), 1 / 32768 if target == "int16" else 1 / 256, _MIN[target])
        beta = chance.between(0.1, 4) if chance.generator.random() < 0.5 else 1.0
        cases.append(Case("SOFTMAX", [x], y, ("SoftmaxOptions", {0: ("float", beta)})))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", ["LOG_SOFTMAX", "L2_NORMALIZATION"])
def test_normalization(name: str, dtype: str, tmp_path: Path) -> None:
    scale, zero = (1 / 16, 127) if name == "LOG_SOFTMAX" else (1 / 128, 0)
    chance, cases = Chance(14), []
    for _ in range(_CASES):
        x = _rows(chance, dtype)
        y = Operand(_empty(dtype, x.data.shape), scale, zero + 128 if dtype == "uint8" else zero)
        options: Options = ("LogSoftmaxOptions", {}) if name == "LOG_SOFTMAX" else ("L2NormOptions", {0: ("byte", 0)})
        cases.append(Case(name, [x], y, options))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", ["ARG_MAX", "ARG_MIN"])
def test_positions(name: str, dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(15), []
    for _ in range(_CASES):
        shape = (chance.size(), chance.size(40))
        x = Operand(chance.integers(dtype, *shape), chance.between(1e-3, 1), chance.zero(dtype))
        axis = Operand(np.array(1, np.int32), constant=True)
        options: Options = ("ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions", {0: ("byte", 2)})
        cases.append(Case(name, [x, axis], Operand(_empty("int32", shape[:1])), options))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
def test_choice(dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(16), []
    for _ in range(_CASES):
        a, b, y = chance.shapes()
        scale, zero = chance.between(1e-3, 1), chance.zero(dtype)
        condition = Operand(chance.generator.random(y) < 0.5)
        operands = [condition, *(Operand(chance.integers(dtype, *shape), scale, zero) for shape in (a, b))]
        cases.append(Case("SELECT_V2", operands, Operand(_empty(dtype, y), scale, zero)))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize(
    ("source", "target"),
    [(a, b) for a in ("int8", "uint8") for b in ("int8", "uint8", "int16")]
    + [("int16", "int8"), ("int16", "int16"), ("int16", "int32"), ("int32", "int8"), ("int32", "int16")]
    + [("float32", dtype) for dtype in _TYPES],
)
def test_quantization(source: str, target: str, tmp_path: Path) -> None:
    chance, cases = Chance(17), []
    for _ in range(_CASES):
        scale = chance.between(1e-4, 1)
        zero = 0 if target == "int32" else chance.zero(target)
        y = Operand(_empty(target, (300,)), scale, zero)
        if source == "float32":
            real = (chance.generator.normal(size=300) * 100).astype(np.float32)
            real[:50] = np.round(real[:50]) + np.float32(0.5)  # half-way
            x = Operand((real * np.float32(scale)).astype(np.float32))
        elif source == "int32":
            x = Operand(chance.generator.integers(-100000, 100000, 300).astype(np.int32), chance.between(1e-4, 1))
        else:
            x = Operand(chance.integers(source, 300), scale * chance.between(0.1, 10), chance.zero(source))
        cases.append(Case("QUANTIZE", [x], y))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
def test_real_numbers(dtype: str, tmp_path: Path) -> None:
    chance, cases = Chance(18), []
    for _ in range(_CASES):
        x = Operand(chance.integers(dtype, 300), chance.between(1e-4, 1), chance.zero(dtype))
        cases.append(Case("DEQUANTIZE", [x], Operand(_empty("float32", (300,)))))
    assert_same_bits(cases, tmp_path)
