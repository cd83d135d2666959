"""Makes the rows of the table of steps: kernel, parameters, and locations of inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain

from mslite.codegen.emit.constants import Constants
from mslite.codegen.emit.control_flow import CodeBlock, ControlFlowCode
from mslite.codegen.emit.names import Names, comment, short
from mslite.codegen.program import (
    CONTROL,
    COPY,
    FusedRows,
    Move,
    Next,
    Plan,
    Program,
    RowCall,
    RowMove,
    Step,
    Storage,
    Tensor,
    all_steps,
    jumps_of,
    selectors_of,
)


@dataclass(eq=False)
class Row:
    """A row of the table of steps."""

    number: int
    step: Step
    name: str
    comment: str
    places: list[str]
    """Locations of inputs, then of outputs, as C text such as ARENA(64)."""
    input_count: int
    output_count: int
    parts: tuple[int, ...]
    shared: int
    scratch: int
    first_place: int = 0


@dataclass(eq=False)
class Call:
    """A row of the table that a loop runs. With each iteration, an input and the output advance by a number of
    bytes."""

    row: Row
    input_advance: int
    output_advance: int
    advancing: int
    """Index of the input that advances."""


@dataclass(eq=False)
class Loop:
    count: int
    moves: tuple[RowMove, ...]
    calls: list[Call]


@dataclass(eq=False)
class Segment:
    """A part of the run: the rows `first` to `end` - 1, or a move, or the row loops of a chain, or the function of a
    loop or branch of the model."""

    first: int = 0
    end: int = 0
    comment: str = ""
    move: RowMove | None = None
    loops: list[Loop] = field(default_factory=list)
    nest: ControlFlowCode | None = None


@dataclass(eq=False)
class Table:
    rows: list[Row]
    segments: list[Segment]
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """For each plan: its rows, as (first, end)."""

    @property
    def place_count(self) -> int:
        return sum(len(row.places) for row in self.rows)

    @property
    def phases(self) -> int:
        return max((len(row.parts) for row in self.rows), default=0)

    @property
    def has_workspace(self) -> bool:
        return any(row.step.shared_size or row.step.scratch_size for row in self.rows)

    @property
    def is_fused(self) -> bool:
        return any(segment.loops for segment in self.segments)

    @property
    def advances_others(self) -> bool:
        """Whether an input other than the first advances in a row loop."""
        return any(call.advancing for segment in self.segments for loop in segment.loops for call in loop.calls)

    @property
    def copies(self) -> bool:
        return any(row.step.kernel == COPY for row in self.rows)

    @property
    def is_plain(self) -> bool:
        """Whether a run is all rows in order, without moves, row loops or nests."""
        return all(segment.end for segment in self.segments)

    @property
    def nests(self) -> list[ControlFlowCode]:
        """The functions of loops and branches; each follows those that it calls."""
        return [code for segment in self.segments if segment.nest is not None for code in segment.nest.inner()]

    @property
    def runs_ranges(self) -> bool:
        """Whether a range of rows is run that is not all rows."""
        return not self.is_plain and any(segment.end or segment.nest is not None for segment in self.segments)

    def most(self, inputs: bool) -> int:
        return max((row.input_count if inputs else row.output_count for row in self.rows), default=1)

    def uses(self, kind: str) -> bool:
        """Whether any location is of this kind: INPUT, OUTPUT, WEIGHTS or NOTHING."""
        passed = (place for code in self.nests for place in code.places.values())
        return any(place.startswith(kind) for place in chain((one for row in self.rows for one in row.places), passed))


def root(tensor: Tensor) -> Tensor:
    """Returns the tensor whose memory an alias uses."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


