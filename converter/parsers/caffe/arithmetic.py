"""Element-wise sums, products and maxima of blobs; scale and bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, MulFusion, ScaleFusion

from .call import Blob, Call
from .registry import caffe_layer
from .weights import Floats

_ELTWISE = {"PROD": MulFusion, "SUM": AddFusion, "MAX": Maximum}


@caffe_layer("Eltwise")
def eltwise(call: Call) -> Blob:
    """Converts Eltwise: the product, the sum with coefficients, or the maximum of several blobs."""
    first, given = call.bottom(), call.parameter("eltwise")
    operation, coefficients = call.choice(given, "operation"), list(given.coeff)
    call.bottom(1)
    if any(blob.shape != first.shape for blob in call.bottoms):
        shapes = ", ".join("x".join(map(str, blob.shape)) for blob in call.bottoms)
        raise call.block(f"the bottom blobs have different shapes: {shapes}")
    if coefficients and (operation != "SUM" or len(coefficients) != len(call.bottoms)):
        raise call.block(
            f"{len(coefficients)} coefficients do not match {operation} of {len(call.bottoms)} blobs", attribute="coeff"
        )
    values = [blob.value for blob in call.bottoms]
    for index, coefficient in enumerate(coefficients):
        if coefficient != 1:
            values[index] = call.emit(MulFusion(), values[index], call.const(coefficient))
    total = values[0]
    for value in values[1:]:
        total = call.emit(_ELTWISE[operation](), total, value)
    return Blob(total, first.shape)


def _covered(call: Call, x: Blob, axis: int, count: int) -> tuple[int, ...]:
    """Returns the sizes of `count` (-1: all) dimensions from `axis` on. Raises Blocked."""
    if count < -1 or (count >= 0 and axis + count > x.rank):
        raise call.block(f"{count} axes from {axis} on are out of range for {x.rank} dimensions", attribute="num_axes")
    return x.shape[axis:] if count == -1 else x.shape[axis : axis + count]


def per_axis(call: Call, x: Blob, axis: int, factors: Floats | None, offsets: Floats | None) -> Value:
    """Emits x * factors + offsets; both have the dimensions of x from `axis` on."""
    given = factors if factors is not None else offsets
    assert given is not None
    if given.ndim == 1 and x.rank > 1 and factors is not None:
        return _scaled(call, x, axis, factors, offsets)
    y = x.value
    tail = (1,) * (x.rank - axis - given.ndim)
    if factors is not None:
        y = call.emit(MulFusion(), y, call.const(factors.reshape(factors.shape + tail)))
    if offsets is not None:
        y = call.emit(AddFusion(), y, call.const(offsets.reshape(offsets.shape + tail)))
    return y


def _scaled(call: Call, x: Blob, axis: int, factors: Floats, offsets: Floats | None) -> Value:
    """Emits a ScaleFusion with one factor for each index of `axis`; fuses a ScaleFusion before it (a BatchNorm)."""
    value, before = x.value, x.value.producer
    if before is not None and before.op == ScaleFusion(axis=axis):
        constants = [
            np.asarray(operand.array(), np.float32) for operand in before.inputs[1:] if operand.data is not None
        ]
        if len(constants) == len(before.inputs) - 1 and all(array.shape == factors.shape for array in constants):
            if len(constants) > 1:
                moved = constants[1] * factors
                offsets = moved if offsets is None else moved + offsets
            value, factors = before.inputs[0], constants[0] * factors
    operands = [call.const(factors)] + ([] if offsets is None else [call.const(offsets)])
    return call.emit(ScaleFusion(axis=axis), value, *operands)


@caffe_layer("Scale")
def scale(call: Call) -> Blob:
    """Converts Scale: x * factors (+ offsets); the factors are weights or the second bottom blob."""
    x, given = call.bottom(), call.parameter("scale")
    axis = call.axis(given.axis, x.rank)
    if len(call.bottoms) > 1:
        factors = call.bottom(1)
        y = call.emit(MulFusion(), x.value, _aligned(call, x, factors, axis))
        if given.bias_term:
            y = per_axis(call, Blob(y, x.shape), axis, None, call.weight(0, factors.shape))
        return Blob(y, x.shape)
    covered = _covered(call, x, axis, given.num_axes)
    offsets = call.weight(1, covered) if given.bias_term else None
    return Blob(per_axis(call, x, axis, call.weight(0, covered), offsets), x.shape)


@caffe_layer("Bias")
def bias(call: Call) -> Blob:
    """Converts Bias: x + offsets; the offsets are weights or the second bottom blob."""
    x, given = call.bottom(), call.parameter("bias")
    axis = call.axis(given.axis, x.rank)
    if len(call.bottoms) > 1:
        return Blob(call.emit(AddFusion(), x.value, _aligned(call, x, call.bottom(1), axis)), x.shape)
    offsets = call.weight(0, _covered(call, x, axis, given.num_axes))
    return Blob(per_axis(call, x, axis, None, offsets), x.shape)


def _aligned(call: Call, x: Blob, other: Blob, axis: int) -> Value:
    """Reshapes `other`, which has the dimensions of x from `axis` on, so that it broadcasts. Raises Blocked."""
    covered = x.shape[axis : axis + other.rank]
    fits = len(covered) == other.rank and all(b in (1, a) for a, b in zip(covered, other.shape, strict=True))
    if not fits:
        shown = "x".join(map(str, other.shape)), "x".join(map(str, x.shape))
        raise call.block(f"the second bottom blob, {shown[0]}, does not match {shown[1]} from axis {axis} on")
    tail: Sequence[int] = (1,) * (x.rank - axis - other.rank)
    return call.reshape(other.value, other.shape, (*other.shape, *tail))


@caffe_layer("Axpy")
def axpy(call: Call) -> Blob:
    """Converts Axpy: a * x + y, with one a for each batch item and channel."""
    a, x, y = call.bottom(0), call.bottom(1), call.bottom(2)
    if x.shape != y.shape or x.rank < 2 or a.shape[:2] != x.shape[:2] or any(dim != 1 for dim in a.shape[2:]):
        shown = ", ".join("x".join(map(str, blob.shape)) for blob in (a, x, y))
        raise call.block(f"the shapes of the bottom blobs do not match: {shown}")
    factors = call.reshape(a.value, a.shape, (*x.shape[:2], *([1] * (x.rank - 2))))
    return Blob(call.emit(AddFusion(), call.emit(MulFusion(), x.value, factors), y.value), x.shape)
