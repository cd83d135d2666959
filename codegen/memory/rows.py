"""Chains of row-wise steps, such as residual blocks, that run a few rows at a time.

Layer l of a chain computes tensor l + 1 from earlier tensors; tensor 0 is the input of the chain. Each iteration
("turn") computes the next row of the last tensor, and the rows of the other tensors that this row needs and that were
not computed before. Buffers of the tensors between the layers contain only the rows that are still needed. At the
beginning of an iteration these rows are moved to the front of the buffer, so that most iterations are the same calls
with the same addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from mslite.codegen.memory.layout import Layout, root
from mslite.codegen.program import Band, Program, RowWise, Step, Storage, Tensor


@dataclass(frozen=True)
class RowIteration:
    """One iteration. The buffer of tensor l begins with row `start[l]`; the rows `new[l]` to `end[l]` - 1 are computed.
    `bands[l]`: the call of layer l, or None."""

    start: tuple[int, ...]
    new: tuple[int, ...]
    end: tuple[int, ...]
    bands: tuple[Step | None, ...]

    def begin(self, layer: int, rows: RowWise) -> int:
        """Returns the first row of its input that layer `layer` reads."""
        return max(0, self.new[layer + 1] * rows.stride - rows.pad)


@dataclass(eq=False)
class Chain:
    """A chain of row-wise steps. `tensors`: input of the chain, then the output of each step; `row_size[l]`: bytes of a
    row of tensor l; `sources[l]`: (input index, tensor number) of the inputs of layer l in the chain; `readers[l]`:
    last layer that reads tensor l."""

    steps: list[Step]
    tensors: list[Tensor]
    row_size: list[int]
    sources: list[list[tuple[int, int]]]
    readers: list[int]
    turns: list[RowIteration] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.steps[0].name if len(self.steps) == 1 else f"{self.steps[0].name} to {self.steps[-1].name}"


class BandCache:
    """Calls `Program.cut` and caches the results."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[Step, Band], Step | None] = {}

    def __call__(self, step: Step, band: Band) -> Step | None:
        if (step, band) not in self._known:
            assert self._program.cut is not None
            self._known[step, band] = self._program.cut(step, band)
        return self._known[step, band]


def row_runs(program: Program, layout: Layout, longest: int) -> list[list[Step]]:
    """Returns the lists of steps that can form a chain, of at most `longest` steps.

    These are sequences in which each step reads the output of the one before, and consecutive steps of the program,
    with branches that begin and end in the list.
    """
    readers: dict[Tensor, list[Step]] = {}
    for step in layout.steps:
        for base in layout.read(step):
            readers.setdefault(base, []).append(step)
    fusable = {step for step in layout.steps if _fusable(step, layout)}
    following: dict[Step, Step] = {}
    for step in layout.steps:
        after = readers.get(step.outputs[0], []) if step in fusable else []
        if len(after) == 1 and after[0] in fusable:
            following[step] = after[0]
    found: dict[tuple[Step, ...], None] = {}
    for place, step in enumerate(layout.steps):
        chain = [step]
        while chain[-1] in following and len(chain) < longest:
            chain.append(following[chain[-1]])
        for run in (chain, layout.steps[place : place + longest]):
            for end in range(1, len(run) + 1):
                if run[end - 1] not in fusable:
                    break
                if _is_closed(run[:end], readers, program, layout):
                    found[tuple(run[:end])] = None
    return [list(run) for run in found]


def _is_closed(steps: list[Step], readers: dict[Tensor, list[Step]], program: Program, layout: Layout) -> bool:
    """Returns whether steps have one input and one output, apart from constants, and no other step reads the tensors
    between them."""
    ends = {root(tensor) for tensor in program.outputs}
    computed = {step.outputs[0] for step in steps}
    given = {operand for step in steps for _, operand in row_inputs(step) if operand not in computed}
    if len(given) != 1:
        return False
    for step in steps[:-1]:
        output = step.outputs[0]
        if output in ends or not readers.get(output) or not all(reader in steps for reader in readers[output]):
            return False
        if layout.bases.get(output) != (output,) or len(layout.place[output][0].bases) != 1:
            return False
        if not all(any(operand is output for _, operand in row_inputs(one)) for one in readers[output]):
            return False  # read with another shape
    return True


