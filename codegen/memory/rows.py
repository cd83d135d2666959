"""Chains of row-wise steps that are run some rows at a time.

Layer l of a chain computes tensor l + 1 from tensor l. Each turn computes the next row of the last tensor, and of every tensor
before it the rows that this needs and that are not there yet. Of the tensors in between a buffer holds those rows only that are
still needed; at the beginning of a turn they are moved to the front of their buffer, so that most turns are the same calls at
the same addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from mslite.codegen.memory.layout import Layout, root
from mslite.codegen.program import Band, Program, RowWise, Step, Storage, Tensor


@dataclass(frozen=True)
class RowTurn:
    """One turn. Of tensor l the buffer begins with row `start[l]`; rows from `new[l]` to before `end[l]` are computed in this
    turn. `bands[l]`: the call of layer l, None when it has nothing to do."""

    start: tuple[int, ...]
    new: tuple[int, ...]
    end: tuple[int, ...]
    bands: tuple[Step | None, ...]

    def begin(self, layer: int, rows: RowWise) -> int:
        """The first row of tensor `layer` that layer `layer` reads."""
        return max(0, self.new[layer + 1] * rows.stride - rows.pad)


@dataclass(eq=False)
class Chain:
    """`tensors`: the chain's input, what lies between its steps, its output; `row_size[l]`: bytes of a row of tensor l."""

    steps: list[Step]
    tensors: list[Tensor]
    row_size: list[int]
    turns: list[RowTurn] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.steps[0].name} to {self.steps[-1].name}"


class Cutter:
    """Asks `Program.cut` once for each band."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[Step, Band], Step | None] = {}

    def __call__(self, step: Step, band: Band) -> Step | None:
        if (step, band) not in self._known:
            assert self._program.cut is not None
            self._known[step, band] = self._program.cut(step, band)
        return self._known[step, band]


def row_runs(program: Program, layout: Layout) -> list[list[Step]]:
    """The longest chains of steps that may be run row by row, each at least one."""
    readers: dict[Tensor, list[Step]] = {}
    for step in program.steps:
        for operand in step.inputs:
            if operand is not None:
                readers.setdefault(root(operand), []).append(step)
    ends = {root(tensor) for tensor in program.outputs}
    following: dict[Step, Step] = {}
    for step in layout.steps:
        if not _fusable(step, layout):
            continue
        output = step.outputs[0]
        after = readers.get(output, [])
        if len(after) != 1 or output in ends or not _fusable(after[0], layout) or layout.bases.get(output) != (output,):
            continue
        rows = after[0].rows
        if rows is not None and after[0].inputs[rows.input] is output and len(layout.place[output][0].bases) == 1:
            following[step] = after[0]
    runs = []
    for step in layout.steps:
        if _fusable(step, layout) and step not in following.values():
            run = [step]
            while run[-1] in following:
                run.append(following[run[-1]])
            runs.append(run)
    return runs


def _fusable(step: Step, layout: Layout) -> bool:
    rows = step.rows
    if rows is None or len(step.outputs) != 1 or rows.extent < 1 or rows.stride < 1 or rows.pad < 0:
        return False
    for place, operand in enumerate(step.inputs):
        if operand is not None and place != rows.input and operand.storage is not Storage.CONSTANT:
            return False
    source = step.inputs[rows.input]
    return (
        source is not None
        and root(source) in layout.place
        and all(
            len(tensor.shape) == 4 and tensor.shape[0] == 1 and prod(tensor.shape) > 0
            for tensor in (source, step.outputs[0])
        )
    )


def make_chain(steps: list[Step], cut: Cutter) -> Chain | None:
    """The turns of a chain, or None when some kernel does not take a band that is needed."""
    kinds = [step.rows for step in steps if step.rows is not None]
    source = steps[0].inputs[kinds[0].input]
    assert source is not None
    tensors = [source, *(step.outputs[0] for step in steps)]
    chain = Chain(steps, tensors, [tensor.size // tensor.shape[1] for tensor in tensors])
    heights = [tensor.shape[1] for tensor in tensors]
    ready = [heights[0]] + [0] * len(steps)
    for row in range(heights[-1]):
        new, end = list(ready), list(ready)
        new[0] = end[0] = heights[0]
        end[-1] = row + 1
        for layer in reversed(range(1, len(steps))):
            if end[layer + 1] > new[layer + 1]:
                end[layer] = max(new[layer], min(heights[layer], _needed(kinds[layer], end[layer + 1])))
        first = [_first(kinds[layer], new[layer + 1], end[layer]) for layer in range(len(steps))]
        start = [first[0], *map(min, first[1:], new[1:-1]), 0]
        bands = []
        for layer, step in enumerate(steps):
            band = _band(kinds[layer], heights[layer], new[layer + 1], end[layer + 1])
            bands.append(None if band is None else cut(step, band))
            if band is not None and bands[-1] is None:
                return None
        chain.turns.append(RowTurn(tuple(start), tuple(new), tuple(end), tuple(bands)))
        ready = end
    return chain


def _needed(rows: RowWise, end: int) -> int:
    """Rows of the input that output rows before `end` need."""
    return (end - 1) * rows.stride - rows.pad + rows.extent


def _first(rows: RowWise, row: int, end: int) -> int:
    """The first row of the input that output rows from `row` on need, of those before `end`."""
    return min(end, max(0, row * rows.stride - rows.pad))


def _band(rows: RowWise, height: int, first: int, end: int) -> Band | None:
    if first >= end:
        return None
    low, high = first * rows.stride - rows.pad, _needed(rows, end)
    before, after = max(0, -low), max(0, high - height)
    return Band(before, max(0, min(high, height) - max(0, low)), after, end - first)
