"""References of operators that join, split, slice, repeat and pad tensors."""

from __future__ import annotations

import numpy as np

from ..ops import assembly as ops
from ..ops.enums import PaddingMode
from ._declare import Array, Inputs, case, integers, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [array for array in inputs if array is not None]


@reference("Concat")
def concat(op: ops.Concat, inputs: Inputs) -> list[Array]:
    """numpy.concatenate."""
    return [np.concatenate(_given(inputs), op.axis)]


@reference("Stack")
def stack(op: ops.Stack, inputs: Inputs) -> list[Array]:
    """numpy.stack."""
    return [np.stack(_given(inputs), op.axis)]


@reference("Split")
def split(op: ops.Split, inputs: Inputs) -> list[Array]:
    """numpy.split with `size_splits`, one of which may be -1 for the rest; without sizes, equal parts."""
    (x,) = _given(inputs)
    if not op.size_splits:
        return np.split(x, op.output_num, op.axis)
    sizes = list(op.size_splits)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[op.axis] - sum(size for size in sizes if size != -1)
    return np.split(x, np.cumsum(sizes)[:-1], op.axis)


@reference("Unstack")
def unstack(op: ops.Unstack, inputs: Inputs) -> list[Array]:
    """The slices along `axis`."""
    (x,) = _given(inputs)
    return list(np.moveaxis(x, op.axis, 0))


@reference("TileFusion")
def tile(op: ops.TileFusion, inputs: Inputs) -> list[Array]:
    """numpy.tile; with fewer multiples than dimensions, `dims` selects the dimensions."""
    x, multiples = _given(inputs)
    repeats = [1] * x.ndim
    for axis, multiple in zip(range(x.ndim) if len(multiples) == x.ndim else op.dims or (), multiples, strict=True):
        repeats[axis] = int(multiple)
    return [np.tile(x, repeats)]


@reference("BroadcastTo")
def broadcast_to(op: ops.BroadcastTo, inputs: Inputs) -> list[Array]:
    """ONNX Expand: both shapes broadcast; -1 keeps the input's size."""
    x = _given(inputs)[0]
    wanted = [int(size) for size in (inputs[1] if len(inputs) > 1 and inputs[1] is not None else op.shape or ())]
    shift = len(wanted) - x.ndim
    wanted = [(x.shape[i - shift] if i >= shift else 1) if size == -1 else size for i, size in enumerate(wanted)]
    return [np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(wanted)))]


def _pairs(paddings: Array) -> list[tuple[int, int]]:
    return [(int(before), int(after)) for before, after in np.asarray(paddings).reshape(-1, 2)]


def _pad(x: Array, pairs: list[tuple[int, int]], mode: str, value: object = None) -> Array:
    """numpy.pad; negative paddings crop first."""
    box = tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in zip(pairs, x.shape, strict=True))
    positive = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if value is not None:
        return np.pad(x[box], positive, constant_values=value)  # type: ignore[call-overload, no-any-return]
    return np.pad(x[box], positive, mode=mode)  # type: ignore[call-overload, no-any-return]


@reference("PadFusion")
def pad(op: ops.PadFusion, inputs: Inputs) -> list[Array]:
    """numpy.pad; the third input, if given, is the padding value, else the attribute."""
    x, *rest = _given(inputs)
    pairs = _pairs(rest[0] if rest else np.array(op.paddings))
    if op.padding_mode == PaddingMode.CONSTANT:
        value = rest[1].reshape(()) if len(rest) > 1 else np.asarray(op.constant_value).astype(x.dtype)
        return [_pad(x, pairs, "constant", value)]
    return [_pad(x, pairs, op.padding_mode.name.lower())]


@reference("PadExtend")
def pad_extend(op: ops.PadExtend, inputs: Inputs) -> list[Array]:
    """numpy.pad with mode `edge` or `wrap`; negative paddings crop first."""
    x, paddings = _given(inputs)
    return [_pad(x, _pairs(paddings), str(op.mode))]


