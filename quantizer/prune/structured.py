"""STRUCTURED: removes whole channels with their weights, so the model becomes smaller and faster."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Graph, Node
from mslite.quantizer.prune.channel_groups import ChannelGroup, groups_of, importance, keep_channels
from mslite.quantizer.prune.plan import Plan, Reals, limits_of
from mslite.quantizer.prune.sizes import stored_bytes
from mslite.quantizer.results import PruneRecord
from mslite.quantizer.settings import PruneParam, QuantizerSettings


def channels(graph: Graph, settings: QuantizerSettings) -> Iterator[Plan]:
    """Yields a plan for each group of channels: which of them are removed."""
    param = settings.prune
    skipped = frozenset(param.skip_node)
    groups = [
        group
        for group in groups_of(graph)
        if not skipped & {node.name for node in (*group.producers, *group.depthwise)}
    ]
    scores = [importance(group) for group in groups]
    limits = limits_of(scores, param)
    for group, score, limit in zip(groups, scores, limits, strict=True):
        keep = _kept(score, limit, param)
        nodes = _changing(group)
        weights = [node.inputs[1].array().size for node in nodes]
        shares = [_share(group, node, len(keep)) for node in nodes]
        lost = sum(weights) - round(sum(map(operator.mul, weights, shares)))
        size = round(sum(stored_bytes(node, settings) * share for node, share in zip(nodes, shares, strict=True)))
        work = round(sum(macs(node) * share for node, share in zip(nodes, shares, strict=True)))
        record = PruneRecord(
            group.name, group.producers[0].op.name, sum(weights), lost, group.channels, group.channels - len(keep),
            sum(stored_bytes(node, settings) for node in nodes), size,
            sum(macs(node) for node in nodes), work, math.nan, math.nan,
        )  # fmt: skip
        yield Plan(record, _Removal(group.name, tuple(keep.tolist())))


def _kept(score: Reals, limit: float, param: PruneParam) -> npt.NDArray[np.int64]:
    """Returns the channels to keep, at least one. With scope=LAYER their number follows from `sparsity`."""
    if param.scope == "LAYER":
        count = max(score.size - int(score.size * param.sparsity), 1)
    else:
        count = max(int((score > limit).sum()), 1)
    return np.sort(np.argsort(-score, kind="stable")[:count]).astype(np.int64)


def _changing(group: ChannelGroup) -> list[Node]:
    """Returns the convolutions and matmuls that become smaller, without duplicates."""
    nodes = [*group.producers, *group.depthwise, *(reader.node for reader in group.readers)]
    return list({id(node): node for node in nodes}.values())


def _share(group: ChannelGroup, node: Node, kept: int) -> float:
    """Returns the share of a node's weight that is kept."""
    makes = any(node is item for item in (*group.producers, *group.depthwise))
    reads = any(node is reader.node for reader in group.readers)
    return float((kept / group.channels) ** (makes + reads))


@dataclass(frozen=True)
class _Removal:
    """Removes all channels other than `keep` from the group with this name."""

    name: str
    keep: tuple[int, ...]

    def __call__(self, graph: Graph) -> None:
        group = next(item for item in groups_of(graph) if item.name == self.name)
        if len(self.keep) < group.channels:
            keep_channels(group, np.array(self.keep, np.int64))
