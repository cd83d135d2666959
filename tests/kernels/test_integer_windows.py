"""Pooling and reductions of stored integers are those of LiteRT's reference kernels, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.integer_models import TYPES, Tensor, compare, integers, model, reference, scales, zero_points

EXAMPLES = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_pooling(name: str, dtype: str, data: st.DataObject) -> None:
    draw = data.draw
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    shape = (draw(st.integers(1, 2)), draw(st.integers(4, 9)), draw(st.integers(5, 9)), draw(st.integers(1, 70)))
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    padding, activation = draw(st.integers(0, 1)), draw(st.integers(0, 3))
    quant = draw(scales), draw(zero_points(dtype))
    sizes = [
        -(-size // step) if padding == 0 else (size - taps) // step + 1
        for size, taps, step in zip(shape[1:3], kernel, strides, strict=True)
    ]
    options = {0: ("byte", padding), 1: ("int", strides[1]), 2: ("int", strides[0]), 3: ("int", kernel[1]),
               4: ("int", kernel[0]), 5: ("byte", activation)}  # fmt: skip
    tensors = [Tensor("x", shape, dtype, quant=quant), Tensor("y", (shape[0], *sizes, shape[3]), dtype, quant=quant)]
    content = model(name, tensors, options=("Pool2DOptions", options))
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])


@pytest.mark.parametrize("name", ["MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"])
@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_reductions(name: str, dtype: str, data: st.DataObject) -> None:
    if (name == "REDUCE_PROD" and dtype == "uint8") or (name == "SUM" and dtype != "uint8"):
        pytest.skip("the reference does not compute it, or reads its input as unsigned bytes")
    draw = data.draw
    rank = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(1, 12), min_size=rank, max_size=rank))
    if draw(st.booleans()):
        shape[-1] = 80
    axes = draw(st.lists(st.integers(-rank, rank - 1), min_size=1, max_size=rank, unique=True))
    reduced = {axis % rank for axis in axes}
    keeps = draw(st.booleans())
    kept = [1 if axis in reduced else size for axis, size in enumerate(shape) if keeps or axis not in reduced]
    quant = draw(scales), draw(zero_points(dtype))
    other = quant if name.startswith("REDUCE_M") else (draw(scales), draw(zero_points(dtype)))
    tensors = [
        Tensor("x", shape, dtype, quant=quant),
        Tensor("axes", (len(axes),), "int32", data=np.array(axes, np.int32)),
        Tensor("y", kept, dtype, quant=other),
    ]
    content = model(name, tensors, options=("ReducerOptions", {0: ("bool", keeps)}))
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])


def _sum(dtype: str, shape: tuple[int, int], source: tuple[float, int], target: tuple[float, int]) -> bytes:
    tensors = [
        Tensor("x", shape, dtype, quant=source),
        Tensor("axes", (1,), "int32", data=np.array([1], np.int32)),
        Tensor("y", shape[:1], dtype, quant=target),
    ]
    return model("SUM", tensors, options=("ReducerOptions", {0: ("bool", False)}))


@EXAMPLES
@given(data=st.data())
def test_sums_of_signed_integers(data: st.DataObject) -> None:
    """The reference reads them as unsigned bytes; right is what it computes of the same sums in unsigned ones."""
    draw = data.draw
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 9)))
    source, target = (draw(scales), draw(zero_points("int8"))), (draw(scales), draw(zero_points("int8")))
    x = integers(draw(st.integers(0, 99)), "int8", shape)
    unsigned = _sum("uint8", shape, (source[0], source[1] + 128), (target[0], target[1] + 128))
    (wanted,) = reference(unsigned, [x.view(np.uint8) ^ np.uint8(128)])
    compare(_sum("int8", shape, source, target), [x], [(wanted ^ np.uint8(128)).view(np.int8)])


@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_softmax_of_a_multiple(dtype: str, data: st.DataObject) -> None:
    """softmax(beta x): the factor goes into the scale."""
    draw = data.draw
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 40)))
    beta = float(np.float32(draw(st.floats(0.05, 8))))
    scale = draw(scales) / (100 if dtype == "int16" else 1)
    y = (1 / 32768, 0) if dtype == "int16" else (1 / 256, 0 if dtype == "uint8" else -128)
    x = Tensor("x", shape, dtype, quant=(float(np.float32(scale)), draw(zero_points(dtype))))
    content = model(
        "SOFTMAX", [x, Tensor("y", shape, dtype, quant=y)], options=("SoftmaxOptions", {0: ("float", beta)})
    )
    compare(content, [integers(draw(st.integers(0, 99)), dtype, shape)])
