"""Fits a training graph into a memory budget by checkpointing, at the least cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mac_count import macs
from mslite.converter.memory_limit import shown
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training.differentiation import TrainingGraph
from mslite.converter.training.recompute.apply_schedule import replay
from mslite.converter.training.recompute.schedule import Chain, Stage
from mslite.converter.training.recompute.stages import Block, blocks_of, work_of

_SLOTS = 400
"""Memory is counted in units of the memory of all values divided by this."""
_LONGEST = (None, 12, 4)
"""Ways to divide the forward pass into stages: values that are read more than so many nodes after their producer are
always kept."""
_LOWEST = 3
"""Number of the tightest schedules that are tried, because the size of an arena is known only after planning it."""
_SHOWN_IN_MIB = 16 << 20
"""Larger sizes are shown in MiB."""


@dataclass(frozen=True)
class Fit:
    """A training graph within a memory budget."""

    training: TrainingGraph
    bytes: int
    before: int
    """Bytes without checkpointing."""
    share: float
    """Share of a step's multiply-adds that are recomputed."""

    def said(self, budget: int) -> str:
        if self.bytes == self.before:
            return f"training takes {shown(self.bytes)} of {shown(budget)}, without checkpointing"
        return (
            f"training takes {shown(self.bytes)} of {shown(budget)}, instead of {shown(self.before)}: "
            f"{self.share:.1%} of a step's multiply-adds are recomputed"
        )


def fitted(training: TrainingGraph, budget: int, source: str, measure: Callable[[TrainingGraph], int]) -> Fit:
    """Returns the cheapest training graph found with `measure`d bytes within `budget`; does not change `training`.

    Raises ConversionError with the smallest possible budget."""
    before = measure(training)
    if before <= budget:
        return Fit(training, before, before, 0.0)
    search = _Search(training, budget, measure)
    for longest in _LONGEST:
        search.cut(longest)
    if search.best is None:
        raise ConversionError(
            f"{source}: training does not fit into {shown(budget)}. The minimum is "
            f"--trainMemory={_flag(search.least)}; a smaller batch_size in "
            "[train_param], frozen layers, or an optimizer with less state need less",
            code=ReturnCode.NOT_SUPPORTED,
        )
    steps = sum(macs(node) for node in training.module.main.nodes)
    again = sum(macs(node) for node in search.best.added)
    return Fit(search.best.training, search.best.bytes, before, again / max(steps, 1))


def _flag(size: int) -> str:
    """Returns a budget, rounded up, as a value of --trainMemory."""
    bits, unit = (20, "M") if size >= _SHOWN_IN_MIB else (10, "K")
    return f"{math.ceil(size / (1 << bits))}{unit}"


@dataclass(frozen=True)
class _Candidate:
    training: TrainingGraph
    added: tuple[Node, ...]
    bytes: int

    @property
    def work(self) -> float:
        return sum(work_of(node) for node in self.added)


class _Search:
    def __init__(self, training: TrainingGraph, budget: int, measure: Callable[[TrainingGraph], int]) -> None:
        self.training, self.budget, self.measure = training, budget, measure
        self.least = 1 << 62
        self.best: _Candidate | None = None
        self.seen: set[tuple[int, ...]] = set()

    def cut(self, longest: int | None) -> None:
        """Searches for the cheapest schedule that fits, for one division of the forward pass into stages."""
        blocks = _blocks(self.training, longest)[0]
        if tuple(len(block.nodes) for block in blocks) in self.seen:
            return
        self.seen.add(tuple(len(block.nodes) for block in blocks))
        chain = _chain(blocks)
        levels = self._cheaper(chain, sum(block.stage.cost for block in blocks))
        low, high = 0, len(levels)  # the arena usually grows with the level
        while low < high:
            middle = (low + high) // 2
            if self._try(longest, chain, levels[middle]):
                low = middle + 1
            else:
                high = middle
        if self.best is None:
            for level in levels[1:_LOWEST]:
                self._try(longest, chain, level)

    def _cheaper(self, chain: Chain, once: float) -> list[int]:
        """Returns the memory sizes with schedules that cost less than the best so far. `once`: the cost without
        recomputation."""
        most = math.inf if self.best is None else self.best.work
        return [level for level in chain.levels() if chain.cost(level) - once < most]

    def _try(self, longest: int | None, chain: Chain, level: int) -> bool:
        candidate = self._made(longest, chain, level)
        self.least = min(self.least, candidate.bytes)
        fits = candidate.bytes <= self.budget
        if fits and (self.best is None or candidate.work < self.best.work):
            self.best = candidate
        return fits

    def _made(self, longest: int | None, chain: Chain, level: int) -> _Candidate:
        copy = copied(self.training)
        blocks, pinned = _blocks(copy, longest)
        added = replay(copy.module.main, copy.passes, blocks, pinned, chain.schedule(level))
        return _Candidate(copy, tuple(added), self.measure(copy))


def copied(training: TrainingGraph) -> TrainingGraph:
    """Returns a deep copy of the graph."""
    module: Module = copy_module(training.module)
    passes = training.passes.renewed(training.module.main.nodes, module.main.nodes)
    return replace(training, module=module, passes=passes)


def _blocks(training: TrainingGraph, longest: int | None) -> tuple[list[Block], set[Value]]:
    """Returns the stages of the nodes that the loss needs, and the values that are always kept. Nodes of inference
    only are not part
    of a step."""
    graph = training.module.main
    needed = set(graph.outputs[: training.losses])
    for node in reversed(graph.nodes):
        if any(value in needed for value in node.outputs) or node in training.passes.gradients:
            needed.update(node.inputs)
    forward = [node for node in training.passes.forward if any(value in needed for value in node.outputs)]
    return blocks_of(forward, training.passes.gradients, graph.outputs, longest)


def _chain(blocks: list[Block]) -> Chain:
    stages = [block.stage for block in blocks]
    most = sum(stage.saved for stage in stages) + 2 * max(stage.output for stage in stages)
    most += max(max(stage.saving, stage.backward) for stage in stages)
    unit = max(most / _SLOTS, 1.0)

    def counted(stage: Stage) -> Stage:
        numbers = (stage.output, stage.saved, stage.discarding, stage.saving, stage.backward)
        return Stage(stage.cost, *(round(number / unit) for number in numbers))

    return Chain([counted(stage) for stage in stages], _SLOTS + len(stages))
