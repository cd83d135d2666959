"""Rules for padding rows in operators that compute each row of their result from the same row of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.activation import Softmax
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion, Split, Stack, StridedSlice, Unstack
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Squeeze, Unsqueeze
from mslite.converter.mindir.ops.reduction import ArgMaxFusion, ArgMinFusion, ReduceFusion


class PaddingContents(Enum):
    """Contents of padding rows; the values are texts for notes."""

    INDEX = "-1"
    """As in the result of NonMaxSuppression. As an index of Gather, it is the last element."""
    PART = "-1 in some columns"
    LAST = "the values of the last box of the last class and image"
    OTHER = "meaningless values"


@dataclass(frozen=True)
class Rows:
    """A tensor with rows along dimension `axis`, some of which may be padding."""

    axis: int
    filling: PaddingContents
    origin: str
    """Name of the NonMaxSuppression."""


class PaddingError(Exception):
    """Raised for a node whose result would change because of padding rows."""


Given = Sequence[Rows | None]
Rule = Callable[[Node, Given], Rows]


def rule_of(node: Node) -> Rule:
    """Returns the rule for an operator. It returns the rows of the node's outputs or raises PaddingError."""
    name = node.op.name
    if name in _ELEMENTWISE and (name != "Where" or len(node.inputs) > 1):
        return _elementwise
    if name not in _RULES:
        return _crossed
    return _RULES[name]


_ELEMENTWISE = frozenset(name for name, cls in OPERATORS.items() if cls.declaration.layout == "elementwise") - {
    "DynamicQuantizeLinear",
    "Hardmax",
    "Range",
}
"""Element-wise operators, without those that work with any layout but read more than one element."""


def _shape(value: Value) -> tuple[int, ...]:
    if value.shape is None:
        raise PaddingError("the shape of an input is unknown")
    return value.shape


def _crossed(node: Node, given: Given) -> Rows:
    origin = next(rows.origin for rows in given if rows is not None)
    raise PaddingError(f"it computes across the rows of NonMaxSuppression '{origin}', some of which may be padding")


def _first(node: Node, given: Given) -> Rows:
    """Returns the rows of input 0. Raises PaddingError if other inputs have padding rows."""
    if given[0] is None or any(given[1:]):
        return _crossed(node, given)
    return given[0]


def _axis(node: Node, wanted: int, rank: int, rows: Rows) -> int:
    """Returns an axis as a non-negative number. Raises PaddingError if it is the axis of the rows."""
    axis = wanted + rank if wanted < 0 else wanted
    if axis == rows.axis:
        _crossed(node, [rows])
    return axis


def _constants(value: Value) -> list[int]:
    if value.data is None:
        raise PaddingError(f"its input '{value.name}' is computed at run time")
    return [int(item) for item in value.data.ravel()]


def _elementwise(node: Node, given: Given) -> Rows:
    shape = _shape(node.outputs[0])
    pairs = [(_shape(value), rows) for value, rows in zip(node.inputs, given, strict=True) if rows is not None]
    places = {rows.axis - len(sizes) for sizes, rows in pairs}
    axis = len(shape) + max(places)
    if len(places) > 1 or any(sizes[rows.axis] != shape[axis] for sizes, rows in pairs):
        return _crossed(node, given)
    rows = pairs[0][1]
    if node.op.name == "Cast" and node.output.dtype not in _UNSIGNED:
        return rows
    same = all(one.filling is PaddingContents.LAST for _, one in pairs)
    return Rows(axis, PaddingContents.LAST if same else PaddingContents.OTHER, rows.origin)


_UNSIGNED = (DataType.BOOL, DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64)


