"""Behaviors of operators that change the rank or the order of dimensions; they can absorb a change of layout."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Node, Shape, Value, constant
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ExpandDims, Flatten, Reshape, Squeeze, Unsqueeze
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.layout.axis_behaviors import axis_in, integers, side_constant
from mslite.converter.passes.layout.layouts import SOURCE_LAYOUT_ONLY, Behavior, Connection, LayoutDependence, Layouts
from mslite.converter.passes.layout.permutation import (
    Perm,
    complete_layout,
    inverse,
    is_identity,
    permuted,
    propagate_through_reshape,
)


class Reducing(Behavior):
    """Operators that remove or reduce dimensions: ReduceFusion, ArgMax without keep_dims, Gather of one index."""

    def _removed(self, node: Node, rank: int) -> list[int] | None:
        """Returns the reduced axes; None if they are unknown."""
        if "axis" in {attribute.name for attribute in node.op.declaration.attributes}:
            return [int(getattr(node.op, "axis")) % rank]  # noqa: B009
        if len(node.inputs) < 2:
            return list(range(rank))
        axes = integers(node.inputs[1])
        if axes is None:
            return None
        return [axis % rank for axis in axes] if axes else list(range(rank))

    def _result(self, node: Node, layouts: Layouts) -> Perm | None:
        """Returns the layout of the output if the input has its alternative layout."""
        perm = layouts.of(node.inputs[0])
        if perm is None:
            return None
        removed = self._removed(node, len(perm))
        if removed is None or getattr(node.op, "reduce_to_end", False):
            return None
        if node.outputs[0].rank == len(perm):
            return perm
        kept = [axis for axis in range(len(perm)) if axis not in removed]
        return tuple(kept.index(axis) for axis in perm if axis in kept)

    def propose(self, node: Node, layouts: Layouts) -> None:
        perm = layouts.of(node.outputs[0])
        if perm is not None and node.inputs[0].rank == len(perm):
            layouts.suggest(node.inputs[0], perm)
        result = self._result(node, layouts)
        for value in node.outputs:
            layouts.suggest(value, result)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        result = self._result(node, layouts)
        if result is None:
            return SOURCE_LAYOUT_ONLY
        if is_identity(result):
            return Connection(False, {0: LayoutDependence.FREE})
        if any(layouts.of(value) != result for value in node.outputs):
            return SOURCE_LAYOUT_ONLY
        return Connection(
            None, {0: LayoutDependence.NODE}, dict.fromkeys(range(len(node.outputs)), LayoutDependence.NODE)
        )

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        perm = inputs[0]
        if perm is None:
            return [node]
        if "axis" in {attribute.name for attribute in node.op.declaration.attributes}:
            node.op = changed(node.op, axis=axis_in(perm, int(getattr(node.op, "axis"))))  # noqa: B009
        elif len(node.inputs) > 1:
            axes = sorted(axis_in(perm, axis) for axis in integers(node.inputs[1]) or ())
            side_constant(node, 1, np.array(axes, np.int32))
        return [node]


class Reshaping(Behavior):
    """Operators that keep the order of elements: Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        before, after = node.inputs[0], node.outputs[0]
        for source, target in ((before, after), (after, before)):
            shape, goal, perm = layouts.shape(source), layouts.shape(target), layouts.of(source)
            if shape is None or goal is None or perm is None:
                continue
            order = propagate_through_reshape(shape, perm, goal)
            if order is not None:
                layouts.suggest(target, complete_layout(order, goal))

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        before, after = node.inputs[0], node.outputs[0]
        shape, goal = layouts.shape(before), layouts.shape(after)
        if shape is None or goal is None or not is_writable(goal):
            return SOURCE_LAYOUT_ONLY
        perm, result = layouts.of(before), layouts.of(after)
        if perm is None:
            return SOURCE_LAYOUT_ONLY
        order = propagate_through_reshape(shape, perm, goal)
        if order is None:
            return SOURCE_LAYOUT_ONLY
        if order == sorted(order):
            return Connection(False, {0: LayoutDependence.FREE})
        if result is not None and [axis for axis in result if goal[axis] != 1] == order:
            return Connection(None, {0: LayoutDependence.NODE}, {0: LayoutDependence.NODE})
        return SOURCE_LAYOUT_ONLY

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if inputs[0] is None and outputs[0] is None:
            return [node]
        goal = layouts.source_shapes[node.outputs[0]]
        stored = goal if outputs[0] is None else permuted(goal, outputs[0])
        node.op = Reshape()
        node.set_inputs([node.inputs[0], shape_constant(f"{node.name}_shape", stored)])
        return [node]


def is_writable(shape: Shape) -> bool:
    """Returns whether a Reshape with a constant shape can express this shape: at most one dynamic dimension, and no
    0."""
    return sum(size < 0 for size in shape) <= 1 and 0 not in shape


