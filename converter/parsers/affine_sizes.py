"""Finds sizes that a model computes as `factor * dimension + offset` from a shape, by following the nodes.

The output shape of transposed convolutions is such an input: it defines the output padding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, Stack, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape, Squeeze, Unsqueeze
from mslite.converter.mindir.ops.unary import Cast

_SAME_ELEMENTS = (Cast, ExpandDims, Reshape, Squeeze, Unsqueeze)
_MAX_NODES = 1000
_LONGEST = 64


@dataclass(frozen=True)
class Size:
    """`factor * (size of dimension axis) + offset`; a constant for factor 0."""

    axis: int
    factor: int
    offset: int

    def beyond(self, axis: int, length: int, stride: int) -> int | None:
        """Returns this size minus (length - 1) * stride, for any length of dimension `axis`; None if not constant."""
        if self.factor:
            return self.offset + stride if (self.axis, self.factor) == (axis, stride) else None
        return self.offset - (length - 1) * stride if length >= 0 else None


Sizes = list[Size | None]
"""None for sizes that are computed in other ways."""


def sizes_of(wanted: Value, x: Value, rank: int, contents: Callable[[Value], Array | None]) -> Sizes | None:
    """Returns the elements of the integer vector `wanted` as sizes in terms of the dimensions of `x`, of this rank."""
    return _Follower(x, rank, contents).elements(wanted)


class _Follower:
    def __init__(self, x: Value, rank: int, contents: Callable[[Value], Array | None]) -> None:
        self._x, self._rank, self._contents = x, rank, contents
        self._seen: dict[int, Sizes | None] = {}

    def elements(self, value: Value) -> Sizes | None:
        """Returns the elements in order, without the shape."""
        if id(value) not in self._seen:
            if len(self._seen) >= _MAX_NODES:
                return None
            self._seen[id(value)] = None
            found = self._followed(value)
            self._seen[id(value)] = found if found is not None and len(found) <= _LONGEST else None
        return self._seen[id(value)]

    def _followed(self, value: Value) -> Sizes | None:
        known = self._contents(value)
        if known is not None:
            small = known.dtype.kind in "iu" and known.size <= _LONGEST
            return [Size(0, 0, int(number)) for number in known.ravel()] if small else None
        node = value.producer
        if node is None:
            return None
        if isinstance(node.op, Shape):
            return self._shape(node.inputs[0])
        if isinstance(node.op, _SAME_ELEMENTS):
            return self.elements(node.inputs[0])
        if isinstance(node.op, Stack | Concat):
            parts = [self.elements(part) for part in node.inputs] if node.op.axis in (0, -1) else [None]
            return None if any(part is None for part in parts) else [size for part in parts for size in part or ()]
        if isinstance(node.op, StridedSlice | Gather):
            return self._chosen(node)
        if isinstance(node.op, AddFusion | SubFusion | MulFusion):
            return self._arithmetic(node)
        return None

    def _shape(self, value: Value) -> Sizes | None:
        inner = self._x.producer
        if inner is not None and isinstance(inner.op, ExpandDims) and inner.inputs[0] is value:
            place = self._contents(inner.inputs[1])
            if place is not None and place.size == 1:
                new = int(place.ravel()[0]) % self._rank
                return [Size(axis, 1, 0) for axis in range(self._rank) if axis != new]
        if value.shape is None or (value is self._x and len(value.shape) != self._rank):
            return [Size(axis, 1, 0) for axis in range(self._rank)] if value is self._x else None
        symbols = {dim: axis for axis, dim in enumerate(self._x.shape or ()) if dim < 0}
        return [
            Size(0, 0, dim) if dim >= 0 else Size(symbols[dim], 1, 0) if dim in symbols else None for dim in value.shape
        ]

    def _chosen(self, node: Node) -> Sizes | None:
        """Returns the elements that StridedSlice or Gather selects from a vector."""
        vector = self.elements(node.inputs[0])
        operands = [self._contents(value) for value in node.inputs[1:]]
        if vector is None or any(operand is None or operand.dtype.kind not in "iu" for operand in operands):
            return None
        numbers = [[int(number) for number in np.ravel(operand)] for operand in operands if operand is not None]
        if isinstance(node.op, Gather):
            positions = numbers[0]
        elif isinstance(node.op, StridedSlice) and all(len(part) == 1 for part in numbers):
            op = node.op
            if (op.ellipsis_mask | op.new_axis_mask) & 1 or len(numbers) < 2:
                return None
            (begin, end), step = (part[0] for part in numbers[:2]), numbers[2][0] if len(numbers) > 2 else 1
            if op.shrink_axis_mask & 1:
                positions = [begin]
            elif step:
                limits = slice(None if op.begin_mask & 1 else begin, None if op.end_mask & 1 else end, step)
                positions = list(range(len(vector)))[limits]
            else:
                return None
        else:
            return None
        if any(not -len(vector) <= position < len(vector) for position in positions):
            return None
        return [vector[position] for position in positions]

    def _arithmetic(self, node: Node) -> Sizes | None:
        left, right = (self.elements(value) for value in node.inputs[:2])
        if left is None or right is None or getattr(node.op, "activation_type", None) != ActivationType.NO_ACTIVATION:
            return None
        if len(left) == 1:
            left = left * len(right)
        elif len(right) == 1:
            right = right * len(left)
        if len(left) != len(right):
            return None
        return [_combined(node, a, b) for a, b in zip(left, right, strict=True)]


def _combined(node: Node, a: Size | None, b: Size | None) -> Size | None:
    if a is None or b is None:
        return None
    if isinstance(node.op, MulFusion):
        if a.factor and b.factor:
            return None
        number, size = (a.offset, b) if not a.factor else (b.offset, a)
        return Size(size.axis, size.factor * number, size.offset * number)
    sign = -1 if isinstance(node.op, SubFusion) else 1
    if a.factor and b.factor and a.axis != b.axis:
        return None
    return Size(a.axis if a.factor else b.axis, a.factor + sign * b.factor, a.offset + sign * b.offset)
