"""Range analysis of integer tensors: bounds that hold for any inputs of the model."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import ActivationType, DataType

Range = tuple[int, int]
"""Smallest and largest possible value of an element."""

INT32_RANGE: Range = (-(1 << 31), (1 << 31) - 1)
INT64_RANGE: Range = (-(1 << 63), (1 << 63) - 1)
_OF_TYPE: dict[DataType, Range] = {
    DataType.BOOL: (0, 1),
    DataType.INT8: (-128, 127),
    DataType.UINT8: (0, 255),
    DataType.INT32: INT32_RANGE,
}
_MOVES = frozenset(
    {"Gather", "GatherNd", "GatherD", "Squeeze", "Unsqueeze", "ExpandDims", "Reshape", "Transpose", "Flatten",
     "BroadcastTo", "TileFusion", "StridedSlice", "SliceFusion", "Split", "Depend"}
)  # fmt: skip
_GREATEST_DIMENSION = (1 << 31) - 1
"""The loader and shape inference refuse larger dimensions."""


def ranges_of(graph: Graph) -> dict[Value, Range]:
    """Returns the proven range of the integer values of `graph`; a missing value may have the whole range of its type.

    A result that may exceed its type wraps at run time, so it has no range.
    """
    ranges: dict[Value, Range] = {}
    for value in graph.values():
        if value.data is not None and value.data.dtype.kind in "iub":
            ranges[value] = _extent(value)
        elif value.dtype in _OF_TYPE:
            ranges[value] = _OF_TYPE[value.dtype]
    for node in graph.nodes:
        found = _result(node, ranges)
        for value in node.outputs[:1] if node.op.name != "Split" else node.outputs:
            kept = ranges.get(value, INT64_RANGE if value.dtype is DataType.INT64 else None)
            if found is not None and kept is not None and kept[0] <= found[0] and found[1] <= kept[1]:
                ranges[value] = found
    return ranges


def _extent(value: Value) -> Range:
    data = value.array()
    return (int(np.min(data)), int(np.max(data))) if data.size else (0, 0)


def _result(node: Node, ranges: dict[Value, Range]) -> Range | None:
    name = node.op.name
    if name == "Shape":
        return _dimensions(node.inputs[0])
    inputs = [ranges.get(value) for value in node.inputs]
    if name in _MOVES and inputs:
        return inputs[0]
    if name == "Cast":
        return inputs[0] if node.inputs[0].dtype in _OF_TYPE or node.inputs[0].dtype is DataType.INT64 else None
    if name in ("Concat", "Stack"):
        return _union(inputs)
    if len(inputs) != 2 or getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION) != 0:
        return None
    left, right = inputs
    return None if left is None or right is None else _arithmetic(name, left, right)


def _dimensions(value: Value) -> Range:
    if value.shape is None:
        return (0, _GREATEST_DIMENSION)
    sizes = [(size, size) if size >= 0 else (0, _GREATEST_DIMENSION) for size in value.shape]
    return _union(list(sizes)) or (0, 0)


def _union(ranges: list[Range | None] | list[Range]) -> Range | None:
    known = [item for item in ranges if item is not None]
    if not known or len(known) != len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _arithmetic(name: str, a: Range, b: Range) -> Range | None:
    match name:
        case "AddFusion":
            return a[0] + b[0], a[1] + b[1]
        case "SubFusion":
            return a[0] - b[1], a[1] - b[0]
        case "MulFusion":
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case "Maximum":
            return max(a[0], b[0]), max(a[1], b[1])
        case "Minimum":
            return min(a[0], b[0]), min(a[1], b[1])
        case _:
            return None
