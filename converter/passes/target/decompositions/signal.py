"""Decompositions of Fourier transforms into matmuls with cosines and sines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Split
from mslite.converter.mindir.ops.audio import Rfft, Rfft2D
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.signal import Dft
from mslite.converter.mindir.ops.unary import Sqrt, Square
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped, transposed
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY, require_float
from mslite.converter.passes.target.writer import Writer, decomposes

_MAX_WEIGHTS = 1 << 23
"""Elements of a transform's matrix: 32 MiB."""

_MOVES = frozenset(
    {"Reshape", "Squeeze", "ExpandDims", "Unsqueeze", "Flatten", "Transpose", "StridedSlice", "SliceFusion"}
)
"""Operators that are supported between a transform and the real or imaginary part."""


def _product(x: Value, matrix: npt.NDArray[np.float64], name: str, writer: Writer) -> Value:
    """Emits the product of the last dimension and a matrix."""
    if matrix.size > _MAX_WEIGHTS:
        raise Blocked(f"the matrix for its transform of {matrix.shape[0]} elements would be too large", REMEDY)
    shape = known_shape(x)
    rows = reshaped(x, (-1, shape[-1]), writer)
    y = writer.emit(MatMulFusion(), rows, writer.const(matrix, name=name))
    return reshaped(y, (*shape[:-1], matrix.shape[1]), writer)


def _spectrum(value: Value, writer: Writer) -> tuple[Value, Value]:
    """Emits the real and imaginary parts of the transform of a real tensor. Raises Blocked for other complex
    numbers."""
    maker = value.producer
    if maker is not None and maker.op.name in _MOVES:
        parts = _spectrum(maker.inputs[0], writer)
        moved = [writer.emit(maker.op, part, *maker.inputs[1:]) for part in parts]
        return moved[0], moved[1]
    if maker is None or not isinstance(maker.op, Rfft | Rfft2D):
        raise Blocked("its complex numbers do not come from a Fourier transform", REMEDY)
    x, op = maker.inputs[0], maker.op
    require_float(x)
    shape = known_shape(x)
    width = op.fft_width if isinstance(op, Rfft2D) else op.fft_length
    if shape[-1] < 0 or width <= 0 or (isinstance(op, Rfft) and len(maker.inputs) > 1):
        raise Blocked("the length of its Fourier transform is unknown", "Fix the input shapes with --inputShape")
    bins = width // 2 + 1
    angles = 2 * np.pi * (np.outer(np.arange(shape[-1]), np.arange(bins)) % width) / width
    inside = (np.arange(shape[-1]) < width)[:, None]
    both = _product(x, np.concatenate([np.cos(angles), -np.sin(angles)], 1) * inside, "fourier", writer)
    real, imaginary = writer.many(Split(output_num=2, axis=len(shape) - 1), [both], 2)
    if isinstance(op, Rfft2D):
        return _over_rows(real, imaginary, op.fft_height, writer)
    return real, imaginary


def _over_rows(real: Value, imaginary: Value, height: int, writer: Writer) -> tuple[Value, Value]:
    """Emits the transform along the columns; only the first `height` rows are used."""
    shape = known_shape(real)
    if shape[-2] < 0:
        raise Blocked("the height of its images is unknown", "Fix the input shapes with --inputShape")
    if shape[-2] == height == 1:
        return real, imaginary
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    angles = 2 * np.pi * (np.outer(np.arange(shape[-2]), np.arange(height)) % height) / height
    inside = (np.arange(shape[-2]) < height)[:, None]
    cosines, sines = np.cos(angles) * inside, np.sin(angles) * inside
    a, b = transposed(real, order, writer), transposed(imaginary, order, writer)
    products = [_product(x, m, "fourier_rows", writer) for x, m in ((a, cosines), (b, sines), (b, cosines), (a, sines))]
    new_real = writer.emit(AddFusion(), products[0], products[1])
    new_imaginary = writer.emit(SubFusion(), products[2], products[3])
    return transposed(new_real, order, writer), transposed(new_imaginary, order, writer)


@decomposes("ComplexAbs")
def magnitude(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    squares = [writer.emit(Square(), part) for part in _spectrum(node.inputs[0], writer)]
    return [writer.emit(Sqrt(), writer.emit(AddFusion(), *squares))]


@decomposes("FftReal")
def real_part(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    part = _spectrum(node.inputs[0], writer)[0]
    return [reshaped(part, known_shape(part), writer)]


@decomposes("FftImag")
def imaginary_part(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    part = _spectrum(node.inputs[0], writer)[1]
    return [reshaped(part, known_shape(part), writer)]


@decomposes("Dft")
def discrete_fourier_transform(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Lowers Dft to a linear map of the (real, imaginary) pairs along the axis; its matrix is the transform of unit
    vectors."""
    op, (x, *rest) = node.op, node.inputs
    assert isinstance(op, Dft)
    require_float(x)
    shape = known_shape(x)
    if any(value.data is None for value in rest):
        raise Blocked("its length or its axis is computed at run time", REMEDY)
    length = int(rest[0].array().reshape(-1)[0]) if rest else 0
    axis = int(rest[1].array().reshape(-1)[0]) if len(rest) > 1 else op.axis
    axis %= len(shape)
    size, parts = shape[axis], shape[-1]
    if size < 0 or parts < 0:
        raise Blocked("the length of its Fourier transform is unknown", "Fix the input shapes with --inputShape")
    if (length or size) * size * parts * 2 > _MAX_WEIGHTS:
        raise Blocked(f"the matrix for its transform of {size} elements would be too large", REMEDY)
    units = np.eye(size, dtype=np.complex128)
    if parts == 2:  # (real, imaginary) pairs
        units = np.stack([units, 1j * units], 1).reshape(2 * size, size)
    matrix = _transform(units, op, length)
    axes = [index for index in range(len(shape)) if index not in (axis, len(shape) - 1)]
    moved = transposed(x, (*axes, axis, len(shape) - 1), writer)
    lines = reshaped(moved, (*(shape[index] for index in axes), size * parts), writer)
    y = _product(lines, matrix, "fourier", writer)
    out = 1 if op.inverse and op.onesided else 2
    y = reshaped(y, (*(shape[index] for index in axes), matrix.shape[1] // out, out), writer)
    back = [axes.index(index) if index in axes else len(axes) for index in range(len(shape) - 1)]
    return [transposed(y, (*back, len(shape) - 1), writer)]


def _transform(units: npt.NDArray[np.complex128], op: Dft, length: int) -> npt.NDArray[np.float64]:
    """Returns the transform of each row, as interleaved real and imaginary parts."""
    if op.inverse and op.onesided:
        return np.asarray(np.fft.irfft(units, length or None, -1), np.float64)
    rows = (np.fft.ifft if op.inverse else np.fft.fft)(units, length or None, -1)
    rows = rows[:, : rows.shape[1] // 2 + 1] if op.onesided else rows
    return np.stack([rows.real, rows.imag], -1).reshape(rows.shape[0], -1)