def row_inputs(step: Step) -> list[tuple[int, Tensor]]:
    """Returns the inputs of a row-wise step that are read row by row, with their indices."""
    if step.rows is None:
        return []
    places = (step.rows.input, *step.rows.others)
    return [(place, operand) for place in places if (operand := step.inputs[place]) is not None]


def _fusable(step: Step, layout: Layout) -> bool:
    rows = step.rows
    if rows is None or len(step.outputs) != 1 or rows.extent < 1 or rows.stride < 1 or rows.pad < 0:
        return False
    by_rows = row_inputs(step)
    places = [place for place, _ in by_rows]
    for place, operand in enumerate(step.inputs):
        if operand is not None and place not in places and operand.storage is not Storage.CONSTANT:
            return False
    tensors = [*(operand for _, operand in by_rows), step.outputs[0]]
    if len({operand.shape for _, operand in by_rows}) != 1 or len(set(tensors)) != len(tensors):
        return False
    return all(
        len(tensor.shape) == 4 and tensor.shape[0] == 1 and prod(tensor.shape) > 0 and root(tensor) in layout.place
        for tensor in tensors
    )


def make_chain(steps: list[Step], cut: BandCache) -> Chain | None:
    """Makes a chain and its iterations. Returns None if a kernel does not support a band that is needed."""
    kinds = [step.rows for step in steps if step.rows is not None]
    computed = [step.outputs[0] for step in steps]
    source = next(operand for step in steps for _, operand in row_inputs(step) if operand not in computed)
    tensors = [source, *computed]
    sources = [[(place, tensors.index(operand)) for place, operand in row_inputs(step)] for step in steps]
    readers = [len(steps)] * len(tensors)
    for layer, read in enumerate(sources):
        for _, tensor in read:
            readers[tensor] = layer
    chain = Chain(steps, tensors, [tensor.size // tensor.shape[1] for tensor in tensors], sources, readers)
    heights = [tensor.shape[1] for tensor in tensors]
    ready = [heights[0]] + [0] * len(steps)
    for row in range(heights[-1]):
        new, end = list(ready), list(ready)
        end[-1] = row + 1
        for layer in reversed(range(len(steps))):
            if end[layer + 1] > new[layer + 1]:
                for _, tensor in sources[layer]:
                    end[tensor] = max(end[tensor], min(heights[tensor], _needed(kinds[layer], end[layer + 1])))
        start = [heights[0], *new[1:-1], 0]
        for layer, read in enumerate(sources):
            for _, tensor in read:
                start[tensor] = min(start[tensor], _first(kinds[layer], new[layer + 1], end[tensor]))
        bands = []
        for layer, step in enumerate(steps):
            band = _band(kinds[layer], heights[sources[layer][0][1]], new[layer + 1], end[layer + 1])
            bands.append(None if band is None else cut(step, band))
            if band is not None and bands[-1] is None:
                return None
        chain.turns.append(RowIteration(tuple(start), tuple(new), tuple(end), tuple(bands)))
        ready = end
    return chain


def _needed(rows: RowWise, end: int) -> int:
    """Returns the end of the input rows that output rows before `end` need."""
    return (end - 1) * rows.stride - rows.pad + rows.extent


def _first(rows: RowWise, row: int, end: int) -> int:
    """Returns the first input row that output rows from `row` on need, at most `end`."""
    return min(end, max(0, row * rows.stride - rows.pad))


def _band(rows: RowWise, height: int, first: int, end: int) -> Band | None:
    if first >= end:
        return None
    low, high = first * rows.stride - rows.pad, _needed(rows, end)
    before, after = max(0, -low), max(0, high - height)
    return Band(before, max(0, min(high, height) - max(0, low)), after, end - first)
