"""Gradients of resizing. Resizing is a matmul with one matrix for rows and one for columns; the gradient uses their
transposes."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import training
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.passes import native_rules
from mslite.converter.passes.graph_edit import changed
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of

_IMAGE_RANK = 4


@rule("Resize")
def _resize(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, Resize)
    if len(call.shape(0)) != _IMAGE_RANK:
        raise NoGradientError("the gradient of resizing supports 4-D images only")
    others = [None] * (len(call.node.inputs) - 1)
    kind = _of_mindspore(op)
    if kind is not None:
        sizes = call.build.sizes(call.name("size"), call.shape(0)[1:3])
        return [call.add(kind, "x", [dy, sizes], call.shape(0)), *others]
    batch, height, width, channels = call.shape(0)
    _, rows, columns, _ = shape_of(dy)
    view = call.build.reshaped(dy, (batch, rows, columns * channels), call.name("rows/view"))
    down = _applied(call, "rows", op, (rows, height), view)
    view = call.build.reshaped(down, (batch * height, columns, channels), call.name("columns/view"))
    across = _applied(call, "columns", op, (columns, width), view)
    return [call.build.reshaped(across, call.shape(0), call.name("x")), *others]


def _of_mindspore(op: Resize) -> training.ResizeGrad | None:
    """Returns MindSpore's operator for the gradient, or None."""
    corners = op.coordinate_transform_mode is CoordinateTransformMode.ALIGN_CORNERS
    plain = op.coordinate_transform_mode is CoordinateTransformMode.ASYMMETRIC
    is_linear = op.method is ResizeMethod.LINEAR and (corners or plain)
    is_nearest = (
        op.method is ResizeMethod.NEAREST and plain and op.nearest_mode in (NearestMode.NORMAL, NearestMode.FLOOR)
    )
    return training.ResizeGrad(method=op.method, align_corners=corners) if is_linear or is_nearest else None


def _applied(call: Call, what: str, op: Resize, sizes: tuple[int, int], dy: Value) -> Value:
    """Adds the matmul of the transposed matrix of a dimension and each of `dy`, [n, sizes[0], k]."""
    count, _, depth = shape_of(dy)
    matrix = call.build.constant(call.name(f"{what}/matrix"), _matrix(op, *sizes))
    return call.add(MatMulFusion(transpose_a=True), what, [matrix, dy], (count, sizes[1], depth))


def _matrix(op: Resize, large: int, small: int) -> Array:
    """Returns the resizing matrix [large, small], computed by resizing unit vectors in the channels."""
    unit = np.eye(small, dtype=np.float32).reshape(1, small, 1, small)
    forward = changed(op, format=Format.NHWC, new_height=large, new_width=1, preserve_aspect_ratio=False)
    (found,) = native_rules.evaluate(
        forward, [native_rules.NativeTensorFacts(DataType.FLOAT32, unit.shape, None, unit)], 1
    )
    return np.asarray(found).reshape(large, small)
