"""Behavior of Squeeze and Unsqueeze with several dynamic dimensions, which a Reshape cannot express."""

from __future__ import annotations

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.rearrange import Unsqueeze
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.layout.layouts import SOURCE_LAYOUT_ONLY, Connection, LayoutDependence, Layouts
from mslite.converter.passes.layout.permutation import Perm
from mslite.converter.passes.layout.reshape_behaviors import Reshaping, is_writable


class Squeezing(Reshaping):
    """Input and output have their alternative layouts if these differ by the squeezed dimensions only."""

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        goal = layouts.shape(node.outputs[0])
        if goal is None or is_writable(goal):
            return super().connect(node, layouts)
        long, short = _sides(node, layouts.of(node.inputs[0]), layouts.of(node.outputs[0]))
        if long is None or short is None or not (axes := _axes(node, len(long))) or _without(long, axes) != short:
            return SOURCE_LAYOUT_ONLY
        return Connection(None, {0: LayoutDependence.NODE}, {0: LayoutDependence.NODE})

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if inputs[0] is None and outputs[0] is None:
            return [node]
        if is_writable(layouts.source_shapes[node.outputs[0]]):
            return super().rewrite(node, inputs, outputs, layouts)
        long, _ = _sides(node, inputs[0], outputs[0])
        if long is not None:
            node.op = changed(node.op, axis=tuple(sorted(long.index(axis) for axis in _axes(node, len(long)))))
        return [node]


def _sides(node: Node, before: Perm | None, after: Perm | None) -> tuple[Perm | None, Perm | None]:
    """Returns the layout with the squeezed dimensions, and the layout without them."""
    return (after, before) if isinstance(node.op, Unsqueeze) else (before, after)


def _axes(node: Node, rank: int) -> tuple[int, ...]:
    """Returns the squeezed dimensions as non-negative axes; empty if the operator does not have the attribute."""
    return tuple(int(axis) % rank for axis in getattr(node.op, "axis"))  # noqa: B009


def _without(perm: Perm, axes: tuple[int, ...]) -> Perm:
    """Returns `perm` without these axes, with the others renumbered."""
    kept = [axis for axis in range(len(perm)) if axis not in axes]
    return tuple(kept.index(axis) for axis in perm if axis in kept)
