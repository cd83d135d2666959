"""Computes each node's share of a model's multiply-accumulates, for reports of failed conversions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mslite.converter.mac_count import has_macs, macs
from mslite.converter.mindir.graph import Module, Node, Shape
from mslite.converter.mindir.stand_in import is_stand_in

_MIN_RANK = 2
"""Least rank of a constant that counts as a weight."""


@dataclass(frozen=True)
class Share:
    """A node's share of the model's multiply-accumulates, which are used as a measure of its floating-point
    operations."""

    macs: int | None
    """Multiply-accumulates; None if they are unknown."""
    fraction: float | None = None
    """0 to 1, of all nodes with known multiply-accumulates."""
    estimated: bool = False
    """Whether `macs` is estimated from weights and shapes of the source model, because the operator is unsupported."""

    def __str__(self) -> str:
        if self.fraction is None:
            return "not known"
        digits = 1 if self.fraction >= 0.1 or self.fraction == 0 else 2
        return f"{'about ' if self.estimated else ''}{100 * self.fraction:.{digits}f} %"


UNKNOWN_SHARE = Share(None)
"""The share of an unsupported node without an estimate, or of a node with unknown shapes."""


def mac_shares_of(module: Module) -> dict[int, Share]:
    """Returns `id(node)` -> share, for the nodes of all graphs."""
    works = {id(node): _work(node) for graph in module.graphs for node in graph.nodes}
    total = sum(work.macs or 0 for work in works.values())
    return {
        key: work if work.macs is None else Share(work.macs, work.macs / total if total else 0.0, work.estimated)
        for key, work in works.items()
    }


def mac_shares_by_name(module: Module, names: Iterable[str]) -> dict[str, Share]:
    """Returns the shares of the nodes of these names; UNKNOWN_SHARE for unknown names."""
    found = mac_shares_of(module)
    known = {node.name: found[id(node)] for graph in module.graphs for node in graph.nodes}
    return {name: known.get(name, UNKNOWN_SHARE) for name in names}


def _work(node: Node) -> Share:
    if is_stand_in(node):
        return _estimate(node)
    if has_macs(node) and any(value.shape is None for value in node.outputs):
        return UNKNOWN_SHARE
    return Share(macs(node))


def _estimate(node: Node) -> Share:
    """Estimates the multiply-accumulates: each weight is used once for each position of the first output, as in
    convolutions.

    Returns UNKNOWN_SHARE for an operator without weights of two or more dimensions, or with unknown shapes.
    """
    weights = [
        value.shape
        for value in node.inputs
        if value.is_constant and value.shape is not None and len(value.shape) >= _MIN_RANK
    ]
    shape = node.outputs[0].shape if node.outputs else None
    if not weights or not shape or any(size < 0 for dims in (shape, *weights) for size in dims):
        return UNKNOWN_SHARE
    return Share(sum(math.prod(dims) * _positions(shape, dims) for dims in weights), estimated=True)


def _positions(shape: Shape, weight: Sequence[int]) -> int:
    """Returns the elements per channel; channels are the second or the last dimension, if it is a dimension of the
    weight."""
    channels = next((size for size in (*shape[1:2], shape[-1]) if size in (weight[0], weight[-1])), shape[-1])
    return math.prod(shape) // max(channels, 1)
