"""References of the conversions between float values and integers that need no quantization records."""

from __future__ import annotations

import numpy as np

from ..graph import numpy_type
from ..ops import quantization as ops
from ..ops.enums import DataType
from ._declare import Array, Inputs, case, float32, normal, reference


def _round_half_away(x: Array) -> Array:
    exact = x.astype(np.float64)
    return np.asarray(np.sign(exact) * np.floor(np.abs(exact) + 0.5))


@reference("DynamicQuant")
def dynamic_quant(op: ops.DynamicQuant, inputs: Inputs) -> list[Array]:
    """int8 by the range of the values, of the whole tensor or of each index of the kept axes; float32: what it means.

    In float32, in TensorFlow Lite's order. symmetric: scale = max|x| / 127, zero point 0. Otherwise the range is widened
    to hold 0, scale = range / 255 and zero point = round(-128 - low / scale), or round(127 - high / scale) where that
    comes out of smaller numbers.
    """
    assert inputs[0] is not None
    x = inputs[0]
    if x.size == 0:
        return [np.zeros(x.shape, numpy_type(DataType(op.dst_type)))]
    kept = {axis % x.ndim for axis in (op.prefer_axes or (op.prefer_axis,))} if op.activation_channel else set()
    axes = tuple(axis for axis in range(x.ndim) if axis not in kept)
    zero32 = np.float32(0)
    low = np.minimum(x.min(axes, keepdims=True), zero32) if axes else np.minimum(x, zero32)
    high = np.maximum(x.max(axes, keepdims=True), zero32) if axes else np.maximum(x, zero32)
    empty = low == high
    with np.errstate(all="ignore"):
        if op.symmetric:
            most = np.maximum(-low, high)
            scale, steps = most / np.float32(127), np.float32(127) / most
            zero = np.zeros_like(scale)
        else:
            exact = (high.astype(np.float64) - low) / 255
            scale = exact.astype(np.float32)
            steps = np.float32(1) / scale
            from_low, from_high = low / exact, high / exact
            nearer = 128 + np.abs(from_low) < 127 + np.abs(from_high)
            zero = np.clip(_round_half_away(np.where(nearer, -128 - from_low, 127 - from_high)), -128, 127)
            zero = zero.astype(np.float32)
        scale, steps = np.where(empty, np.float32(1), scale), np.where(empty, zero32, steps)
        zero = np.where(empty, zero32, zero)
        q = np.clip(_round_half_away(zero + x * steps), -127 if op.symmetric else -128, 127)
    return [((q - zero) * scale).astype(np.float32) if op.dst_type == DataType.FLOAT32 else q.astype(np.int8)]


for _type in (DataType.INT8, DataType.FLOAT32):
    _label = _type.name.lower()
    case(f"asymmetric-{_label}", ops.DynamicQuant(dst_type=int(_type)), [normal(5, 7)])
    case(f"symmetric-{_label}", ops.DynamicQuant(symmetric=True, dst_type=int(_type)), [normal(3, 11, 13)])
    case(f"large-{_label}", ops.DynamicQuant(dst_type=int(_type)), [normal(2, 9000)])
    for _name, _axis, _axes in (
        ("rows", -2, ()),
        ("columns", -1, ()),
        ("batches-of-rows", -2, (0, -2)),
        ("batches-of-columns", -1, (0, -1)),
        ("all", 0, (0, 1, 2)),
    ):
        _op = ops.DynamicQuant(
            symmetric=True, dst_type=int(_type), activation_channel=True, prefer_axis=_axis, prefer_axes=_axes
        )
        case(f"{_name}-{_label}", _op, [normal(3, 17, 5)])
    case(f"zeros-{_label}", ops.DynamicQuant(dst_type=int(_type)), [float32(np.zeros((2, 3)))])
    case(f"positive-{_label}", ops.DynamicQuant(dst_type=int(_type)), [float32(np.abs(normal(40)) + 3)])
    case(f"nothing-{_label}", ops.DynamicQuant(dst_type=int(_type)), [float32(np.zeros((0, 3)))])


@reference("DynamicQuantizeLinear")
def dynamic_quantize_linear(op: ops.DynamicQuantizeLinear, inputs: Inputs) -> list[Array]:
    """uint8 by the range of the values and 0, its scale and zero point; in float32, half to even."""
    assert inputs[0] is not None
    x = inputs[0]
    low, high = (np.float32(f(x, initial=np.float32(0))) for f in (np.min, np.max))
    scale = np.float32(1) if low == high else np.float32((high - low) / np.float32(255))
    zero = np.clip(np.rint(-low / scale), 0, 255)
    y = np.clip(np.rint(x / scale) + zero, 0, 255)
    return [y.astype(np.uint8), np.asarray(scale), np.asarray(zero, np.uint8)]


for _label, _x in (
    ("plain", normal(5, 7)),
    ("large", normal(3, 20000)),
    ("halves", float32(np.arange(-8, 247.5, 0.5))),
    ("positive", np.abs(normal(40)) + float32(3)),
    ("negative", -np.abs(normal(40)) - float32(3)),
    ("zeros", float32(np.zeros((2, 3)))),
    ("nothing", float32(np.zeros((0, 3)))),
    ("single", float32(-7.5)),
):
    case(_label, ops.DynamicQuantizeLinear(), [_x], tolerance=0)


@reference("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(op: ops.FakeQuantWithMinMaxVars, inputs: Inputs) -> list[Array]:
    """The nearest of the evenly spaced numbers from min to max, moved so that 0 is one of them; in float32, in
    TensorFlow's order."""
    x, low, high = (np.asarray(array, np.float32) for array in inputs)
    first, last = np.float32(op.narrow_range), np.float32(2**op.num_bits - 1)
    with np.errstate(all="ignore"):
        scale = (high - low) / (last - first)
        zero = np.clip(np.floor(first - low / scale + np.float32(0.5)), first, last)
        least, most = (first - zero) * scale, (last - zero) * scale
        steps = np.floor((np.clip(x, least, most) - least) * (np.float32(1) / scale) + np.float32(0.5))
        return [np.where(scale > 0, steps * scale + least, np.float32(0)).astype(np.float32)]


for _narrow in (False, True):
    _label = "narrow" if _narrow else "wide"
    _fake = ops.FakeQuantWithMinMaxVars(num_bits=8, narrow_range=_narrow)
    case(_label, _fake, [normal(3, 300), float32([-1.5]), float32([2.25])], (1, 2))
    case(f"{_label}-above", _fake, [normal(40), float32([0.5]), float32([2.0])])
    case(f"{_label}-below", _fake, [normal(40), float32([-2.0]), float32([-0.25])])
    case(f"{_label}-empty", _fake, [normal(40), float32([0.0]), float32([0.0])])
    case(
        _label,
        ops.FakeQuantWithMinMaxVarsPerChannel(num_bits=4, narrow_range=_narrow),
        [normal(2, 9, 3), float32([-1, -0.5, 0]), float32([0.5, 2, 1])],
    )
