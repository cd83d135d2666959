"""References of the gradients of resizing and of slicing."""

from __future__ import annotations

import numpy as np

from ..ops import assembly as assembly_ops
from ..ops import resize as resize_ops
from ..ops import training as ops
from ..ops.enums import ResizeMethod
from ._declare import Array, Inputs, case, fixed_seed, int32, normal, reference
from .assembly import strided_slice
from .resize import resize_nd


@reference("ResizeGrad")
def resize_gradient(op: ops.ResizeGrad, inputs: Inputs) -> list[Array]:
    """dy times the transposed resizing matrices of rows and columns."""
    dy, like = (np.asarray(array) for array in inputs)
    height, width = like.shape[1:3] if like.ndim == 4 else like.tolist()
    forward = resize_ops.ResizeND(
        method=op.method,
        coordinate_transformation_mode="align_corners" if op.align_corners else "asymmetric",
        nearest_mode="round_prefer_ceil" if op.align_corners else "floor",
        axes=(0,),
    )
    rows, columns = (
        resize_nd(forward, [np.eye(size), np.array([out])])[0]
        for size, out in ((height, dy.shape[1]), (width, dy.shape[2]))
    )
    return [np.einsum("bhwc,hy,wx->byxc", dy.astype(np.float64), rows, columns).astype(np.float32)]


@reference("StridedSliceGrad")
def strided_slice_gradient(op: ops.StridedSliceGrad, inputs: Inputs) -> list[Array]:
    """Zeros, with dy at the positions of the slice."""
    dy, shape, *bounds = (np.asarray(array) for array in inputs)
    forward = assembly_ops.StridedSlice(
        begin_mask=op.begin_mask,
        end_mask=op.end_mask,
        ellipsis_mask=op.ellipsis_mask,
        new_axis_mask=op.new_axis_mask,
        shrink_axis_mask=op.shrink_axis_mask,
    )
    dx = np.zeros(shape.tolist(), np.float32)
    (places,) = strided_slice(forward, [np.arange(dx.size).reshape(dx.shape), *bounds])
    dx.flat[places.reshape(-1)] = dy.reshape(-1)
    return [dx]


with fixed_seed(24):
    for _method in (ResizeMethod.LINEAR, ResizeMethod.NEAREST):
        for _corners in (False, True):
            _name = f"{_method.name.lower()}{'-corners' if _corners else ''}"
            _op = ops.ResizeGrad(method=_method, align_corners=_corners)
            case(f"{_name}-up", _op, [normal(2, 9, 13, 3), int32([4, 6])], (1,))
            case(f"{_name}-down", _op, [normal(2, 3, 4, 5), normal(2, 8, 7, 5)])
            case(f"{_name}-from-one", _op, [normal(1, 4, 5, 2), int32([1, 1])], (1,))
            case(f"{_name}-to-one", _op, [normal(3, 1, 1, 7), int32([4, 3])], (1,))
    for _label, _masks, _dy, _shape, _begin, _end, _strides in (
        ("plain", {}, (2, 3), (6, 7), (1, 5), (5, 0), (2, -2)),
        ("first-axis", {}, (2, 4, 5), (9, 4, 5), (7,), (1,), (-3,)),
        ("masks", {"begin_mask": 1, "end_mask": 2, "shrink_axis_mask": 4}, (3, 3), (6, 7, 4), (3, 2, -1), (3, 3, 0), (1, 2, 1)),
        ("ellipsis", {"ellipsis_mask": 2, "new_axis_mask": 1}, (1, 2, 3, 4, 2), (2, 3, 4, 5), (0, 0, 1), (0, 0, 4), (1, 1, 2)),
        ("nothing", {}, (0, 6), (5, 6), (4,), (2,), (1,)),
        ("several-parts", {}, (20, 3000), (41, 3001), (0, 1), (40, 3001), (2, 1)),
    ):  # fmt: skip
        case(_label, ops.StridedSliceGrad(**_masks),
             [normal(*_dy), int32(_shape), int32(_begin), int32(_end), int32(_strides)], (1, 2, 3, 4))  # fmt: skip
