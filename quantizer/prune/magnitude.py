"""MAGNITUDE: sets the smallest weights to zero. Quantized, they are smaller in the file (SPARSE encoding)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Array, Graph, Node, constant
from mslite.quantizer.prune.plan import Plan, Reals, limits_of
from mslite.quantizer.prune.sizes import stored_bytes
from mslite.quantizer.results import PruneRecord
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.transforms.blocks import layout_of


def _weights(graph: Graph, skipped: frozenset[str]) -> Iterator[Node]:
    """Yields the convolutions and matmuls with a weight that no other node reads."""
    for node in graph.nodes:
        if layout_of(node) is None or node.quant_type != 0 or node.name in skipped:
            continue
        if len(node.inputs[1].users) == 1:
            yield node


def magnitudes(graph: Graph, settings: QuantizerSettings) -> Iterator[Plan]:
    """Yields a plan for each convolution and matmul: which of its weights become zero."""
    nodes = list(_weights(graph, frozenset(settings.prune.skip_node)))
    limits = limits_of([_relative(node.inputs[1].array()) for node in nodes], settings.prune)
    for node, limit in zip(nodes, limits, strict=True):
        weight = node.inputs[1].array()
        removed = int((_relative(weight) <= limit).sum()) if limit >= 0 else 0
        yield Plan(_record(node, weight.size, removed, 0, 0, settings), _Zeros(node.name, limit))


def _relative(weight: Array) -> Reals:
    """Returns |w| divided by the root mean square of the layer's weights."""
    real = np.abs(weight.astype(np.float64))
    mean = float(np.sqrt((real**2).mean())) if real.size else 0.0
    return real / mean if mean > 0 else real


@dataclass(frozen=True)
class _Zeros:
    """Sets the small weights of one node to zero."""

    name: str
    limit: float

    def __call__(self, graph: Graph) -> None:
        node = next(item for item in graph.nodes if item.name == self.name)
        value = node.inputs[1]
        weight = value.array()
        kept = np.where(_relative(weight) <= self.limit, 0, weight).astype(np.float32)
        node.replace_input(value, constant(value.name, kept, value.format))


def _record(
    node: Node, elements: int, removed: int, channels: int, lost: int, settings: QuantizerSettings
) -> PruneRecord:
    size = stored_bytes(node, settings)
    return PruneRecord(
        node.name,
        node.op.name,
        elements,
        removed,
        channels,
        lost,
        size,
        size,
        macs(node),
        macs(node),
        math.nan,
        math.nan,
    )