def reshaped(node: Node, given: Given) -> Rows:
    """Rule for reshapes: finds the dimension with the same size and the same number of elements before it."""
    rows = _first(node, given)
    before, after = _shape(node.inputs[0]), _shape(node.outputs[0])
    outside = prod(before[: rows.axis])
    found = [i for i, size in enumerate(after) if size == before[rows.axis] and prod(after[:i]) == outside]
    if len(found) > 1:
        raise PaddingError(
            f"there is only one row, and the dimension of the rows in its result {list(after)} is ambiguous"
        )
    return replace(rows, axis=found[0]) if found else _crossed(node, given)


def _squeezed(node: Node, given: Given) -> Rows:
    rows = _first(node, given)
    assert isinstance(node.op, Squeeze)
    shape = _shape(node.inputs[0])
    wanted = node.op.axis or [axis for axis, size in enumerate(shape) if size == 1]
    axes = {_axis(node, axis, len(shape), rows) for axis in wanted}
    return replace(rows, axis=rows.axis - sum(axis < rows.axis for axis in axes))


def _unsqueezed(node: Node, given: Given) -> Rows:
    """Rule for Unsqueeze and ExpandDims."""
    rows = _first(node, given)
    op, rank = node.op, len(_shape(node.outputs[0]))
    added = (op.axis or ()) if isinstance(op, Unsqueeze) else _constants(node.inputs[1])
    axes = {axis % rank for axis in added}
    return replace(rows, axis=[axis for axis in range(rank) if axis not in axes][rows.axis])


def _transposed(node: Node, given: Given) -> Rows:
    rows = _first(node, given)
    rank = len(_shape(node.inputs[0]))
    order = _constants(node.inputs[1]) if len(node.inputs) > 1 else list(range(rank))[::-1]
    return replace(rows, axis=[axis % rank for axis in order].index(rows.axis))


def _joined(node: Node, given: Given) -> Rows:
    """Rule for Concat and Stack."""
    op = node.op
    assert isinstance(op, Concat | Stack)
    axes = {rows.axis for rows in given if rows is not None}
    rows = next(rows for rows in given if rows is not None)
    if len(axes) > 1:
        return _crossed(node, given)
    axis = op.axis + len(_shape(node.outputs[0])) if op.axis < 0 else op.axis
    if isinstance(op, Concat):
        _axis(node, axis, 0, rows)
    fillings = {PaddingContents.LAST if rows is None else rows.filling for rows in given}
    whole = PaddingContents.OTHER if PaddingContents.OTHER in fillings else PaddingContents.PART
    filling = fillings.pop() if len(fillings) == 1 else whole
    return Rows(rows.axis + (isinstance(op, Stack) and axis <= rows.axis), filling, rows.origin)


def _split(node: Node, given: Given) -> Rows:
    rows = _first(node, given)
    assert isinstance(node.op, Split)
    _axis(node, node.op.axis, len(_shape(node.inputs[0])), rows)
    return rows


def _unstacked(node: Node, given: Given) -> Rows:
    rows = _first(node, given)
    assert isinstance(node.op, Unstack)
    axis = _axis(node, node.op.axis, len(_shape(node.inputs[0])), rows)
    return replace(rows, axis=rows.axis - (axis < rows.axis))


def _gathered(node: Node, given: Given) -> Rows:
    """Rule for Gather: of columns of padded rows, or with padded rows as indices."""
    table, indices = node.inputs[:2]
    rank = len(_shape(table))
    (wanted,) = _constants(node.inputs[2]) if len(node.inputs) > 2 else (0,)
    if given[1] is not None and given[0] is None:
        _check_index(given[1])
        axis = wanted + rank if wanted < 0 else wanted
        return Rows(axis + given[1].axis, PaddingContents.LAST, given[1].origin)
    rows = _first(node, given)
    axis = _axis(node, wanted, rank, rows)
    return replace(rows, axis=rows.axis if axis > rows.axis else rows.axis + len(_shape(indices)) - 1)


def _gathered_at_tuples(node: Node, given: Given) -> Rows:
    rows = given[1]
    if rows is None or given[0] is not None or rows.axis == len(_shape(node.inputs[1])) - 1:
        return _crossed(node, given)
    _check_index(rows)
    return Rows(rows.axis, PaddingContents.LAST, rows.origin)