class Places:
    """Returns the locations of tensors as C text."""

    def __init__(self, program: Program, plan: Plan, constants: Constants) -> None:
        self._offsets = dict(plan.offsets)
        self._constants = constants
        self._callers = {tensor: number for number, tensor in enumerate(program.inputs)}
        self._outputs: dict[Tensor, int] = {}
        for number, tensor in enumerate(program.outputs):
            self._outputs.setdefault(root(tensor), number)

    def inside(self, offsets: Mapping[Tensor, int], base: int) -> Places:
        """Returns a copy with more tensors in the arena; their `offsets` are relative to `base`."""
        found = copy(self)
        found._offsets = {**self._offsets, **{tensor: base + at for tensor, at in offsets.items()}}
        return found

    def arena(self, tensor: Tensor) -> int | None:
        """Returns a tensor's offset in the arena, or None. An alias can have its own offset (a part of another
        tensor)."""
        return self._offsets.get(self._base(tensor))

    def _base(self, tensor: Tensor) -> Tensor:
        while tensor not in self._offsets and tensor.alias_of is not None:
            tensor = tensor.alias_of
        return tensor

    def move(self, move: Move) -> RowMove:
        """Changes the offset of a tensor and returns the move."""
        base = self._base(move.tensor)
        source = self._offsets[base]
        self._offsets[base] = move.target
        return RowMove(move.target, source, base.size)

    def of(self, tensor: Tensor | None) -> str:
        if tensor is None or (tensor.size == 0 and self.arena(tensor) is None):
            return "NOTHING"
        at = self.arena(tensor)
        if at is not None:
            return f"ARENA({at})"
        base = root(tensor)
        if base in self._callers:
            return f"INPUT({self._callers[base]})"
        if base in self._constants.of_tensor:
            return f"WEIGHTS({self._constants.of_tensor[base].name})"
        if base in self._outputs:
            return f"OUTPUT({self._outputs[base]})"
        raise ValueError(f"the memory plan has no offset for '{tensor.name}'")

    def operands(self, step: Step) -> list[str]:
        """Returns the locations of a step's inputs, then of its outputs."""
        return self._inputs_of(step) + [self.of(tensor) for tensor in step.outputs]

    def _inputs_of(self, step: Step, without: tuple[int, ...] = ()) -> list[str]:
        found = []
        for place, tensor in enumerate(step.inputs):
            packed = self._constants.of_operand.get((step, place))
            if packed is not None:
                found.append(f"WEIGHTS({packed.name})")
            else:
                found.append(self.of(tensor) if place not in without else "")
        return found

    def row_operands(self, call: RowCall, whole: Step) -> list[str]:
        """Returns the locations for a call on some rows of step `whole`. Constants are those of the whole step."""
        assert whole.rows is not None
        found = self._inputs_of(whole, (whole.rows.input, *whole.rows.others))
        for operand, place in ((whole.rows.input, call.input), *call.others):
            found[operand] = f"ARENA({place})"
        return [*found, f"ARENA({call.output})"]


def table_of(plans: Sequence[tuple[Program, Plan]], constants: Constants) -> tuple[Table, list[Places]]:
    """Returns a table with the steps of all plans, and for each plan the locations of tensors at the end of a run."""
    builder = _Builder()
    ends, ranges = [], []
    for program, plan in plans:
        ends.append(Places(program, plan, constants))
        first = len(builder.rows)
        _add_plan(builder, plan, ends[-1])
        ranges.append((first, len(builder.rows)))
    return Table(builder.rows, builder.segments, ranges), ends


def _add_plan(builder: _Builder, plan: Plan, places: Places) -> None:
    builder.places = places
    for item in plan.order:
        if isinstance(item, FusedRows):
            loops = [
                Loop(loop.count, loop.moves, [builder.call(call, item) for call in loop.calls]) for loop in item.loops
            ]
            builder.segments.append(Segment(comment=comment(f"{item.name}: a few rows at a time"), loops=loops))
        elif isinstance(item, Move):
            text = comment(f"{short(item.tensor.name, 'tensor')} is moved, to free memory")
            builder.segments.append(Segment(comment=text, move=places.move(item)))
        elif item.nest is not None:
            _add_nest(builder, item, plan)
        else:
            builder.step(item, plan.workspaces.get(item, 0))


