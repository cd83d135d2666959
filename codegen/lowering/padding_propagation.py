"""Follows the padding rows of NonMaxSuppression through a graph.

Operators that compute each row from the same row of their inputs do not mix padding with other rows: the rows of boxes
are unchanged. Other operators, whose results would change because of padding, are unsupported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mslite.codegen.lowering.padding_rules import Given, PaddingContents, PaddingError, Rows, reshaped, rule_of
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.assembly import StridedSlice

_REMEDY = (
    "End the model before it, and do its work in the program, without the rows of -1; or use the runtime for this model"
)
_PARTS = 2
_WITH_STRIDES = 4
"""Number of inputs of a StridedSlice without axes."""


@dataclass
class PaddingRows:
    """Padding rows in a graph."""

    rows: dict[Value, Rows] = field(default_factory=dict)
    """Tensors with padding rows."""
    blockers: list[Blocker] = field(default_factory=list)
    """Nodes whose results padding would change."""
    fills: dict[Node, str] = field(default_factory=dict)
    """Concats that pad a vector with a value to a fixed size -> name of the NonMaxSuppression. If the padding rows have
    the same value, the padded vector does not change."""
    counts: dict[Node, str] = field(default_factory=dict)
    """Gathers of the number of rows for outputs of the model -> name of the NonMaxSuppression."""


def follow_rows(graph: Graph, origins: Sequence[Node]) -> PaddingRows:
    """Follows the padding rows of the nodes `origins`. All shapes must be known."""
    follower = _Follower(graph, origins)
    for node in graph.nodes:
        if node in origins and not any(value in follower.found.rows for value in node.inputs):
            follower.found.rows[node.output] = Rows(0, PaddingContents.INDEX, node.name)
        else:
            follower.visit(node)
    follower.check_outputs()
    return follower.found


class _Follower:
    def __init__(self, graph: Graph, origins: Sequence[Node]) -> None:
        self._outputs = graph.outputs
        self._most = {node.name: (node.output.shape or (0,))[0] for node in origins}
        self._sizes: dict[Value, Rows | None] = {}
        """Tensors that contain the shape of a tensor with padding rows, and tensors computed from them (None)."""
        self.found = PaddingRows()

    def visit(self, node: Node) -> None:
        given = [self.found.rows.get(value) for value in node.inputs]
        counts = any(value in self._sizes for value in node.inputs)
        if not counts and not any(given):
            return
        try:
            if len({rows.origin for rows in given if rows is not None}) > 1:
                raise PaddingError(
                    "it combines the boxes of different NonMaxSuppression nodes, whose numbers of boxes may differ"
                )
            if node.op.name == "Shape" and given[0] is not None:
                self._sizes[node.output] = given[0]
            elif counts:
                self._sized(node, given)
            elif given[0] is not None and self._fills_up(node, given):
                self.found.fills[node] = given[0].origin
            else:
                self._set(node, rule_of(node)(node, given))
        except PaddingError as error:
            self.found.blockers.append(Blocker(node.name, node.op.name, str(error), _REMEDY))

    def _is_whole(self, value: Value, rows: Rows) -> bool:
        """Whether the tensor has all rows of the NonMaxSuppression (a slice may have removed some)."""
        return value.shape is not None and value.shape[rows.axis] == self._most[rows.origin]

    def _fills_up(self, node: Node, given: Given) -> bool:
        """Whether a Concat appends equal values to a vector, and its only reader slices at most that number of
        elements."""
        if node.op.name != "Concat" or len(node.inputs) != _PARTS or node.output in self._outputs:
            return False
        vector, more = node.inputs
        readers = node.output.users
        if given[0] is None or vector.rank != 1 or not self._is_whole(vector, given[0]) or len(readers) != 1:
            return False
        if more.data is None or not more.data.size or (more.data != more.data[0]).any():
            return False
        cut = readers[0]
        if not isinstance(cut.op, StridedSlice) or cut.op != StridedSlice() or len(cut.inputs) > _WITH_STRIDES:
            return False
        bounds = [value.data.ravel().tolist() if value.data is not None else None for value in cut.inputs[1:]]
        begin, end, stride = (*bounds, [1])[: _WITH_STRIDES - 1]
        return begin == [0] and stride == [1] and end is not None and len(end) == 1 and 0 <= end[0] <= more.data.size

    def _counts(self, node: Node) -> str | None:
        """Returns the name of the NonMaxSuppression if the node is a Gather of its number of rows for outputs of the
        model."""
        shape = node.inputs[0].producer
        rows = self._sizes.get(node.inputs[0])
        if node.op.name != "Gather" or shape is None or rows is None or not self._is_whole(shape.inputs[0], rows):
            return None
        index = node.inputs[1].data
        if shape.op.name != "Shape" or index is None or index.size != 1 or int(index.item()) != rows.axis:
            return None
        ends = [node.output, *(user.output for user in node.output.users if user.op.name == "Cast")]
        readers = [user for user in node.output.users if user.op.name != "Cast"] + [
            user for value in ends[1:] for user in value.users
        ]
        return None if readers or not any(value in self._outputs for value in ends) else rows.origin

    def _set(self, node: Node, rows: Rows) -> None:
        for value in node.outputs:
            self.found.rows[value] = rows

    def _sized(self, node: Node, given: Given) -> None:
        """Follows a node that reads the shape of a padded tensor. The shape may only be used for shapes of other
        tensors."""
        name = node.op.name
        if (origin := self._counts(node)) is not None:
            self.found.counts[node] = origin
        elif name == "Reshape" and given[0] is not None:
            self._set(node, reshaped(node, given))
        elif name in _SHAPED and (source := self._sizes.get(node.inputs[_SHAPED[name]])) is not None and not any(given):
            self._set(node, replace(source, filling=PaddingContents.LAST))
        elif name in _OF_SIZES and not any(given) and (name != "Reshape" or node.inputs[0] in self._sizes):
            self._sizes[node.output] = self._sizes[node.inputs[0]] if name == "Cast" else None
        elif name == "Maximum" and any(map(_is_at_most_one, node.inputs)):
            # a tensor is broadcast to a shape whose dimensions are at least 1
            self._sizes[node.output] = next(self._sizes[value] for value in node.inputs if value in self._sizes)
        else:
            raise PaddingError("it reads the number of rows, which includes padding rows")

    def check_outputs(self) -> None:
        for value in self._outputs:
            node = value.producer
            if value in self._sizes and node is not None:
                reason = "it returns the number of rows as an output of the model, which includes padding rows"
                self.found.blockers.append(Blocker(node.name, node.op.name, reason, _REMEDY))


def _is_at_most_one(value: Value) -> bool:
    return value.data is not None and all(int(item) <= 1 for item in value.data.ravel())


_OF_SIZES = frozenset(
    {
        "Cast",
        "Concat",
        "ExpandDims",
        "Gather",
        "Reshape",
        "SliceFusion",
        "Squeeze",
        "Stack",
        "StridedSlice",
        "Unsqueeze",
    }
)
"""Operators that compute shapes."""
_SHAPED = {"BroadcastTo": 1, "ConstantOfShape": 0, "Fill": 1, "FillV2": 0}
"""Operators that fill or broadcast a tensor to a shape -> index of the input with the shape."""