def _check_index(rows: Rows) -> None:
    if rows.filling is PaddingContents.OTHER:
        raise PaddingError(
            f"its indices are computed from those of NonMaxSuppression '{rows.origin}', so indices in padding rows may be out "
            "of range"
        )


def _cut(node: Node, given: Given) -> Rows:
    """Rule for SliceFusion. Boxes are in the first rows, so a slice whose begin is counted from the front is
    supported."""
    rows = _first(node, given)
    assert isinstance(node.op, SliceFusion)
    begin = _constants(node.inputs[1])
    axes = list(node.op.axes or range(len(begin)))
    if rows.axis in axes and begin[axes.index(rows.axis)] < 0:
        return _crossed(node, given)
    return rows


def _strided(node: Node, given: Given) -> Rows:
    rows = _first(node, given)
    op = node.op
    assert isinstance(op, StridedSlice)
    rank = len(_shape(node.inputs[0]))
    begin, end = _constants(node.inputs[1]), _constants(node.inputs[2])
    has_axes = len(node.inputs) == 5
    axes = [axis % rank for axis in _constants(node.inputs[3])] if has_axes else list(range(len(begin)))
    steps = _constants(node.inputs[-1]) if len(node.inputs) > 3 else [1] * len(begin)
    if op.ellipsis_mask or op.new_axis_mask:
        raise PaddingError("it has an ellipsis or adds dimensions")
    gone = {axis for place, axis in enumerate(axes) if op.shrink_axis_mask >> place & 1}
    if rows.axis in axes:
        place = axes.index(rows.axis)
        counts_back = (begin[place] < 0 and not op.begin_mask >> place & 1) or (
            end[place] < 0 and not op.end_mask >> place & 1
        )
        if counts_back or steps[place] < 1 or rows.axis in gone:
            return _crossed(node, given)
    return replace(rows, axis=rows.axis - sum(axis < rows.axis for axis in gone))


def _reduced(node: Node, given: Given) -> Rows:
    """Rule for ReduceFusion, ArgMaxFusion, ArgMinFusion and Softmax, along other dimensions than the rows."""
    rows = _first(node, given)
    op, rank = node.op, len(_shape(node.inputs[0]))
    if isinstance(op, ReduceFusion):
        if len(node.inputs) < 2 or op.reduce_to_end:
            return _crossed(node, given)
        wanted, keeps = _constants(node.inputs[1]), op.keep_dims
    elif isinstance(op, Softmax):
        wanted, keeps = list(op.axis or (-1,)), True
    else:
        assert isinstance(op, ArgMaxFusion | ArgMinFusion)
        wanted, keeps = [op.axis], op.keep_dims or op.top_k > 1
    if not wanted:
        return _crossed(node, given)
    axes = {_axis(node, axis, rank, rows) for axis in wanted}
    filling = PaddingContents.LAST if rows.filling is PaddingContents.LAST else PaddingContents.OTHER
    return Rows(rows.axis - (0 if keeps else sum(axis < rows.axis for axis in axes)), filling, rows.origin)


_RULES: dict[str, Rule] = {
    "ArgMaxFusion": _reduced,
    "ArgMinFusion": _reduced,
    "Concat": _joined,
    "ExpandDims": _unsqueezed,
    "Flatten": reshaped,
    "Gather": _gathered,
    "GatherNd": _gathered_at_tuples,
    "ReduceFusion": _reduced,
    "Reshape": reshaped,
    "SliceFusion": _cut,
    "Softmax": _reduced,
    "Split": _split,
    "Squeeze": _squeezed,
    "Stack": _joined,
    "StridedSlice": _strided,
    "Transpose": _transposed,
    "Unsqueeze": _unsqueezed,
    "Unstack": _unstacked,
}
