"""Gradients of SpaceToBatch, SpaceToDepth, their inverses and Reverse: each gradient is the inverse operator."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.rearrange import (
    BatchToSpace,
    BatchToSpaceND,
    DepthToSpace,
    ReverseV2,
    SpaceToBatch,
    SpaceToBatchND,
    SpaceToDepth,
    Transpose,
)
from mslite.converter.training.gradients.rule import Call, Gradients, NoGradientError, rule

_Margins = tuple[tuple[int, ...], ...]


def _rest(call: Call, dx: Value) -> Gradients:
    return [dx, *[None] * (len(call.node.inputs) - 1)]


def _blocks(call: Call, block: Shape | None, margins: object) -> tuple[Shape, _Margins]:
    """Returns the block sizes, and the paddings or crops, from attributes or constant inputs."""
    if len(call.node.inputs) > 2:
        sizes, pairs = (value.data for value in call.node.inputs[1:3])
        if sizes is None or pairs is None:
            raise NoGradientError("its block sizes are not constant")
        return _integers(sizes), tuple(_integers(pair) for pair in pairs.reshape(-1, 2))
    sizes = np.asarray(block or (), np.int64)
    pairs = np.zeros((sizes.size, 2)) if not margins else np.asarray(margins)
    return _integers(sizes), tuple(_integers(pair) for pair in pairs)


def _integers(numbers: object) -> tuple[int, ...]:
    return tuple(int(number) for number in np.asarray(numbers).reshape(-1))


@rule("SpaceToBatch", "SpaceToBatchND")
def _space_to_batch(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, SpaceToBatch | SpaceToBatchND)
    own = op.block_size if isinstance(op, SpaceToBatch) else op.block_shape
    block, pads = _blocks(call, own, op.paddings)
    return _rest(call, call.add(BatchToSpace(block_size=block, crops=pads), "x", [dy], call.shape(0)))


@rule("BatchToSpace", "BatchToSpaceND")
def _batch_to_space(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, BatchToSpace | BatchToSpaceND)
    own = op.block_size if isinstance(op, BatchToSpace) else op.block_shape
    block, crops = _blocks(call, own, op.crops)
    return _rest(call, call.add(SpaceToBatchND(block_shape=block, paddings=crops), "x", [dy], call.shape(0)))


@rule("SpaceToDepth")
def _space_to_depth(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, SpaceToDepth)
    op = DepthToSpace(block_size=call.op.block_size, format=Format.NHWC)
    return [call.add(op, "x", [dy], call.shape(0))]


@rule("DepthToSpace")
def _depth_to_space(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, DepthToSpace)
    size = call.op.block_size
    if call.op.mode != "CRD":
        return [call.add(SpaceToDepth(block_size=size, format=Format.NHWC), "x", [dy], call.shape(0))]
    batch, height, width, channels = call.shape(0)  # the block is after the channel
    whole = (batch, height, size, width, size, channels // size**2)
    order = (0, 1, 3, 5, 2, 4)
    blocks = call.build.reshaped(dy, whole, call.name("blocks"))
    places = call.build.sizes(call.name("perm"), order)
    turned = call.add(Transpose(), "turned", [blocks, places], tuple(whole[axis] for axis in order))
    return [call.build.reshaped(turned, call.shape(0), call.name("x"))]


@rule("ReverseV2")
def _reverse(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, ReverseV2)
    return [call.add(ReverseV2(axis=call.op.axis), "x", [dy], call.shape(0))]
