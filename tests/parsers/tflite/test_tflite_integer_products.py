"""Convolutions and matrix products on stored integers: the bits of LiteRT's reference kernels, over shapes, scales, types
and bias widths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from integer_models import Case, Chance, Operand, assert_same_bits
from tflite_build import Tensor

_CASES = 12
_SAME, _VALID = 0, 1


@dataclass
class Weight(Operand):
    """A constant with a scale for each index of one dimension, or a single one."""

    scales: Sequence[float] = ()
    axis: int = 0

    def tensor(self, name: str) -> Tensor:
        zeros = [self.zero] * len(self.scales)
        return Tensor(
            name, self.data.shape, self.data.dtype.name, self.data, (list(self.scales), zeros), axis=self.axis
        )


def _chance(seed: int) -> Chance:
    return Chance(100 + seed)


def _weight(chance: Chance, dtype: str, shape: Sequence[int], axis: int, per_channel: bool) -> Weight:
    """Weights of unsigned activations are unsigned, with a zero point; all others have none."""
    if dtype == "uint8":
        zero = chance.zero("uint8")
        return Weight(chance.integers("uint8", *shape), zero=zero, constant=True, scales=[chance.between(1e-3, 0.1)])
    data = np.maximum(chance.integers("int8", *shape), -127).astype(np.int8)
    scales = [chance.between(1e-3, 0.1) for _ in range(shape[axis] if per_channel else 1)]
    return Weight(data, constant=True, scales=scales, axis=axis)


def _bias(chance: Chance, x: Operand, weight: Weight, count: int, width: str) -> Weight:
    data = chance.generator.integers(-(1 << 14), 1 << 14, count).astype(width)
    return Weight(data, constant=True, scales=[float(np.float32(x.scale) * np.float32(s)) for s in weight.scales])


def _result(chance: Chance, x: Operand, weight: Weight, terms: int, shape: Sequence[int]) -> Operand:
    """The range is about that of the sums, so that some results are limited."""
    dtype = x.data.dtype.name
    spread = x.scale * float(np.mean(weight.scales)) * np.sqrt(terms) * (70 if dtype == "int16" else 90)
    scale = float(np.float32(spread * chance.between(0.3, 4)))
    return Operand(np.zeros(shape, dtype), scale, chance.zero(dtype))


def _input(chance: Chance, dtype: str, *shape: int) -> Operand:
    scale = chance.between(1e-4, 1e-2) if dtype == "int16" else chance.between(1e-2, 1)
    return Operand(chance.integers(dtype, *shape), scale, chance.zero(dtype))


@dataclass(frozen=True)
class Windows:
    """Random sizes of a convolution."""

    image: tuple[int, int]
    kernel: tuple[int, int]
    stride: int
    dilation: int
    padding: int

    @staticmethod
    def by(chance: Chance, dilated: bool = True) -> Windows:
        pick = chance.generator.integers
        dilation = int(pick(1, 3)) if dilated and pick(0, 3) == 0 else 1
        kernel = (int(pick(1, 6)), int(pick(1, 6)))
        image = tuple(int((size - 1) * dilation + pick(1, 10)) for size in kernel)
        stride = 1 if dilation > 1 else int(pick(1, 4))
        return Windows((image[0], image[1]), kernel, stride, dilation, int(pick(0, 2)))

    def results(self) -> tuple[int, int]:
        def size(axis: int) -> int:
            span = 0 if self.padding == _SAME else (self.kernel[axis] - 1) * self.dilation
            return -(-(self.image[axis] - span) // self.stride)

        return size(0), size(1)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int16 and int32"])
def test_convolution(dtype: str, tmp_path: Path) -> None:
    dtype, _, narrow = dtype.partition(" and ")
    chance, cases = _chance(1), []
    for _ in range(_CASES):
        sizes, group = Windows.by(chance), 1 if dtype == "uint8" else int(chance.generator.integers(1, 4))
        depth, out = chance.size(20), group * chance.size(20)
        x = _input(chance, dtype, chance.size(3), *sizes.image, depth * group)
        weight = _weight(chance, dtype, (out, *sizes.kernel, depth), 0, chance.generator.random() < 0.7)
        width = narrow or ("int64" if dtype == "int16" else "int32")
        bias = _bias(chance, x, weight, out, width)
        y = _result(
            chance, x, weight, depth * sizes.kernel[0] * sizes.kernel[1], (x.data.shape[0], *sizes.results(), out)
        )
        options = {
            0: ("byte", sizes.padding), 1: ("int", sizes.stride), 2: ("int", sizes.stride),
            3: ("byte", int(chance.generator.integers(0, 4))), 4: ("int", sizes.dilation), 5: ("int", sizes.dilation),
        }  # fmt: skip
        if narrow:
            options[6] = ("byte", 2)
        cases.append(Case("CONV_2D", [x, weight, bias], y, ("Conv2DOptions", options)))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_depthwise_convolution(dtype: str, tmp_path: Path) -> None:
    chance, cases = _chance(2), []
    for number in range(2 * _CASES):
        sizes, multiplier = Windows.by(chance), 1 if number % 3 else chance.size(4)
        depth = chance.size(40)
        out = depth * multiplier
        x = _input(chance, dtype, chance.size(3), *sizes.image, depth)
        weight = _weight(chance, dtype, (1, *sizes.kernel, out), 3, chance.generator.random() < 0.7)
        bias = _bias(chance, x, weight, out, "int64" if dtype == "int16" else "int32")
        y = _result(chance, x, weight, sizes.kernel[0] * sizes.kernel[1], (x.data.shape[0], *sizes.results(), out))
        options = {
            0: ("byte", sizes.padding), 1: ("int", sizes.stride), 2: ("int", sizes.stride), 3: ("int", multiplier),
            4: ("byte", int(chance.generator.integers(0, 4))), 5: ("int", sizes.dilation), 6: ("int", sizes.dilation),
        }  # fmt: skip
        cases.append(Case("DEPTHWISE_CONV_2D", [x, weight, bias], y, ("DepthwiseConv2DOptions", options)))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_transposed_convolution(dtype: str, has_bias: bool, tmp_path: Path) -> None:
    chance, cases = _chance(3), []
    for _ in range(_CASES):
        sizes = Windows.by(chance, dilated=False)
        small, depth, out = (chance.size(7), chance.size(7)), chance.size(20), chance.size(10)
        # VALID keeps what the kernel reaches beyond the stride.
        reach = [max(size - sizes.stride, 0) if sizes.padding == _VALID else 0 for size in sizes.kernel]
        large = tuple(small[axis] * sizes.stride + reach[axis] for axis in range(2))
        x = _input(chance, dtype, chance.size(3), *small, depth)
        shape = (x.data.shape[0], *large, out)
        weight = _weight(chance, dtype, (out, *sizes.kernel, depth), 0, chance.generator.random() < 0.7)
        y = _result(chance, x, weight, depth * sizes.kernel[0] * sizes.kernel[1] // sizes.stride**2 + 1, shape)
        operands: list[Operand] = [Operand(np.array(shape, np.int32), constant=True), weight, x]
        if has_bias:
            operands.append(_bias(chance, x, weight, out, "int64" if dtype == "int16" else "int32"))
        options = {0: ("byte", sizes.padding), 1: ("int", sizes.stride), 2: ("int", sizes.stride)}
        cases.append(Case("TRANSPOSE_CONV", operands, y, ("TransposeConvOptions", options)))
    assert_same_bits(cases, tmp_path)


def _turned(shape: Sequence[int], turned: int) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if turned else tuple(shape)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_batches_of_products_of_activations(dtype: str, tmp_path: Path) -> None:
    chance, cases = _chance(4), []
    for _ in range(_CASES):
        a_batch, b_batch, batch = chance.shapes()
        m, n, k = chance.size(20), chance.size(20), chance.size(40)
        a_batch, b_batch, batch = a_batch[-2:], b_batch[-2:], batch[-2:]
        turn_a, turn_b = (int(chance.generator.integers(0, 2)) for _ in range(2))
        a = _input(chance, dtype, *_turned((*a_batch, m, k), turn_a))
        b = _input(chance, dtype, *_turned((*b_batch, k, n), turn_b))
        scale = float(np.float32(a.scale * b.scale * np.sqrt(k) * (9000 if dtype == "int16" else 70)))
        batch = np.broadcast_shapes(tuple(a_batch), tuple(b_batch))
        y = Operand(np.zeros((*batch, m, n), dtype), scale, chance.zero(dtype))
        options = {0: ("bool", turn_a), 1: ("bool", turn_b)}
        cases.append(Case("BATCH_MATMUL", [a, b], y, ("BatchMatMulOptions", options)))
    assert_same_bits(cases, tmp_path)


def test_batches_of_products_with_a_constant_operand(tmp_path: Path) -> None:
    chance, cases = _chance(8), []
    for number in range(_CASES):
        m, n, k = chance.size(20), chance.size(20), chance.size(40)
        turned = number % 2
        a = _input(chance, "int8", m, k)
        scales = [chance.between(1e-3, 0.1)]
        b = Weight(
            chance.integers("int8", *_turned((k, n), turned)), constant=True, zero=chance.zero("int8"), scales=scales
        )
        scale = float(np.float32(a.scale * scales[0] * np.sqrt(k) * 70))
        y = Operand(np.zeros((m, n), np.int8), scale, chance.zero("int8"))
        cases.append(Case("BATCH_MATMUL", [a, b], y, ("BatchMatMulOptions", {1: ("bool", turned)})))
    assert_same_bits(cases, tmp_path)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int16 and int32"])
def test_fully_connected(dtype: str, keeps: bool, tmp_path: Path) -> None:
    dtype, _, narrow = dtype.partition(" and ")
    chance, cases = _chance(5), []
    for _ in range(_CASES):
        depth, out = chance.size(60), chance.size(30)
        rows = (chance.size(5), chance.size(5)) if keeps else (chance.size(9),)
        x = _input(chance, dtype, *rows, depth)
        weight = _weight(chance, dtype, (out, depth), 0, chance.generator.random() < 0.5)
        bias = _bias(chance, x, weight, out, narrow or ("int64" if dtype == "int16" else "int32"))
        y = _result(chance, x, weight, depth, (*rows, out))
        options = {0: ("byte", int(chance.generator.integers(0, 4))), 2: ("bool", keeps)}
        if narrow:
            options[4] = ("byte", 2)
        cases.append(Case("FULLY_CONNECTED", [x, weight, bias], y, ("FullyConnectedOptions", options)))
    assert_same_bits(cases, tmp_path)


def test_fully_connected_with_computed_weights(tmp_path: Path) -> None:
    chance, cases = _chance(6), []
    for _ in range(_CASES):
        depth, out, rows = chance.size(60), chance.size(30), chance.size(9)
        x, weight = _input(chance, "int8", rows, depth), _input(chance, "int8", out, depth)
        scale = float(np.float32(x.scale * weight.scale * np.sqrt(depth) * 90))
        y = Operand(np.zeros((rows, out), np.int8), scale, chance.zero("int8"))
        cases.append(Case("FULLY_CONNECTED", [x, weight], y, ("FullyConnectedOptions", {})))
    assert_same_bits(cases, tmp_path)


def test_products_of_sixteen_bit_constants(tmp_path: Path) -> None:
    chance, cases = _chance(7), []
    for number in range(_CASES):
        depth, out, rows = chance.size(60), chance.size(30), chance.size(9)
        x = _input(chance, "int16", rows, depth)
        scales = [chance.between(1e-5, 1e-4) for _ in range(out if number % 2 else 1)]
        weight = Weight(chance.integers("int16", out, depth), constant=True, scales=scales)
        scale = float(np.float32(x.scale * np.mean(scales) * np.sqrt(depth) * 9000))
        y = Operand(np.zeros((rows, out), np.int16), scale)
        bias = _bias(chance, x, weight, out, "int64")
        cases.append(Case("FULLY_CONNECTED", [x, weight, bias], y, ("FullyConnectedOptions", {4: ("byte", 4)})))
    assert_same_bits(cases, tmp_path)
