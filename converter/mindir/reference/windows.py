"""References of windows over [batch, channels, spatial...]."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np

from ..ops import windows as ops
from ._declare import Array, Inputs, case, int64, integers, normal, reference


def _lists(op: ops.Col2Im | ops.DeformConv | ops.MaxPoolWithIndices, rank: int) -> tuple[tuple[int, ...], ...]:
    """Returns strides, dilations, and the paddings before and after each dimension."""
    pads = op.pads or (0,) * (2 * rank)
    return op.strides or (1,) * rank, op.dilations or (1,) * rank, pads[:rank], pads[rank:]


@reference("Col2Im")
def col2im(op: ops.Col2Im, inputs: Inputs) -> list[Array]:
    """Adds each block at its position in a padded image, which is then cropped."""
    x, image_shape, block_shape = inputs
    assert x is not None
    assert image_shape is not None
    assert block_shape is not None
    image, block = [int(size) for size in image_shape], [int(size) for size in block_shape]
    strides, dilations, begins, ends = _lists(op, len(image))
    padded = [size + begin + end for size, begin, end in zip(image, begins, ends, strict=True)]
    places = [
        (size - (kernel - 1) * dilation - 1) // stride + 1
        for size, kernel, dilation, stride in zip(padded, block, dilations, strides, strict=True)
    ]
    blocks = x.astype(np.float64).reshape(len(x), -1, *block, *places)
    result = np.zeros((*blocks.shape[:2], *padded))
    for tap in np.ndindex(*block):
        where = tuple(
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, dilation, count, stride in zip(tap, dilations, places, strides, strict=True)
        )
        result[(slice(None), slice(None), *where)] += blocks[(slice(None), slice(None), *tap)]
    inner = tuple(slice(begin, begin + size) for begin, size in zip(begins, image, strict=True))
    return [result[(slice(None), slice(None), *inner)].astype(np.float32)]


case("plain", ops.Col2Im(), [normal(1, 5, 5), int64([5, 5]), int64([1, 5])], constants=(1, 2))
case(
    "all",
    ops.Col2Im(dilations=(1, 2), pads=(0, 1, 1, 2), strides=(2, 1)),
    [normal(2, 3 * 6, 3 * 5), int64([6, 6]), int64([2, 3])],
    constants=(1, 2),
)
case("volume", ops.Col2Im(), [normal(1, 10, 12), int64([3, 4, 5]), int64([1, 1, 5])], constants=(1, 2))
case("line", ops.Col2Im(strides=(2,)), [normal(2, 4 * 3, 4), int64([9]), int64([3])], constants=(1, 2))


def _pixel(plane: Array, y: int, x: int) -> float:
    inside = 0 <= y < plane.shape[0] and 0 <= x < plane.shape[1]
    return float(plane[y, x]) if inside else 0.0


def _bilinear(plane: Array, y: float, x: float) -> float:
    top, left = int(np.floor(y)), int(np.floor(x))
    dy, dx = y - top, x - left
    upper = (1 - dx) * _pixel(plane, top, left) + dx * _pixel(plane, top, left + 1)
    lower = (1 - dx) * _pixel(plane, top + 1, left) + dx * _pixel(plane, top + 1, left + 1)
    return (1 - dy) * upper + dy * lower


@reference("DeformConv")
def deform_conv(op: ops.DeformConv, inputs: Inputs) -> list[Array]:
    """The sum over window elements of the sample at the shifted position times mask and weight."""
    x, weight, offset = inputs[:3]
    bias = inputs[3] if len(inputs) > 3 else None
    mask = inputs[4] if len(inputs) > 4 else None
    assert x is not None
    assert weight is not None
    assert offset is not None
    strides, dilations, begins, _ = _lists(op, 2)
    kernel, places = weight.shape[2:], offset.shape[2:]
    moved = offset.reshape(len(x), op.offset_group, *kernel, 2, *places).astype(np.float64)
    factors = np.ones(moved.shape[:4] + places) if mask is None else mask.reshape(moved.shape[:4] + places)
    result = np.zeros((len(x), len(weight), *places))
    if bias is not None:
        result += bias[:, None, None]
    group_in, group_out = weight.shape[1], len(weight) // op.group
    for image, channel, i, j, row, column in np.ndindex(len(x), x.shape[1], *kernel, *places):
        own = channel // (x.shape[1] // op.offset_group)
        shift = moved[image, own, i, j, :, row, column]
        y = row * strides[0] - begins[0] + i * dilations[0] + shift[0]
        across = column * strides[1] - begins[1] + j * dilations[1] + shift[1]
        value = _bilinear(x[image, channel], float(y), float(across)) * factors[image, own, i, j, row, column]
        group = channel // group_in
        readers = slice(group * group_out, (group + 1) * group_out)
        result[image, readers, row, column] += weight[readers, channel % group_in, i, j] * value
    return [result.astype(np.float32)]


case("plain", ops.DeformConv(), [normal(1, 2, 4, 4), normal(3, 2, 2, 2), normal(1, 8, 3, 3)])
case(
    "padded",
    ops.DeformConv(pads=(1, 0, 1, 2), strides=(2, 1), dilations=(1, 2)),
    [normal(2, 2, 5, 6), normal(4, 2, 2, 3), normal(2, 12, 3, 4), normal(4)],
)
case(
    "groups",
    ops.DeformConv(pads=(1, 1, 1, 1), group=2, offset_group=2),
    [normal(2, 4, 4, 3), normal(6, 2, 3, 3), 2 * normal(2, 36, 4, 3), normal(6), normal(2, 18, 4, 3)],
)


@reference("MaxPoolWithIndices")
def max_pool_with_indices(op: ops.MaxPoolWithIndices, inputs: Inputs) -> list[Array]:
    """The first largest element of each window, and its index."""
    x = inputs[0]
    assert x is not None
    spatial, kernel = x.shape[2:], op.kernel_size or ()
    strides, dilations, begins, ends = _lists(op, len(spatial))
    places = []
    for i, size in enumerate(spatial):
        room = size + begins[i] + ends[i] - (kernel[i] - 1) * dilations[i] - 1
        count = (-(-room // strides[i]) if op.ceil_mode else room // strides[i]) + 1
        if op.ceil_mode and (count - 1) * strides[i] >= size + begins[i]:
            count -= 1
        places.append(count)
    numbers = np.arange(prod(spatial)).reshape(spatial, order="F" if op.column_major else "C")
    y = np.empty((*x.shape[:2], *places), x.dtype)
    indices = np.empty(y.shape, np.int64)
    for image, channel, *place in np.ndindex(*y.shape):
        taps = [
            [at for tap in range(count) if 0 <= (at := where * stride - begin + tap * dilation) < size]
            for where, count, stride, begin, dilation, size in zip(
                place, kernel, strides, begins, dilations, spatial, strict=True
            )
        ]
        best = max(itertools.product(*taps), key=lambda at: x[(image, channel, *at)])
        y[(image, channel, *place)] = x[(image, channel, *best)]
        indices[(image, channel, *place)] = (image * x.shape[1] + channel) * prod(spatial) + numbers[best]
    return [y, indices]


case("image", ops.MaxPoolWithIndices(kernel_size=(2, 3), strides=(2, 2), pads=(0, 1, 1, 1)), [normal(2, 3, 7, 8)])
case("column-major", ops.MaxPoolWithIndices(kernel_size=(2, 2), column_major=True), [normal(1, 2, 4, 5)])
case("ceil", ops.MaxPoolWithIndices(kernel_size=(3,), strides=(2,), ceil_mode=True), [normal(2, 2, 8)])
case("ceil-pad", ops.MaxPoolWithIndices(kernel_size=(1,), strides=(2,), ceil_mode=True), [normal(1, 2, 2)])
case("ceil-small", ops.MaxPoolWithIndices(kernel_size=(3, 2), strides=(2, 2), ceil_mode=True), [normal(1, 2, 2, 1)])
case("volume", ops.MaxPoolWithIndices(kernel_size=(2, 2, 2), dilations=(1, 2, 1)), [normal(1, 2, 3, 5, 4)])
case("uint8", ops.MaxPoolWithIndices(kernel_size=(2, 2)), [integers(0, 255, 1, 3, 5, 5, dtype=np.uint8)])
case("int8", ops.MaxPoolWithIndices(kernel_size=(2, 2)), [integers(-128, 127, 1, 1, 40, 40, dtype=np.int8)])
