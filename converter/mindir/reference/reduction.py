"""References of reductions, scans and sorting along axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ops import reduction as ops
from ..ops.enums import ReduceMode
from ._declare import Array, Inputs, case, float32, int32, int64, integers, normal, reference
from .unary import widened


def _axes(x: Array, axes: Array | None, to_end: bool = False) -> tuple[int, ...]:
    if axes is None or axes.size == 0:
        return tuple(range(x.ndim))
    listed = {int(axis) % x.ndim for axis in axes.reshape(-1)}
    return tuple(range(min(listed), x.ndim)) if to_end else tuple(sorted(listed))


def _mean(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    """Returns the mean; integers are rounded towards zero."""
    if x.dtype.kind == "f":
        return np.asarray(x.mean(axes, keepdims=keep))
    return np.asarray(np.trunc(x.sum(axes, keepdims=keep) / np.prod([x.shape[axis] for axis in axes])))


@reference("ReduceFusion")
def reduce(op: ops.ReduceFusion, inputs: Inputs) -> list[Array]:
    """The reduction of `mode`; reduce_to_end reduces all dimensions from the first axis on and multiplies by coeff."""
    x = widened(inputs[0])
    axes = _axes(x, inputs[1] if len(inputs) > 1 else None, op.reduce_to_end)
    functions: dict[ReduceMode, Callable[[], Array]] = {
        ReduceMode.ReduceMean: lambda: _mean(x, axes, op.keep_dims),
        ReduceMode.ReduceMax: lambda: x.max(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceMin: lambda: x.min(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceProd: lambda: x.prod(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceSum: lambda: x.sum(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceSumSquare: lambda: np.square(x).sum(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceASum: lambda: np.abs(x).sum(axes, keepdims=op.keep_dims),
        ReduceMode.ReduceAll: lambda: np.asarray(x.all(axes, keepdims=op.keep_dims)),
        ReduceMode.ReduceL2: lambda: np.sqrt(np.square(x).sum(axes, keepdims=op.keep_dims)),
    }
    y = functions[op.mode]()
    if op.reduce_to_end and op.coeff != 0:
        y = y * op.coeff
    assert inputs[0] is not None
    return [np.asarray(y, inputs[0].dtype)]


@reference("ReduceLogSumExp")
def log_sum_exp(op: ops.ReduceLogSumExp, inputs: Inputs) -> list[Array]:
    """log(sum(exp(x)))."""
    x = widened(inputs[0])
    axes = _axes(x, inputs[1] if len(inputs) > 1 else None)
    assert inputs[0] is not None
    top = x.max(axes, keepdims=True)
    total = np.log(np.exp(x - top).sum(axes, keepdims=True)) + top
    return [np.asarray(total if op.keep_dims else total.squeeze(axes), inputs[0].dtype)]


@reference("All")
def every(op: ops.All, inputs: Inputs) -> list[Array]:
    """Logical and."""
    assert inputs[0] is not None
    axes = _axes(inputs[0], inputs[1] if len(inputs) > 1 else None)
    return [np.asarray(inputs[0].all(axes, keepdims=op.keep_dims != 0))]


def _order(x: Array, axis: int, largest: bool, nan_first: bool) -> Array:
    """Returns sorted indices along the axis; equal elements are sorted by index. NaN is first or last."""
    if x.dtype.kind == "f" and nan_first is not largest:
        behind = -np.isnan(x).astype(np.int64) if nan_first else np.isnan(x).astype(np.int64)
        numbers = np.where(np.isnan(x), 0, -x if largest else x)
        return np.lexsort((numbers, behind), axis=axis)
    if largest:
        return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    return np.argsort(x, axis=axis, kind="stable")


@reference("ArgMaxFusion", "ArgMinFusion")
def arg(op: ops.ArgMaxFusion | ops.ArgMinFusion, inputs: Inputs) -> list[Array]:
    """Indices (int32) of the first top_k elements in order, or their values with out_max_value."""
    assert inputs[0] is not None
    x, count = inputs[0], max(op.top_k, 1)
    index = np.take(_order(x, op.axis, op.name == "ArgMaxFusion", True), range(count), axis=op.axis)
    y = np.take_along_axis(x, index, op.axis) if op.out_max_value else index.astype(np.int32)
    return [y if op.keep_dims or count > 1 else np.squeeze(y, op.axis)]


@reference("TopKFusion")
def top_k(op: ops.TopKFusion, inputs: Inputs) -> list[Array]:
    """Values and indices (int32) of the k largest or smallest elements, sorted; NaN is larger than all numbers."""
    x, k = inputs
    assert x is not None
    assert k is not None
    index = np.take(_order(x, op.axis, op.largest >= 0, op.largest >= 0), range(int(k.item())), axis=op.axis)
    return [np.take_along_axis(x, index, op.axis), index.astype(np.int32)]


@reference("CumSum", "CumProd")
def scan(op: ops.CumSum | ops.CumProd, inputs: Inputs) -> list[Array]:
    """Cumulative sum or product; `exclusive` excludes the element itself, `reverse` begins at the end."""
    x, axis = widened(inputs[0]), inputs[1]
    assert inputs[0] is not None
    assert axis is not None
    along = int(axis.item())
    product = op.name == "CumProd"
    x = np.flip(x, along) if op.reverse else x
    y = np.cumprod(x, along, dtype=x.dtype) if product else np.cumsum(x, along, dtype=x.dtype)
    if op.exclusive:
        first = np.full_like(np.take(y, [0], along), product)
        y = np.concatenate([first, np.take(y, range(x.shape[along] - 1), along)], along)
    return [np.asarray(np.flip(y, along) if op.reverse else y, inputs[0].dtype)]


@reference("UnsortedSegmentSum")
def segment_sum(op: ops.UnsortedSegmentSum, inputs: Inputs) -> list[Array]:
    """Sums of the rows with the same id; negative ids are ignored."""
    x, ids, count = inputs
    assert x is not None
    assert ids is not None
    assert count is not None
    y = np.zeros((int(count.item()), *x.shape[ids.ndim :]), x.dtype)
    rows = x.reshape(-1, *x.shape[ids.ndim :])
    for row, segment in zip(rows, ids.reshape(-1), strict=True):
        if segment >= 0:
            y[segment] += row
    return [y]


def _list(*axes: int) -> Array:
    return np.array(axes, np.int32)


_AXES = (("last", (-1,)), ("spatial", (1, 2)), ("first", (0,)), ("ends", (0, 3)), ("alternate", (1, 3)), ("all", ()))
for _mode in ReduceMode:
    _bounded = _mode == ReduceMode.ReduceProd
    if _mode != ReduceMode.ReduceAll:
        _x = normal(3, 7, 5, 37)
        for _label, _along in _AXES:
            _op = ops.ReduceFusion(mode=_mode, keep_dims=_label == "spatial")
            _values = np.exp(_x * float32(0.1)) if _bounded else _x
            case(
                f"{_mode.name}-{_label}",
                _op,
                [_values, _list(*_along)] if _along else [_values],
                constants=(1,) if _along else (),
            )
        case(
            f"{_mode.name}-float64", ops.ReduceFusion(mode=_mode), [_x[0].astype(np.float64), _list(0, 2)], (1,), 1e-12
        )
    if _mode not in (ReduceMode.ReduceL2, ReduceMode.ReduceAll):
        for _dtype in ("int32", "int64"):
            _values = integers(-9, 9, 3, 5, 7, dtype=_dtype)
            case(f"{_mode.name}-{_dtype}", ops.ReduceFusion(mode=_mode), [_values, _list(1)], (1,))
_MEAN = ReduceMode.ReduceMean
case("long-row", ops.ReduceFusion(mode=_MEAN), [normal(2, 100003) + float32(100), _list(1)], (1,))
case("long-column", ops.ReduceFusion(mode=_MEAN), [normal(5003, 9) + float32(100), _list(0)], (1,))
case("many-rows", ops.ReduceFusion(mode=ReduceMode.ReduceSum), [normal(20011, 3), np.array([-1], np.int64)], (1,))
case(
    "to-end",
    ops.ReduceFusion(mode=ReduceMode.ReduceSum, reduce_to_end=True, coeff=0.5),
    [normal(3, 4, 5), _list(1)],
    (1,),
)
case("nan", ops.ReduceFusion(mode=ReduceMode.ReduceMax), [np.where(normal(4, 50) > 2, float32(np.nan), normal(4, 50)), _list(1)], (1,))  # fmt: skip
for _mode in (ReduceMode.ReduceMax, ReduceMode.ReduceMin):
    case(f"{_mode.name}-int8", ops.ReduceFusion(mode=_mode), [integers(-99, 99, 3, 9, dtype=np.int8), _list(1)], (1,))
    case(f"{_mode.name}-uint8", ops.ReduceFusion(mode=_mode), [integers(0, 99, 3, 9, dtype=np.uint8), _list(1)], (1,))
    case(f"{_mode.name}-bool", ops.ReduceFusion(mode=_mode), [integers(0, 2, 9, 3, dtype=np.bool_), _list(1)], (1,))
case("all-bool", ops.ReduceFusion(mode=ReduceMode.ReduceAll), [integers(0, 2, 9, 3, dtype=np.bool_), _list(1)], (1,))
for _label, _along in _AXES:
    case(_label, ops.ReduceLogSumExp(keep_dims=True), [normal(3, 7, 5, 37) * 30, _list(*_along)], (1,))
for _keep in (True, False):
    for _mode in (ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceL2):
        case(
            f"{_mode.name}-computed-axes-{'kept' if _keep else 'gone'}",
            ops.ReduceFusion(mode=_mode, keep_dims=_keep),
            [normal(3, 5, 7), np.array([-1, 0])],
        )
case("computed-axis-int32", ops.ReduceFusion(mode=ReduceMode.ReduceSum), [integers(-9, 9, 3, 5, 7), _list(1)])
case("computed-axis", ops.ReduceLogSumExp(), [normal(3, 5), _list(0)])
case("float64", ops.ReduceLogSumExp(), [normal(3, 7).astype(np.float64)], tolerance=1e-12)
case("rows", ops.All(), [integers(0, 4, 9, 3) > 0, _list(1)], (1,))
case("everything", ops.All(keep_dims=1), [integers(0, 4, 9, 3) > 0])

for _cls in (ops.ArgMaxFusion, ops.ArgMinFusion):
    for _dtype in ("float32", "int32", "int64", "float64", "int8", "uint8"):
        case(_dtype, _cls(axis=1), [integers(0, 9, 5, 11, 3).astype(_dtype)])
    case("last-keep", _cls(axis=-1, keep_dims=True), [normal(7, 1001)])
    case("top-3", _cls(axis=1, top_k=3), [normal(5, 11, 3)])
    case("values", _cls(axis=1, top_k=2, out_max_value=True), [normal(5, 11, 3)])
for _dtype in ("float32", "int32", "int64"):
    for _largest in (-1, 1):
        _top = ops.TopKFusion(axis=1, largest=_largest)
        case(f"{_dtype}-{_largest}", _top, [integers(0, 30, 5, 41, 3).astype(_dtype), int32([7])], (1,))
_nan = np.where(integers(0, 4, 5, 9, 3) == 0, np.nan, integers(0, 5, 5, 9, 3))
for _dtype in ("float32", "float64"):
    for _largest in (-1, 1):
        for _k in (1, 4, 9):
            _top = ops.TopKFusion(axis=1, largest=_largest)
            case(f"{_dtype}-nan-{_largest}-{_k}", _top, [_nan.astype(_dtype), int32([_k])], (1,))
    for _cls in (ops.ArgMaxFusion, ops.ArgMinFusion):
        case(f"{_dtype}-nan", _cls(axis=1), [_nan.astype(_dtype)])
case("all", ops.TopKFusion(axis=-1, largest=1), [normal(3, 20), int32([20])], (1,))
case("none", ops.TopKFusion(axis=-1, largest=1), [normal(3, 20), int32([0])], (1,))
for _scan in (ops.CumSum, ops.CumProd):
    for _exclusive in (False, True):
        for _reverse in (False, True):
            _running = _scan(exclusive=_exclusive, reverse=_reverse)
            case(f"{_exclusive}-{_reverse}", _running, [normal(3, 7, 5), int32(1)], (1,))
    for _dtype in ("int32", "int64", "float64"):
        case(_dtype, _scan(), [integers(-3, 4, 4, 9).astype(_dtype), int64([-1])], (1,))
case("computed-axis", ops.CumSum(), [normal(3, 5, 7), int32(1)])
case("computed-axis", ops.CumProd(reverse=True), [normal(3, 5, 7), int64([-1])])
for _dtype in ("float32", "int32", "int64", "float64"):
    case(_dtype, ops.UnsortedSegmentSum(), [integers(0, 9, 8, 5).astype(_dtype), int32([0, 3, 1, 3, -1, 0, 2, 3]), int32(5)], (2,))  # fmt: skip
case("matrix-ids", ops.UnsortedSegmentSum(), [normal(4, 3, 2), integers(0, 5, 4, 3, dtype=np.int64), int32([6])], (2,))