@reference("SliceFusion")
def slice_box(op: ops.SliceFusion, inputs: Inputs) -> list[Array]:
    """size[i] elements from begin[i] on; -1 is all remaining elements."""
    x, begin, size = _given(inputs)
    box = [slice(None)] * x.ndim
    for axis, first, length in zip(op.axes or range(len(begin)), begin.tolist(), size.tolist(), strict=True):
        first = first + x.shape[axis] if first < 0 else first
        box[axis] = slice(first, None if length == -1 else first + length)
    return [x[tuple(box)]]


@reference("StridedSlice")
def strided_slice(op: ops.StridedSlice, inputs: Inputs) -> list[Array]:
    """Python's slicing, with TensorFlow's masks (entry i is bit i) or ONNX's axes."""
    x, begin, end, *rest = _given(inputs)
    strides = rest[-1].tolist() if rest else [1] * len(begin)
    entries: list[slice | int | None] = []
    ellipsis = -1
    for i, (first, last, stride) in enumerate(zip(begin.tolist(), end.tolist(), strides, strict=True)):
        if op.ellipsis_mask >> i & 1:
            ellipsis = i
            entries.append(None)
        elif op.new_axis_mask >> i & 1:
            entries.append(None)
        elif op.shrink_axis_mask >> i & 1:
            entries.append(0 if op.begin_mask >> i & 1 else first)
        else:
            low = None if op.begin_mask >> i & 1 else first
            high = None if op.end_mask >> i & 1 else last
            if stride < 0 and high is not None and high < -(2**30):
                high = None
            entries.append(slice(low, high, stride))
    if len(rest) == 2:
        box: list[slice | int | None] = [slice(None)] * x.ndim
        for axis, entry in zip(rest[0].tolist(), entries, strict=True):
            box[axis] = entry
        return [x[tuple(box)]]
    if ellipsis >= 0:
        return [x[(*entries[:ellipsis], ..., *entries[ellipsis + 1 :])]]
    return [x[tuple(entries)]]


@reference("Crop")
def crop(op: ops.Crop, inputs: Inputs) -> list[Array]:
    """Crops x to the dimensions of the second input from `axis` on; one offset for all dimensions or one for each."""
    x, like = _given(inputs)
    first = op.axis % x.ndim
    offsets = list(op.offsets or (0,))
    if len(offsets) == 1:
        offsets *= x.ndim - first
    box = [slice(None)] * x.ndim
    for axis in range(first, x.ndim):
        offset = offsets[axis - first]
        box[axis] = slice(offset, offset + like.shape[axis])
    return [x[tuple(box)]]


def _ints(*values: int) -> Array:
    return np.array(values, np.int32)


for _axis in (0, 1, -1):
    case(f"axis{_axis}", ops.Concat(axis=_axis), [normal(2, 3, 4), normal(2, 3, 4), normal(2, 3, 4)])
case("uneven", ops.Concat(axis=1), [integers(0, 9, 2, n, 3, dtype=np.int8) for n in (1, 5, 0, 2)])
case("large", ops.Concat(axis=-1), [normal(41, 40, 16), normal(41, 40, 29)])
case("single", ops.Concat(axis=1), [normal(2, 3)])
case("vectors", ops.Concat(axis=0), [integers(0, 9, 3, dtype=np.int64), integers(0, 9, 1, dtype=np.int64)], (0,))
for _axis in (0, 1, -1):
    case(f"axis{_axis}", ops.Stack(axis=_axis), [normal(3, 4), normal(3, 4)])
    case(f"axis{_axis}", ops.Unstack(axis=_axis), [normal(3, 3, 3)])