def _add_nest(builder: _Builder, step: Step, plan: Plan, base: int = 0) -> None:
    """Adds a segment for a step that runs a nest: the rows of its blocks, and the function that runs them."""
    assert step.nest is not None
    nest, own = step.nest, plan.nests[step]
    start = base + plan.workspaces.get(step, 0)
    around, segments = builder.places, builder.segments
    shared = around.inside(own.offsets, start)
    places: dict[Tensor, str] = {}
    offsets: dict[Tensor, int] = {}

    def note(following: Next, where: Places) -> None:
        places.update((tensor, where.of(tensor)) for tensor in selectors_of(following))
        for one in (one for jump in jumps_of(following) for one in jump.passes):
            at = where.arena(one.target)
            assert at is not None
            offsets[one.target] = at
            if one.source is not None:
                places[one.source] = where.of(one.source)

    note(nest.entry, shared)
    blocks = []
    for block, inner in zip(nest.blocks, own.plans, strict=True):
        builder.places = shared.inside(inner.offsets, start + own.base)
        builder.segments = []
        for item in inner.order:
            assert isinstance(item, Step)
            if item.nest is not None:
                _add_nest(builder, item, inner, start + own.base)
            else:
                builder.step(item, start + own.base + inner.workspaces.get(item, 0))
        note(block.following, builder.places)
        parts = [part.nest or (part.first, part.end) for part in builder.segments]
        blocks.append(CodeBlock(block.name, parts))
    builder.places, builder.segments = around, segments
    kind = "loop" if nest.loops else "branch"
    code = ControlFlowCode(builder.name(step), comment(f"{step.name}: {kind}"), nest, blocks, places, offsets)
    builder.segments.append(Segment(comment=comment(step.name), nest=code))


class _Builder:
    places: Places

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.segments: list[Segment] = []
        self._names = Names()
        self._place_count = 0

    def name(self, step: Step) -> str:
        """Returns a unique name for the function of a nest."""
        return self._names.make(f"run_{short(step.name, 'nest')}", "run")

    def step(self, step: Step, workspace: int) -> None:
        number = self._add(step, workspace, self.places.operands(step)).number
        if self.segments and self.segments[-1].end == number:
            self.segments[-1].end = number + 1
        else:
            self.segments.append(Segment(number, number + 1))

    def call(self, call: RowCall, chain: FusedRows) -> Call:
        operands = self.places.row_operands(call, chain.steps[call.layer])
        row = self._add(call.step, call.workspace, operands)
        return Call(row, call.input_advance, call.output_advance, call.advancing)

    def _add(self, step: Step, workspace: int, operands: list[str]) -> Row:
        scratch = workspace + step.shared_size + -step.shared_size % 8
        row = Row(
            number=len(self.rows),
            step=step,
            name=self._names.make(step.name, "step"),
            comment=describe(step),
            places=operands,
            input_count=len(step.inputs),
            output_count=len(step.outputs),
            parts=step.parts,
            shared=workspace if step.shared_size else 0,
            scratch=scratch if step.scratch_size else 0,
            first_place=self._place_count,
        )
        self._place_count += len(operands)
        self.rows.append(row)
        return row


def describe(step: Step) -> str:
    """Returns a comment on a step in one line: operator, shapes, MACs."""
    operands = [
        shape_text(tensor) for tensor in step.inputs if tensor is not None and tensor.storage is not Storage.CONSTANT
    ]
    results = ", ".join(shape_text(tensor) for tensor in step.outputs)
    text = f"{step.operator}  {', '.join(operands)} -> {results}"
    if step.macs:
        text += f", {grouped(step.macs)} MACs"
    return comment(text)


def shape_text(tensor: Tensor) -> str:
    sizes = "x".join(str(size) for size in tensor.shape) or "1"
    return f"{tensor.dtype.name.lower()}[{sizes}]"


def grouped(number: int) -> str:
    """Formats a number with spaces between groups of digits: 1 234 567."""
    return f"{number:,}".replace(",", " ")


def kernels_of(program: Program) -> Iterator[str]:
    """Yields the names of the kernels that a program calls."""
    seen: set[str] = {COPY, CONTROL}
    for step in all_steps(program):
        for name in step.call.kernels if step.call is not None else (step.kernel,):
            if name not in seen:
                seen.add(name)
                yield name


__all__ = ["Row", "Table", "describe", "grouped", "kernels_of", "root", "short", "table_of"]
