"""Decompositions of resizing into gathers, or matmuls with one matrix per dimension."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.resize import Resize, ResizeND
from mslite.converter.passes import native_rules
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.target.decompositions.dynamic_reshape import known_shape, reshaped, transposed
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY
from mslite.converter.passes.target.writer import Writer, decomposes

_IMAGE_AXES = (1, 2)
_MAX_WEIGHTS = 1 << 22
_MODES = {mode.name.lower(): mode for mode in CoordinateTransformMode}


@decomposes("ResizeND")
def image_of_whole_factors(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Lowers resizing by integer factors to MindSpore Lite's Resize with factors, for dynamic dimensions."""
    op, (x, target, *_) = node.op, node.inputs
    assert isinstance(op, ResizeND)
    shape = known_shape(x)
    if len(shape) != 4 or target.data is None or target.data.dtype != np.float32 or x.dtype is not DataType.FLOAT32:
        return None
    factors = dict(zip(op.axes or range(4), target.data.astype(np.float64).tolist(), strict=True))
    height, width = (factors.get(axis, 1.0) for axis in _IMAGE_AXES)
    others = [factors.get(axis, 1.0) for axis in (0, 3)]
    mode = _MODES.get(op.coordinate_transformation_mode or "half_pixel")
    if others != [1, 1] or mode is None or op.antialias or not height.is_integer() or not width.is_integer():
        return None
    is_floor = mode is CoordinateTransformMode.ASYMMETRIC and op.nearest_mode == "floor"
    if (op.method is ResizeMethod.NEAREST and not is_floor) or op.method is ResizeMethod.CUBIC:
        return None
    plain = Resize(
        format=Format.NHWC,
        method=op.method,
        coordinate_transform_mode=mode,
        nearest_mode=NearestMode.FLOOR,
        cubic_coeff=op.cubic_coeff,
    )
    return [writer.emit(plain, x, writer.const([1, height, width, 1], name="factors"))]


@decomposes("ResizeND")
def each_dimension(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    op, (x, target, *_) = node.op, node.inputs
    assert isinstance(op, ResizeND)
    before, after = _sizes(node)
    if (
        op.coordinate_transformation_mode == "tf_crop_and_resize"
        or (op.keep_aspect_ratio_policy or "stretch") != "stretch"
    ):
        raise Blocked("it crops, or keeps the aspect ratio", REMEDY)
    if target.data is None:
        raise Blocked("its sizes are computed at run time", "Fix the input shapes with --inputShape")
    y = x
    for axis, wanted in zip(op.axes or range(len(before)), target.data, strict=True):
        if before[axis] != after[axis] or (wanted.dtype.kind == "f" and wanted != 1):
            y = _along(y, axis, _weights(changed(op, axes=(0,)), before[axis], np.asarray([wanted])), writer)
    return [y if y is not x else writer.emit(Reshape(), x, writer.ints(*before))]


@decomposes("Resize")
def height_and_width(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Resize)
    if x.quant:
        raise Blocked("it is quantized", REMEDY)
    before, after = _sizes(node)
    y = x
    for axis in _IMAGE_AXES:
        if before[axis] == after[axis]:
            continue
        matrix = _image_weights(dataclasses.replace(op, format=Format.NHWC), axis, before[axis], after[axis])
        y = _along(y, axis, matrix, writer)
    return [y if y is not x else writer.emit(Reshape(), x, writer.ints(*before))]


def _sizes(node: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    before, after = known_shape(node.inputs[0]), known_shape(node.outputs[0])
    if any(size < 0 for size in (*before, *after)):
        raise Blocked("its dimensions are unknown", "Fix the input shapes with --inputShape")
    return before, after


def _evaluate(op: Operator, *operands: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    facts = [native_rules.NativeTensorFacts(data_type_of(data), tuple(data.shape), None, data) for data in operands]
    return np.asarray(native_rules.evaluate(op, facts, 1)[0], np.float64)


def _weights(op: Operator, size: int, target: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Returns the interpolation matrix [after, before], computed from the results for unit vectors."""
    return _evaluate(op, np.eye(size, dtype=np.float32), target)


def _image_weights(op: Resize, axis: int, before: int, after: int) -> npt.NDArray[np.float64]:
    """Returns the interpolation matrix for a dimension of images; each channel is a unit vector."""
    units = np.eye(before, dtype=np.float32)
    image = units[None, :, None] if axis == 1 else units[None, None]
    sizes = {"new_height": after if axis == 1 else 1, "new_width": after if axis == 2 else 1}
    return _evaluate(changed(op, **sizes), image).reshape(after, before)


def _along(x: Value, axis: int, matrix: npt.NDArray[np.float64], writer: Writer) -> Value:
    """Emits x with one dimension resampled."""
    chosen = matrix.argmax(1)
    if np.array_equal(matrix, np.eye(matrix.shape[1])[chosen]):
        return writer.emit(Gather(), x, writer.const(chosen, np.int32), writer.const(axis, np.int32))
    if x.dtype is not DataType.FLOAT32:
        raise Blocked(f"interpolation of {x.dtype.name.lower()} is not supported", REMEDY)
    if matrix.size > _MAX_WEIGHTS:
        raise Blocked(f"its matrix of {matrix.shape[0]} to {matrix.shape[1]} pixels would be too large", REMEDY)
    shape = known_shape(x)
    order = [*(index for index in range(len(shape)) if index != axis), axis]
    moved = transposed(x, order, writer)
    rows = reshaped(moved, (math.prod(shape) // shape[axis], shape[axis]), writer)
    weights = writer.const(matrix, name=f"weights{axis}")
    y = writer.emit(MatMulFusion(transpose_b=True), rows, weights)
    y = reshaped(y, (*(shape[index] for index in order[:-1]), matrix.shape[0]), writer)
    return transposed(y, [order.index(index) for index in range(len(shape))], writer)