case("scalars", ops.Stack(axis=0), [normal(), normal(), normal()])
case("even", ops.Split(output_num=3, axis=1), [normal(2, 6, 5)])
case("sizes", ops.Split(output_num=3, size_splits=(1, 3, 2), axis=-2), [normal(2, 6, 5)])
case("rest", ops.Split(output_num=3, size_splits=(1, -1, 2), axis=0), [normal(6, 5)])
case("large", ops.Split(output_num=2, size_splits=(15, 30), axis=2), [normal(40, 41, 45)])
case("plain", ops.TileFusion(), [normal(2, 3, 1), _ints(2, 1, 3)], (1,))
case("inner", ops.TileFusion(), [normal(2, 50), _ints(1, 4)], (1,))
case("dims", ops.TileFusion(dims=(1,)), [normal(2, 3), _ints(4)], (1,))
case("bytes", ops.TileFusion(), [integers(0, 9, 3, dtype=np.uint8), _ints(7)], (1,))
case("plain", ops.BroadcastTo(), [normal(3, 1), _ints(2, 3, 4)], (1,))
case("both", ops.BroadcastTo(), [normal(3, 4), _ints(2, 1, 1)], (1,))
case("keep", ops.BroadcastTo(shape=(5, -1, 4)), [normal(3, 1)])
case("scalar", ops.BroadcastTo(shape=(200, 300)), [normal()])
for _mode in (PaddingMode.CONSTANT, PaddingMode.REFLECT, PaddingMode.SYMMETRIC):
    _pads = _ints(0, 0, 1, 2, 3, 0, 0, 0).reshape(4, 2)
    case(_mode.name.lower(), ops.PadFusion(padding_mode=_mode), [normal(2, 4, 5, 3), _pads], (1,))
    _pads = _ints(2, 2, 1, 3).reshape(2, 2)
    case(f"{_mode.name.lower()}-all", ops.PadFusion(padding_mode=_mode), [normal(3, 5), _pads], (1,))
    _pads = _ints(-1, 2, 1, -2).reshape(2, 2)
    case(f"{_mode.name.lower()}-negative", ops.PadFusion(padding_mode=_mode), [normal(4, 5), _pads], (1,))
case("value", ops.PadFusion(constant_value=-3.5), [normal(3, 4), _ints(0, 1, 2, 0).reshape(2, 2)], (1,))
case("value-half", ops.PadFusion(constant_value=0.1), [normal(3).astype(np.float16), _ints(1, 1)], (1,), 1e-3)
case("value-int64", ops.PadFusion(constant_value=7), [np.arange(3), _ints(1, 2)], (1,))
case("value-input", ops.PadFusion(), [np.arange(4.0), _ints(1, 2), np.array(2.5)], (1,))
case("attribute", ops.PadFusion(paddings=((1, 0), (0, 2)), constant_value=1), [normal(2, 3)])
case("nothing", ops.PadFusion(), [normal(2, 3), _ints(0, 0, 0, 0).reshape(2, 2)], (1,))
case("large", ops.PadFusion(), [normal(1, 61, 67, 17), _ints(0, 0, 1, 1, 1, 1, 0, 0).reshape(4, 2)], (1,))
for _text in ("edge", "wrap"):
    case(_text, ops.PadExtend(mode=_text), [normal(3, 4, 2), _ints(2, 1, 0, 3, 0, 0).reshape(3, 2)], (1,))
    case(f"{_text}-cut", ops.PadExtend(mode=_text), [normal(4, 5), _ints(-1, 2, 4, -2).reshape(2, 2)], (1,))
for _mode in (PaddingMode.CONSTANT, PaddingMode.REFLECT, PaddingMode.SYMMETRIC):
    case(
        f"{_mode.name.lower()}-cut",
        ops.PadFusion(padding_mode=_mode),
        [normal(4, 5, 4), _ints(-1, 2, 4, -2, 0, -1).reshape(3, 2)],
        (1,),
    )
