"""Lifetimes of tensors, which depend on the order of the steps, and the memory that they need. See layout.py for bases.

Sets of steps are bit masks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.codegen.memory.layout import Block, Layout, root
from mslite.codegen.memory.options import Inputs, MemoryOptions
from mslite.codegen.program import Program, Step, Storage, Tensor


@dataclass(frozen=True)
class Sharing:
    """Output 0 of a step, `made`, may share memory with its input `taken`, if no later step reads it.

    The output is at the same address (`in_place`), or begins at least `lead` bytes before the input (-1: not
    possible)."""

    made: Tensor
    taken: Tensor
    in_place: bool
    lead: int

    def gain(self) -> int:
        """Largest number of bytes that it saves."""
        return spared(self.made.size, self.taken.size, self.in_place, self.lead)


def spared(made: int, taken: int, in_place: bool, lead: int) -> int:
    """Returns the largest number of bytes that an output of `made` bytes and an input of `taken` bytes save by sharing
    memory."""
    found = min(made, taken) if in_place else 0
    return found if lead < 0 else max(found, made + taken - max(made, lead + taken))


@dataclass(eq=False)
class Graph:
    """Dependencies of steps. Steps are numbered in the given order.

    `after[i]`: steps that must run before step i; `readers[base]`: steps that read a base; `kept`: bases that are
    needed until the end; `given`: bases that exist at the beginning.
    """

    steps: list[Step]
    layout: Layout
    after: list[int] = field(default_factory=list)
    reads: list[list[Tensor]] = field(default_factory=list)
    writes: list[list[Tensor]] = field(default_factory=list)
    readers: dict[Tensor, int] = field(default_factory=dict)
    kept: set[Tensor] = field(default_factory=set)
    given: list[Tensor] = field(default_factory=list)
    sharings: list[list[Sharing]] = field(default_factory=list)

    def dies(self, base: Tensor, step: int, done: int) -> bool:
        """Whether no step reads `base` after `step`, if the steps `done` have run before."""
        return base not in self.kept and not self.readers[base] & ~(done | 1 << step)

    def usable(self, step: int, done: int) -> list[Sharing]:
        """Returns the sharings that are possible for a step if the steps `done` have run before."""
        return [one for one in self.sharings[step] if self.dies(one.taken, step, done)]


def make_graph(program: Program, layout: Layout, options: MemoryOptions) -> Graph:
    """Returns the dependencies of a program's steps."""
    graph = Graph(layout.steps, layout)
    graph.reads = [layout.read(step) for step in graph.steps]
    graph.writes = [layout.written(step) for step in graph.steps]
    graph.readers = {base: 0 for block in layout.blocks for base, _ in block.bases}
    producer: dict[Tensor, int] = {}
    for number, bases in enumerate(graph.reads):
        for base in bases:
            graph.readers[base] |= 1 << number
    for number, bases in enumerate(graph.writes):
        for base in bases:
            producer.setdefault(base, number)
    graph.given = [base for base in graph.readers if base not in producer or base.storage is Storage.VARIABLE]
    graph.kept = {base for output in program.outputs for base in layout.bases.get(output, ())}
    graph.kept |= {base for base in graph.readers if base.storage is Storage.VARIABLE}
    if options.inputs is Inputs.KEPT:
        graph.kept |= {base for base in graph.readers if base.storage is Storage.INPUT}
    touches: dict[Tensor, list[int]] = {}
    outside = program.outside_roots()
    for number, step in enumerate(graph.steps):
        graph.after.append(0)
        for base in graph.reads[number]:
            if base in producer and base.storage is not Storage.VARIABLE:
                graph.after[number] |= 1 << producer[base]
        touched = {*graph.reads[number], *graph.writes[number]}
        for base in {base for base in touched if base.storage is Storage.VARIABLE} | _touched(step, outside):
            for earlier in touches.setdefault(base, []):  # readers and writers keep the given order
                graph.after[number] |= 1 << earlier
            touches[base].append(number)
        graph.sharings.append(_sharings(step, layout, options))
    return graph


def _touched(step: Step, outside: set[Tensor]) -> set[Tensor]:
    """Returns the tensors of a step whose memory is outside of the program."""
    operands = [operand for operand in (*step.inputs, *step.outputs) if operand is not None]
    return {root(operand) for operand in operands} & outside


def _sharings(step: Step, layout: Layout, options: MemoryOptions) -> list[Sharing]:
    """Returns the sharings that the kernel supports, for inputs that are whole bases and that the step reads once."""
    if not step.outputs or layout.bases.get(step.outputs[0]) != (root(step.outputs[0]),):
        return []
    made = root(step.outputs[0])
    leads = {overlap.input: overlap.lead for overlap in step.overlaps} if options.overlap else {}
    found = []
    for place, operand in enumerate(step.inputs):
        in_place = options.in_place and step.in_place == place
        if operand is None or not (in_place or place in leads):
            continue
        taken = root(operand)
        read = [base for other in step.inputs if other is not None for base in layout.bases.get(other, ())]
        if layout.bases.get(operand) != (taken,) or read.count(taken) != 1 or taken is made:
            continue
        if Storage.VARIABLE in (taken.storage, made.storage):
            continue
        found.append(Sharing(made, taken, in_place, leads.get(place, -1)))
    return found


def gain(sharings: list[Sharing]) -> int:
    """Returns the largest number of bytes that the sharings of a step save together."""
    if not sharings:
        return 0
    return min(sum(one.gain() for one in sharings), sharings[0].made.size)


class Live:
    """Computes the memory of sets of live bases. A block needs the bytes from its first live base to its last."""

    def __init__(self, layout: Layout) -> None:
        self._home: dict[Tensor, Block] = {base: block for block in layout.blocks for base, _ in block.bases}
        self._at = {base: at for block in layout.blocks for base, at in block.bases}

    def room(self, bases: set[Tensor]) -> int:
        """Returns the bytes that a set of live bases needs."""
        ranges: dict[Block, tuple[int, int]] = {}
        for base in bases:
            low, high = self._at[base], self._at[base] + base.size
            known = ranges.get(self._home[base])
            ranges[self._home[base]] = (low, high) if known is None else (min(low, known[0]), max(high, known[1]))
        return sum(high - low for low, high in ranges.values())
