"""Records and stored integers: the formulas, zero exactly representable, errors of half a step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import dequantized_array
from mslite.quantizer.precision.schemes import (
    INT8_ACTIVATION,
    INT8_WEIGHT,
    INT16_ACTIVATION,
    Range,
    Scheme,
    channel_records,
    record,
    stored,
)

NUMBERS = st.floats(-1e6, 1e6, width=32)
SCHEMES = st.sampled_from(
    [INT8_ACTIVATION, INT8_WEIGHT, INT16_ACTIVATION, Scheme(4), Scheme(12), Scheme(unsigned=True)]
)


def test_numbers_by_hand() -> None:
    got = record(Range(-1.0, 2.0), INT8_ACTIVATION)
    assert got.scale == 3 / 255
    assert got.zeroPoint == round(-128 + 1 / (3 / 255))
    got = record(Range(-1.0, 2.0), INT8_WEIGHT)
    assert (got.scale, got.zeroPoint) == (2 / 127, 0)
    got = record(Range(0.5, 2.0), INT8_ACTIVATION)
    assert (got.scale, got.zeroPoint) == (2 / 255, -128)
    got = record(Range(0.0, 2.0), Scheme(unsigned=True))
    assert (got.scale, got.zeroPoint, got.dstDtype) == (2 / 255, 0, int(DataType.UINT8))
    assert record(Range(-3.0, 1.0), INT16_ACTIVATION).scale == 3 / 32767


@pytest.mark.parametrize("bits", range(1, 17))
def test_asymmetric_integers_fill_their_type(bits: int) -> None:
    scheme = Scheme(bits)
    assert (scheme.low, scheme.high) == (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert scheme.dtype is (DataType.INT8 if bits <= 8 else DataType.INT16)
    data = np.array([-1.0, 0.0, 0.5, 1.0], np.float32)
    q = stored(data, (record(Range(-1.0, 1.0), scheme),), 0, scheme)
    assert q.min() == scheme.low
    assert q.max() == scheme.high


@given(NUMBERS, NUMBERS, SCHEMES)
def test_within_the_range_the_error_is_half_a_step(a: float, b: float, scheme: Scheme) -> None:
    low, high = min(a, b), max(a, b)
    found = record(Range(low, high), scheme)
    values = np.linspace(min(low, 0), max(high, 0), 97)
    q = stored(values, (found,), 0, scheme)
    assert int(stored(np.zeros(1), (found,), 0, scheme)[0]) == found.zeroPoint
    back = (q.astype(np.float64) - found.zeroPoint) * found.scale
    # The zero point is rounded, so that an end of the range may be cut by half a step more.
    assert np.abs(back - values).max() <= found.scale * (1 + 1e-9)
    inside = (q > scheme.low) & (q < scheme.high)
    assert np.abs(back - values)[inside].max(initial=0.0) <= found.scale * (0.5 + 1e-9)


@pytest.mark.parametrize("found", [Range(0.0, 0.0), Range(0.0, 1e-320), Range(-np.inf, 1.0)])
def test_impossible_ranges_give_a_usable_record(found: Range) -> None:
    for scheme in (INT8_ACTIVATION, INT8_WEIGHT):
        got = record(found, scheme)
        assert got.scale == 1.0
        assert scheme.low <= got.zeroPoint <= scheme.high


def test_every_channel_has_its_own_scale() -> None:
    data = np.array([[1.0, -2.0], [0.25, 0.5], [0.0, 0.0]], np.float32)
    for axis, wanted in ((0, [2 / 127, 0.5 / 127, 1.0]), (1, [1 / 127, 2 / 127])):
        records = channel_records(data, axis, INT8_WEIGHT)
        assert [item.scale for item in records] == pytest.approx(wanted)
        q = stored(data, records, axis, INT8_WEIGHT)
        steps = np.array([item.scale for item in records]).reshape((-1, 1) if axis == 0 else (1, -1))
        assert (np.abs(dequantized_array(q, records, axis) - data) <= steps / 2 + 1e-7).all()


def test_half_is_rounded_away_from_zero() -> None:
    one = record(Range(-127.0, 127.0), INT8_WEIGHT)
    values = np.array([0.5, -0.5, 1.5, -1.5, 2.5, -2.5])
    assert stored(values, (one,), 0, INT8_WEIGHT).tolist() == [1, -1, 2, -2, 3, -3]
