"""Casts between float values and stored integers, and between records, give what LiteRT's reference kernels do, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.integer_models import TYPES, Tensor, compare, integers, model, scales, zero_points

EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True, database=None)
SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=4)


@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_from_real_numbers(dtype: str, data: st.DataObject) -> None:
    shape, scale, point = data.draw(SHAPES), data.draw(scales), data.draw(zero_points(dtype))
    tensors = [Tensor("x", shape), Tensor("y", shape, dtype, quant=(scale, point))]
    reach = 40000 if dtype == "int16" else 300  # beyond both ends
    x = np.random.default_rng(data.draw(st.integers(0, 99))).uniform(-reach, reach, shape) * scale
    compare(model("QUANTIZE", tensors), [x.astype(np.float32)])


@pytest.mark.parametrize("dtype", TYPES)
@EXAMPLES
@given(data=st.data())
def test_to_real_numbers(dtype: str, data: st.DataObject) -> None:
    shape, quant = data.draw(SHAPES), (data.draw(scales), data.draw(zero_points(dtype)))
    tensors = [Tensor("x", shape, dtype, quant=quant), Tensor("y", shape)]
    compare(model("DEQUANTIZE", tensors), [integers(data.draw(st.integers(0, 99)), dtype, shape)])


@pytest.mark.nonconforming("an input that is returned as it is")
@pytest.mark.parametrize(
    ("source", "target"), [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("int16", "int16")]
)
@EXAMPLES
@given(data=st.data())
def test_from_record_to_record(source: str, target: str, data: st.DataObject) -> None:
    draw, shape = data.draw, data.draw(SHAPES)
    records = [(draw(scales), draw(zero_points(dtype))) for dtype in (source, target)]
    tensors = [Tensor("x", shape, source, quant=records[0]), Tensor("y", shape, target, quant=records[1])]
    compare(model("QUANTIZE", tensors), [integers(draw(st.integers(0, 99)), source, shape)])
