"""Pruning: weights or whole channels that matter least are removed from the float model, and what that costs is measured.

MAGNITUDE sets the smallest weights to zero; stored as integers they take less room (the SPARSE form of `.ms` files).
STRUCTURED removes channels, with everything that makes and reads them: the model becomes smaller and faster.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Graph, Module, Node, constant
from mslite.converter.work import macs
from mslite.quantizer.blocks import layout_of
from mslite.quantizer.channel_groups import ChannelGroup, groups_of, importance, keep_channels
from mslite.quantizer.copy import copy_module
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.prune_records import stored_bytes, used_macs
from mslite.quantizer.results import PruneRecord, PruneReport
from mslite.quantizer.runner import Runner
from mslite.quantizer.samples import Sample
from mslite.quantizer.settings import PruneParam, QuantizerSettings

Reals = npt.NDArray[np.float64]


Change = Callable[[Graph], None]
"""Prunes one layer of a graph that is like the one it was planned on."""


@dataclass(frozen=True)
class Plan:
    """What would be done to one layer."""

    record: PruneRecord
    change: Change


def prune(
    module: Module, settings: QuantizerSettings, samples: Sequence[Sample], progress: Progress = silent
) -> PruneReport:
    """Prunes the main graph of the fused float module in place; `samples`: what damage is measured on."""
    param = settings.prune
    plans = list(
        _magnitudes(module.main, settings) if param.method == "MAGNITUDE" else _channels(module.main, settings)
    )
    original = copy_module(module)
    wanted = outputs(original, samples)
    layers = []
    for done, plan in enumerate(plans):
        alone = (math.nan, math.nan)
        if param.report is not None:
            copy = copy_module(original)
            plan.change(copy.main)
            got = outputs(copy, samples)
            alone = (cosine(wanted, got), sqnr(wanted, got))
            progress(done + 1, len(plans), "pruning")
        layers.append((plan, alone))
    for plan in plans:
        plan.change(module.main)
    got = outputs(module, samples)
    products = {node.name: node for node in module.main.nodes if layout_of(node) is not None}
    records = [
        replace(_measured(plan.record, products, settings), cosine=alone[0], sqnr=alone[1]) for plan, alone in layers
    ]
    total = replace(_total(original.main, module.main, settings), cosine=cosine(wanted, got), sqnr=sqnr(wanted, got))
    return PruneReport(param.method, tuple(records), total, len(samples))


def outputs(module: Module, samples: Sequence[Sample]) -> list[list[Array]]:
    """The outputs of the main graph for each sample. Raises ConversionError when it does not run."""
    try:
        runner = Runner(module, module.main.outputs)
        return [[array.copy() for _, array in runner.run(sample)] for sample in samples]
    except RuntimeError as error:
        raise ConversionError(
            f"the model does not run on the samples that pruning is measured on: {error}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        ) from None


# ---- single weights ----


def _weights(graph: Graph, skipped: frozenset[str]) -> Iterator[Node]:
    """The products whose weight is theirs alone."""
    for node in graph.nodes:
        if layout_of(node) is None or node.quant_type != 0 or node.name in skipped:
            continue
        if len(node.inputs[1].users) == 1:
            yield node


def _magnitudes(graph: Graph, settings: QuantizerSettings) -> Iterator[Plan]:
    nodes = list(_weights(graph, frozenset(settings.prune.skip_node)))
    limits = _limits([_relative(node.inputs[1].array()) for node in nodes], settings.prune)
    for node, limit in zip(nodes, limits, strict=True):
        weight = node.inputs[1].array()
        removed = int((_relative(weight) <= limit).sum()) if limit >= 0 else 0
        yield Plan(_record(node, weight.size, removed, 0, 0, settings), _Zeros(node.name, limit))


def _relative(weight: Array) -> Reals:
    """|w| over the root mean square of the layer."""
    real = np.abs(weight.astype(np.float64))
    mean = float(np.sqrt((real**2).mean())) if real.size else 0.0
    return real / mean if mean > 0 else real


def _limits(scores: Sequence[Reals], param: PruneParam) -> list[float]:
    """For each layer: what is removed has at most this score; -1 for nothing."""
    joined = [np.concatenate([score.reshape(-1) for score in scores])] if scores and param.scope == "MODEL" else scores
    limits = []
    for score in joined:
        count = int(score.size * param.sparsity)
        limits.append(float(np.partition(score.reshape(-1), count - 1)[count - 1]) if count else -1.0)
    return limits * len(scores) if param.scope == "MODEL" else limits


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


# ---- channels ----


def _channels(graph: Graph, settings: QuantizerSettings) -> Iterator[Plan]:
    param = settings.prune
    skipped = frozenset(param.skip_node)
    groups = [
        group
        for group in groups_of(graph)
        if not skipped & {node.name for node in (*group.producers, *group.depthwise)}
    ]
    scores = [importance(group) for group in groups]
    limits = _limits(scores, param)
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
    """The channels that stay, at least one; within a layer exactly as many as asked for."""
    if param.scope == "LAYER":
        count = max(score.size - int(score.size * param.sparsity), 1)
    else:
        count = max(int((score > limit).sum()), 1)
    return np.sort(np.argsort(-score, kind="stable")[:count]).astype(np.int64)


def _changing(group: ChannelGroup) -> list[Node]:
    """Products that become smaller, each once."""
    nodes = [*group.producers, *group.depthwise, *(reader.node for reader in group.readers)]
    return list({id(node): node for node in nodes}.values())


def _share(group: ChannelGroup, node: Node, kept: int) -> float:
    """Which share of a product is left."""
    makes = any(node is item for item in (*group.producers, *group.depthwise))
    reads = any(node is reader.node for reader in group.readers)
    return float((kept / group.channels) ** (makes + reads))


@dataclass(frozen=True)
class _Removal:
    """Removes all but some channels of the group that begins at a node."""

    name: str
    keep: tuple[int, ...]

    def __call__(self, graph: Graph) -> None:
        group = next(item for item in groups_of(graph) if item.name == self.name)
        if len(self.keep) < group.channels:
            keep_channels(group, np.array(self.keep, np.int64))


# ---- what is left ----


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


def _measured(record: PruneRecord, products: Mapping[str, Node], settings: QuantizerSettings) -> PruneRecord:
    """The record of a layer with zeros after they were set; that of channels is complete."""
    if record.channels:
        return record
    node = products[record.name]
    return replace(record, bytes_after=stored_bytes(node, settings), macs_after=used_macs(node))


def _total(before: Graph, after: Graph, settings: QuantizerSettings) -> PruneRecord:
    """All products of a model together."""
    old, new = ([node for node in graph.nodes if layout_of(node) is not None] for graph in (before, after))
    elements, left = (sum(node.inputs[1].array().size for node in nodes) for nodes in (old, new))
    zeros = sum(int((node.inputs[1].array() == 0).sum()) for node in new)
    size, size_left = (sum(stored_bytes(node, settings) for node in nodes) for nodes in (old, new))
    work, work_left = sum(macs(node) for node in old), sum(used_macs(node) for node in new)
    return PruneRecord(
        "(model)", "", elements, elements - left + zeros, 0, 0, size, size_left, work, work_left, math.nan, math.nan
    )
