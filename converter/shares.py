"""How the work of a model is shared out among its nodes, as far as it is known: what reports of failed conversions say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import Module, Node, Shape
from mslite.converter.mindir.stand_in import is_stand_in
from mslite.converter.work import macs, multiplies

_LEAST_RANK = 2
"""Of a constant that is taken for a weight."""


@dataclass(frozen=True)
class Share:
    """A node's part of the multiply-accumulates of the model, which stand for its floating-point operations."""

    macs: int | None
    """None where neither the operator nor its weights and shapes tell."""
    fraction: float | None = None
    """0 to 1, of the nodes whose work is known."""
    estimated: bool = False
    """Told from the weights and shapes in the source model alone: the operator is not understood."""

    def __str__(self) -> str:
        if self.fraction is None:
            return "not known"
        digits = 1 if self.fraction >= 0.1 or self.fraction == 0 else 2
        return f"{'about ' if self.estimated else ''}{100 * self.fraction:.{digits}f} %"


NOT_KNOWN = Share(None)
"""Of a node that is not understood, or whose shapes are not known."""


def shares_of(module: Module) -> dict[int, Share]:
    """`id` of each node of all graphs -> its share."""
    works = {id(node): _work(node) for graph in module.graphs for node in graph.nodes}
    total = sum(work.macs or 0 for work in works.values())
    return {
        key: work if work.macs is None else Share(work.macs, work.macs / total if total else 0.0, work.estimated)
        for key, work in works.items()
    }


def shares_by_name(module: Module, names: Iterable[str]) -> dict[str, Share]:
    """The shares of the nodes of these names; names of no node have none that is known."""
    found = shares_of(module)
    known = {node.name: found[id(node)] for graph in module.graphs for node in graph.nodes}
    return {name: known.get(name, NOT_KNOWN) for name in names}


def _work(node: Node) -> Share:
    if is_stand_in(node):
        return _estimate(node)
    if multiplies(node) and any(value.shape is None for value in node.outputs):
        return NOT_KNOWN
    return Share(macs(node))


def _estimate(node: Node) -> Share:
    """Every weight meets every position of the first output once, as in convolutions, products and recurrent layers.

    An operator without weights of two dimensions or more, or without a known shape, is not estimated.
    """
    weights = [
        value.shape
        for value in node.inputs
        if value.is_constant and value.shape is not None and len(value.shape) >= _LEAST_RANK
    ]
    shape = node.outputs[0].shape if node.outputs else None
    if not weights or not shape or any(size < 0 for dims in (shape, *weights) for size in dims):
        return NOT_KNOWN
    return Share(sum(math.prod(dims) * _positions(shape, dims) for dims in weights), estimated=True)


def _positions(shape: Shape, weight: Sequence[int]) -> int:
    """Elements per channel: channels are the second or last dimension, whichever is one of the weight's."""
    channels = next((size for size in (*shape[1:2], shape[-1]) if size in (weight[0], weight[-1])), shape[-1])
    return math.prod(shape) // max(channels, 1)
