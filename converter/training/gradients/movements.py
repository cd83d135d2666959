"""Movements of elements, and sums over dimensions."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import arithmetic, reduction
from mslite.converter.mindir.ops.assembly import Concat, PadFusion
from mslite.converter.mindir.ops.enums import PaddingMode, ReduceMode
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule, shape_of


@rule("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims")
def _same_elements(call: Call, dy: Value) -> Gradients:
    dx = call.build.reshaped(dy, call.shape(0), call.name("x"))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("Transpose")
def _transpose(call: Call, dy: Value) -> Gradients:
    if len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("the permutation is not constant")
    inverse = np.argsort(call.node.inputs[1].array()).astype(np.int32)
    perm = call.build.constant(call.name("perm"), inverse)
    return [call.add(Transpose(), "x", [dy, perm], call.shape(0)), None]


@rule("Concat")
def _concat(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, Concat)
    axis = call.op.axis % len(shape_of(dy))
    found: Gradients = []
    at = 0
    for place, wanted in enumerate(call.wanted):
        shape = call.shape(place)
        begin = tuple(at if i == axis else 0 for i in range(len(shape)))
        found.append(call.build.slice(dy, begin, shape, call.name(f"x{place}")) if wanted else None)
        at += shape[axis]
    return found


@rule("PadFusion")
def _pad(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, PadFusion)
    if op.padding_mode is not PaddingMode.CONSTANT or len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("only padding with a constant, by constant sizes, has a gradient")
    pads = call.node.inputs[1].array().astype(np.int64).reshape(-1, 2)
    begin = tuple(int(before) for before in pads[:, 0])
    if min(begin) < 0 or int(pads.min()) < 0:
        raise NoGradientError("padding that cuts has no gradient")
    dx = call.build.slice(dy, begin, call.shape(0), call.name("x"))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("ReduceFusion")
def _reduce(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, reduction.ReduceFusion)
    shape = call.shape(0)
    if op.mode not in (ReduceMode.ReduceSum, ReduceMode.ReduceMean) or op.reduce_to_end:
        raise NoGradientError(f"{op.mode.name} has no gradient here", "Use a sum or a mean")
    axes: tuple[int, ...] = tuple(range(len(shape)))
    if len(call.node.inputs) > 1:
        if call.node.inputs[1].data is None:
            raise NoGradientError("the axes are not constant")
        axes = tuple(int(axis) % len(shape) for axis in call.node.inputs[1].array().reshape(-1))
    kept = tuple(1 if i in axes else size for i, size in enumerate(shape))
    dx = call.build.reshaped(dy, kept, call.name("kept"))
    factor = 1.0
    if op.mode is ReduceMode.ReduceMean:
        factor /= prod(shape[axis] for axis in axes)
    if factor != 1.0:
        scale = call.build.constant(call.name("factor"), np.float32(factor))
        dx = call.add(arithmetic.MulFusion(), "scaled", [dx, scale], kept)
    return [call.build.broadcast(dx, shape, call.name("x")), *[None] * (len(call.node.inputs) - 1)]