def shape_constant(name: str, shape: Shape) -> Value:
    """Returns the shape input of a Reshape to `shape`."""
    return constant(name, np.array([size if size >= 0 else -1 for size in shape], np.int32))


class Transposing(Behavior):
    """A Transpose of the source. It supports all layouts, and becomes a no-op between certain ones."""

    def _perm(self, node: Node) -> Perm | None:
        perm = integers(node.inputs[1]) if len(node.inputs) > 1 else None
        return None if perm is None else tuple(perm)

    def _composed(self, node: Node, before: Perm | None, after: Perm | None) -> Perm:
        """Returns the permutation for tensors in these layouts."""
        perm = self._perm(node)
        assert perm is not None
        wanted = perm if after is None else permuted(perm, after)
        return wanted if before is None else permuted(inverse(before), wanted)

    def propose(self, node: Node, layouts: Layouts) -> None:
        perm, before = self._perm(node), layouts.of(node.inputs[0])
        if perm is not None and before is not None and not is_identity(self._composed(node, before, None)):
            layouts.suggest(node.outputs[0], before)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        if self._perm(node) is None:
            return SOURCE_LAYOUT_ONLY
        before, after = layouts.of(node.inputs[0]), layouts.of(node.outputs[0])
        connection = Connection(None)
        cost = max(layouts.cost(node.inputs[0]), layouts.cost(node.outputs[0]))
        vanishes_before = before is not None and is_identity(self._composed(node, before, None))
        if before is not None:
            connection.inputs[0] = LayoutDependence.FREE
            if vanishes_before:
                connection.flipped_cost[0] = (cost, 0)
        if after is not None and not vanishes_before:
            connection.outputs[0] = LayoutDependence.NODE
            if is_identity(self._composed(node, None, after)):
                connection.output_cost[0] = (cost, 0)
        else:
            connection.pinned = False
        return connection

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if inputs[0] is not None or outputs[0] is not None:
            composed = self._composed(node, inputs[0], outputs[0])
            node.set_inputs([node.inputs[0], constant(f"{node.name}_perm", np.array(composed, np.int32))])
        return [node]


class ShapeOf(Behavior):
    """Shape supports any layout; a Gather restores the source's order of dimensions."""

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        if layouts.of(node.inputs[0]) is None:
            return SOURCE_LAYOUT_ONLY
        return Connection(False, {0: LayoutDependence.FREE})

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if inputs[0] is None:
            return [node]
        result = node.output
        stored = Value(f"{result.name}_nhwc", result.dtype, result.shape, quant=result.quant)
        node.outputs = (stored,)
        stored.producer = node
        order = constant(f"{node.name}_order", np.array(inverse(inputs[0]), np.int32))
        axis = constant(f"{node.name}_axis", np.array(0, np.int32))
        return [node, Node(Gather(), f"{node.name}_order", (stored, order, axis), (result,), source=node.source)]


class SizeOf(Behavior):
    """Rank and Size do not depend on the layout."""

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        return (
            SOURCE_LAYOUT_ONLY if layouts.of(node.inputs[0]) is None else Connection(False, {0: LayoutDependence.FREE})
        )


class Gathering(Behavior):
    """Gather along a constant axis. A vector of indices keeps the layout; a scalar index removes the axis."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        if node.inputs[1].rank == 1:
            perm = layouts.of(node.inputs[0]) or layouts.of(node.outputs[0])
            layouts.suggest(node.inputs[0], perm)
            layouts.suggest(node.outputs[0], perm)
        elif node.inputs[1].rank == 0:
            layouts.suggest(node.outputs[0], self._without_axis(node, layouts))

    def _without_axis(self, node: Node, layouts: Layouts) -> Perm | None:
        """Returns the layout of the output for a scalar index."""
        perm, axis = layouts.of(node.inputs[0]), integers(node.inputs[2])
        if perm is None or axis is None:
            return None
        gone = axis[0] % len(perm)
        return tuple(a - (a > gone) for a in perm if a != gone)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        before, after = layouts.of(node.inputs[0]), layouts.of(node.outputs[0])
        if before is None or node.inputs[2].data is None:
            return SOURCE_LAYOUT_ONLY
        if node.inputs[1].rank == 0:
            result = self._without_axis(node, layouts)
            if result is not None and is_identity(result):
                return Connection(False, {0: LayoutDependence.FREE})
            if result != after:
                return SOURCE_LAYOUT_ONLY
        elif node.inputs[1].rank != 1 or before != after:
            return SOURCE_LAYOUT_ONLY
        return Connection(None, {0: LayoutDependence.NODE}, {0: LayoutDependence.NODE})

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if inputs[0] is not None:
            data = node.inputs[2].array()
            axis = axis_in(inputs[0], int(data.reshape(-1)[0]))
            side_constant(node, 2, np.full(data.shape, axis, data.dtype))
        return [node]


RESHAPES = (Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims)
INDEX_TYPES = (DataType.INT32, DataType.INT64)
