"""Remaps the inputs of slicing operators (begin, end, axes) to another layout."""

from __future__ import annotations

import dataclasses

import numpy as np

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import SliceFusion, StridedSlice
from mslite.converter.passes.layout.axis_behaviors import axis_in, integers, permute_vector, side_constant
from mslite.converter.passes.layout.permutation import Perm


def can_remap_strided_slice(node: Node) -> bool:
    """Returns whether the node has constant axes, as in ONNX, or complete_layout constant vectors without masks."""
    op, rank = node.op, node.inputs[0].rank
    assert isinstance(op, StridedSlice)
    if op.begin_mask or op.end_mask or op.ellipsis_mask or op.new_axis_mask or op.shrink_axis_mask:
        return False
    if len(node.inputs) == 5:
        return node.inputs[3].data is not None
    return all(value.data is not None and value.data.size == rank for value in node.inputs[1:])


def remap_strided_slice(node: Node, perm: Perm) -> Operator:
    if len(node.inputs) == 5:
        data = node.inputs[3].array()
        axes = [axis_in(perm, axis) for axis in integers(node.inputs[3]) or ()]
        side_constant(node, 3, np.array(axes, data.dtype))
        return node.op
    for index in range(1, len(node.inputs)):
        side_constant(node, index, permute_vector(node.inputs[index].array(), perm))
    return node.op


def can_remap_slice(node: Node) -> bool:
    op, rank = node.op, node.inputs[0].rank
    assert isinstance(op, SliceFusion)
    sizes = [value.data.size if value.data is not None else -1 for value in node.inputs[1:]]
    return bool(op.axes and len(op.axes) != rank) or sizes == [rank, rank]


def remap_slice(node: Node, perm: Perm) -> Operator:
    op = node.op
    assert isinstance(op, SliceFusion)
    if op.axes and len(op.axes) != len(perm):
        return dataclasses.replace(op, axes=tuple(axis_in(perm, axis) for axis in op.axes))
    axes = op.axes or tuple(range(len(perm)))
    order = [axes.index(axis) for axis in perm]
    for index in (1, 2):
        side_constant(node, index, np.ascontiguousarray(node.inputs[index].array().reshape(-1)[order]))
    return dataclasses.replace(op, axes=tuple(range(len(perm))))
