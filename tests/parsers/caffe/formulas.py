"""Caffe layers in NumPy, written from Caffe's documentation, for layers that OpenCV does not read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from .helper import Array


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x.astype(np.float64))))


def convolution(x: Array, weight: Array, stride: int = 1, pad: int = 0, dilation: int = 1, group: int = 1) -> Array:
    """Any number of spatial dimensions."""
    spatial = x.ndim - 2
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *([(pad, pad)] * spatial)])
    kernel = weight.shape[2:]
    sizes = [(n - (dilation * (k - 1) + 1)) // stride + 1 for n, k in zip(x.shape[2:], kernel, strict=True)]
    y = np.zeros((x.shape[0], weight.shape[0], *sizes))
    inner, outer = x.shape[1] // group, weight.shape[0] // group
    for at in product(*(range(k) for k in kernel)):
        index = tuple(
            slice(dilation * a, dilation * a + stride * (n - 1) + 1, stride) for a, n in zip(at, sizes, strict=True)
        )
        for g in range(group):
            part = x[(slice(None), slice(g * inner, (g + 1) * inner), *index)]
            taps = weight[(slice(g * outer, (g + 1) * outer), slice(None), *at)]
            y[:, g * outer : (g + 1) * outer] += np.einsum("nc...,oc->no...", part, taps)
    return y


def transposed_convolution(
    x: Array, weight: Array, stride: int = 1, pad: int = 0, dilation: int = 1, group: int = 1
) -> Array:
    """Any number of spatial dimensions; weight [in, out / group, kernel...]."""
    kernel, inner, outer = weight.shape[2:], x.shape[1] // group, weight.shape[1]
    sizes = [stride * (n - 1) + dilation * (k - 1) + 1 for n, k in zip(x.shape[2:], kernel, strict=True)]
    full = np.zeros((x.shape[0], outer * group, *sizes))
    for at in product(*(range(k) for k in kernel)):
        index = tuple(
            slice(dilation * a, dilation * a + stride * (n - 1) + 1, stride)
            for a, n in zip(at, x.shape[2:], strict=True)
        )
        for g in range(group):
            rows = slice(g * inner, (g + 1) * inner)
            taps = weight[(rows, slice(None), *at)]
            full[(slice(None), slice(g * outer, (g + 1) * outer), *index)] += np.einsum(
                "nc...,co->no...", x[:, rows].astype(np.float64), taps
            )
    return full[(..., *(slice(pad, size - pad) for size in sizes))]


def pooling(x: Array, kernel: int, stride: int, pad: int, average: bool, ceiling: bool) -> Array:
    """Loops as in Caffe: output sizes, windows clipped to the image, divisors clipped to image and padding."""
    n, c, *sizes = x.shape
    counts = []
    for size in sizes:
        room = (size + 2 * pad - kernel) / stride
        count = int(np.ceil(room) if ceiling else np.floor(room)) + 1
        if pad and (count - 1) * stride >= size + pad:
            count -= 1
        counts.append(count)
    y = np.zeros((n, c, *counts))
    for i, j in np.ndindex(*counts):
        area, ranges = 1, []
        for at, size in zip((i, j), sizes, strict=True):
            start = at * stride - pad
            end = min(start + kernel, size + pad)
            area *= end - start
            ranges.append(slice(max(start, 0), min(end, size)))
        window = x[:, :, ranges[0], ranges[1]].astype(np.float64)
        y[:, :, i, j] = window.sum((2, 3)) / area if average else window.max((2, 3))
    return y


def interpolation(x: Array, height: int, width: int) -> Array:
    """Linear interpolation with aligned corners."""
    y = x.astype(np.float64)
    for axis, size in ((2, height), (3, width)):
        at = np.linspace(0, y.shape[axis] - 1, size) if size > 1 else np.zeros(1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, y.shape[axis] - 1)
        shape = [1] * 4
        shape[axis] = size
        part = (at - low).reshape(shape)
        y = np.take(y, low, axis) * (1 - part) + np.take(y, high, axis) * part
    return y


def reorg(x: Array, stride: int, reverse: bool) -> Array:
    """Loops as in Darknet, with exchanged input and output."""
    n, c, h, w = x.shape
    outer = c // (stride * stride)
    flat, y = x.reshape(-1), np.zeros(x.size)
    for b, k, j, i in np.ndindex(n, c, h, w):
        inside = i + w * (j + h * (k + c * b))
        offset, channel = divmod(k, outer)
        row, column = j * stride + offset // stride, i * stride + offset % stride
        outside = column + w * stride * (row + h * stride * (channel + outer * b))
        if reverse:
            y[outside] = flat[inside]
        else:
            y[inside] = flat[outside]
    if reverse:
        return y.reshape(n, outer, h * stride, w * stride)
    return y.reshape(n, c * stride * stride, h // stride, w // stride)


def lstm(
    x: Array, continuation: Array, blobs: Sequence[Array], static: Array | None, h: Array, c: Array
) -> tuple[Array, Array, Array]:
    """Blobs: input weight, bias, (static weight,) hidden weight; gates in the order i f o g."""
    size, results = blobs[-1].shape[1], []
    for step in range(len(x)):
        gates = x[step].reshape(len(x[step]), -1).astype(np.float64) @ blobs[0].T + blobs[1]
        if static is not None:
            gates = gates + static.astype(np.float64) @ blobs[2].T
        flag = continuation[step][:, None]
        gates = gates + (h * flag) @ blobs[-1].T
        i, f, o = (sigmoid(gates[:, k * size : (k + 1) * size]) for k in range(3))
        c = f * (c * flag) + i * np.tanh(gates[:, 3 * size :])
        h = o * np.tanh(c)
        results.append(h)
    return np.stack(results), h[None], c[None]


def rnn(x: Array, continuation: Array, blobs: Sequence[Array]) -> Array:
    """Blobs: input weight, bias, hidden weight, output weight, output bias."""
    h, results = np.zeros((x.shape[1], len(blobs[1]))), []
    for step in range(len(x)):
        kept = h * continuation[step][:, None]
        h = np.tanh(kept @ blobs[2].T + x[step].astype(np.float64) @ blobs[0].T + blobs[1])
        results.append(np.tanh(h @ blobs[3].T + blobs[4]))
    return np.stack(results)


def max_pooling_with_indices(x: Array, kernel: int) -> tuple[Array, Array]:
    """Non-overlapping windows, clipped at the end of the image; index of the first maximum in its channel."""
    n, c, h, w = x.shape
    y = np.zeros((n, c, -(-h // kernel), -(-w // kernel)))
    index = np.zeros(y.shape, int)
    for at in np.ndindex(*y.shape):
        top, left = at[2] * kernel, at[3] * kernel
        window = x[at[0], at[1], top : top + kernel, left : left + kernel]
        row, column = np.unravel_index(int(window.argmax()), window.shape)
        y[at], index[at] = window.max(), (top + row) * w + left + column
    return y, index


def unpooling(x: Array, index: Array, height: int, width: int) -> Array:
    y = np.zeros((*x.shape[:2], height * width))
    for at in np.ndindex(*x.shape):
        y[at[0], at[1], index[at]] = x[at]
    return y.reshape(*x.shape[:2], height, width)
