"""Convolutions, fully connected layers and batched products with constant weights are those of LiteRT's reference
kernels, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.integer_models import Tensor, compare, integers, model, scales, zero_points

EXAMPLES = settings(max_examples=25, deadline=None)


def _weights(seed: int, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Signed weights leave out the least value, as the format asks."""
    values = integers(seed, dtype, shape)
    return np.maximum(values, -127).astype(np.int8) if dtype == "int8" else values


def _operands(
    data: st.DataObject, dtype: str, shape: tuple[int, ...], weights: tuple[int, ...], needs_bias: bool = False
) -> list[Tensor]:
    """x, weights [channels, ...] and perhaps a bias, with records per tensor or, where `dtype` may, per channel."""
    draw = data.draw
    seed = draw(st.integers(0, 99))
    channels, terms = weights[0], int(np.prod(weights[1:]))
    x = draw(scales), draw(zero_points(dtype))
    is_per_channel = dtype == "int8" and draw(st.booleans())
    steps = np.random.default_rng(seed).uniform(0.002, 0.05, channels if is_per_channel else 1).astype(np.float32)
    points = [0] * len(steps) if dtype == "int8" else [draw(zero_points(dtype))]
    operands = [
        Tensor("x", shape, dtype, quant=x),
        Tensor("w", data=_weights(seed, dtype, weights), quant=(steps.tolist(), points)),
    ]
    if needs_bias or draw(st.booleans()):
        bias = np.random.default_rng(seed).integers(-40 * terms, 40 * terms, channels).astype(np.int32)
        operands.append(Tensor("b", data=bias, quant=((np.float32(x[0]) * steps).tolist(), [0] * len(steps))))
    return operands


def _result(data: st.DataObject, dtype: str, operands: list[Tensor], shape: tuple[int, ...], terms: int) -> Tensor:
    """y with a scale that most sums fit into."""
    x, w = operands[0].quant, operands[1].quant
    assert x is not None
    assert w is not None
    product = float(x[0]) * float(np.mean(w[0]))  # type: ignore[arg-type]
    scale = float(np.float32(product * terms**0.5 * data.draw(st.floats(5, 200))))
    return Tensor("y", shape, dtype, quant=(scale, data.draw(zero_points(dtype))))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@EXAMPLES
@given(data=st.data())
def test_convolution(dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    group = draw(st.sampled_from([1, 1, 2, 3]))
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    strides, dilation = draw(st.tuples(st.integers(1, 3), st.integers(1, 3))), draw(st.integers(1, 2))
    spans = [(taps - 1) * dilation + 1 for taps in kernel]
    size = [draw(st.integers(span, span + 7)) for span in spans]
    shape = (draw(st.integers(1, 2)), size[0], size[1], group * draw(st.integers(1, 20)))
    weights = (group * draw(st.integers(1, 35)), *kernel, shape[3] // group)
    padding, activation = draw(st.integers(0, 1)), draw(st.integers(0, 3))
    sizes = [
        -(-length // step) if padding == 0 else (length - span) // step + 1
        for length, span, step in zip(size, spans, strides, strict=True)
    ]
    operands = _operands(data, dtype, shape, weights, needs_bias=True)
    y = _result(data, dtype, operands, (shape[0], sizes[0], sizes[1], weights[0]), int(np.prod(weights[1:])))
    options = {0: ("byte", padding), 1: ("int", strides[1]), 2: ("int", strides[0]), 3: ("byte", activation),
               4: ("int", dilation), 5: ("int", dilation)}  # fmt: skip
    content = model("CONV_2D", [*operands, y], options=("Conv2DOptions", options))
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@EXAMPLES
@given(data=st.data())
def test_fully_connected(dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    rows, columns = draw(st.sampled_from([1, 2, 7, 30])), draw(st.integers(1, 70))
    terms = draw(st.one_of(st.integers(1, 60), st.integers(700, 1700)))
    keeps, shape = draw(st.booleans()), (rows, terms)
    operands = _operands(data, dtype, shape, (columns, terms))
    y = _result(data, dtype, operands, (rows, columns), terms)
    options = {0: ("byte", draw(st.integers(0, 3))), 2: ("bool", keeps)}
    content = model("FULLY_CONNECTED", [*operands, y], options=("FullyConnectedOptions", options))
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])


@EXAMPLES
@given(data=st.data())
def test_batched_product_with_constant_weights(data: st.DataObject) -> None:
    draw = data.draw
    batch, rows, terms, columns = (draw(st.integers(1, most)) for most in (3, 20, 60, 40))
    is_transposed = draw(st.booleans())
    x = Tensor("x", (batch, rows, terms), "int8", quant=(draw(scales), draw(zero_points("int8"))))
    inner = (columns, terms) if is_transposed else (terms, columns)
    w = Tensor("w", data=_weights(draw(st.integers(0, 99)), "int8", (1, *inner)), quant=(draw(scales), 0))
    y = _result(data, "int8", [x, w], (batch, rows, columns), terms)
    content = model("BATCH_MATMUL", [x, w, y], options=("BatchMatMulOptions", {1: ("bool", is_transposed)}))
    compare(content, [integers(draw(st.integers(0, 99)), "int8", x.shape)])