case("plain", ops.SliceFusion(), [normal(4, 5, 6), _ints(1, 0, 2), _ints(2, 5, 3)], (1, 2))
case("rest", ops.SliceFusion(), [normal(4, 5, 6), _ints(1, 0, 2), _ints(-1, 2, -1)], (1, 2))
case("axes", ops.SliceFusion(axes=(2, 0)), [normal(4, 5, 6), _ints(1, 0), _ints(-1, 2)], (1, 2))
case("begin-at-run-time", ops.SliceFusion(), [normal(4, 5), _ints(2, 1), _ints(2, 3)], (2,))
case("tf", ops.StridedSlice(), [normal(6, 7), _ints(1, 5), _ints(5, 0), _ints(2, -2)], (1, 2, 3))
case("no-strides", ops.StridedSlice(), [normal(6, 7), _ints(1), _ints(-1)], (1, 2))
case(
    "masks",
    ops.StridedSlice(begin_mask=1, end_mask=2, shrink_axis_mask=4),
    [normal(6, 7, 4), _ints(3, 2, -1), _ints(4, 3, 0), _ints(1, 2, 1)],
    (1, 2, 3),
)
case(
    "ellipsis-new-axis",
    ops.StridedSlice(ellipsis_mask=2, new_axis_mask=1),
    [normal(2, 3, 4, 5), _ints(0, 0, 1), _ints(0, 0, 4), _ints(1, 1, 2)],
    (1, 2, 3),
)
case(
    "reverse-to-start",
    ops.StridedSlice(begin_mask=1, end_mask=1),
    [normal(6, 2), _ints(0), _ints(0), _ints(-1)],
    (1, 2, 3),
)
case(
    "onnx",
    ops.StridedSlice(),
    [normal(5, 6, 7), np.array([-3, 5]), np.array([2**31 - 1, -(2**31)]), np.array([-1, 0]), np.array([1, -2])],
    (1, 2, 3, 4),
)
case("empty", ops.StridedSlice(), [normal(5, 6), _ints(4), _ints(2), _ints(1)], (1, 2, 3))
case("clamped", ops.StridedSlice(), [normal(5, 6), _ints(-9), _ints(99), _ints(3)], (1, 2, 3))
case(
    "index-at-run-time",
    ops.StridedSlice(shrink_axis_mask=1),
    [normal(5, 6), _ints(3), _ints(4), _ints(1)],
    (3,),
)
case("offsets", ops.Crop(axis=2, offsets=(1, 2)), [normal(1, 3, 8, 9), normal(1, 1, 4, 5)])
case("one-offset", ops.Crop(axis=1, offsets=(1,)), [normal(2, 6, 7), normal(2, 4, 5)])


@reference("Splice")
def splice(op: ops.Splice, inputs: Inputs) -> list[Array]:
    """Concatenates for each row its neighbors in the context, or the listed rows."""
    (x,) = _given(inputs)
    context = np.array(op.context)
    rows = np.clip(np.arange(x.shape[-2])[:, None] + context, 0, x.shape[-2] - 1)
    if op.forward_indexes:
        rows = np.array(op.forward_indexes).reshape(-1, len(context))
    y = x[..., rows, :]
    return [y.reshape(*x.shape[:-2], len(rows), -1)]


@reference("SplitWithOverlap")
def split_with_overlap(op: ops.SplitWithOverlap, inputs: Inputs) -> list[Array]:
    """Splits by the ratios, rounded up; each part is extended beyond its two borders."""
    (x,) = _given(inputs)
    ratio, size = np.array(op.ratio), x.shape[op.split_dim]
    borders = [0, *(-(-size * np.cumsum(ratio) // ratio.sum()))]
    pieces = []
    for i in range(op.number_split):
        begin, end = borders[i] - (op.extend_top or ())[i], borders[i + 1] + (op.extend_bottom or ())[i]
        pieces.append(np.take(x, range(max(int(begin), 0), min(int(end), size)), op.split_dim))
    return pieces


case("context", ops.Splice(context=(-2, 0, 1), output_dim=12), [normal(2, 5, 4)])
case("listed", ops.Splice(context=(0, 1), forward_indexes=(0, 1, 2, 2, 4, 0)), [normal(1, 5, 3)])
case(
    "halves",
    ops.SplitWithOverlap(split_dim=1, number_split=2, ratio=(1, 1), extend_top=(0, 1), extend_bottom=(2, 0)),
    [normal(2, 7, 3)],
)
case(
    "three",
    ops.SplitWithOverlap(split_dim=0, number_split=3, ratio=(2, 1, 3), extend_top=(0, 1, 2), extend_bottom=(1, 1, 0)),
    [normal(11, 2)],
)
