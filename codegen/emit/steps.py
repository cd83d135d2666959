"""The rows of the table of steps: which kernel, its numbers, where its operands lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mslite.codegen.emit.constants import Constants
from mslite.codegen.emit.names import Names, comment, short
from mslite.codegen.program import COPY, FusedRows, Plan, Program, RowCall, Step, Storage, Tensor


@dataclass(eq=False)
class Row:
    """A row of the table; everything is C text or a number."""

    number: int
    step: Step
    name: str
    comment: str
    places: list[str]
    """Of inputs, then of outputs."""
    input_count: int
    output_count: int
    parts: tuple[int, ...]
    shared: int
    scratch: int
    first_place: int = 0


@dataclass(eq=False)
class Move:
    """Rows that a fused chain needs again go to the front of their buffer."""

    target: int
    source: int
    size: int


@dataclass(eq=False)
class Call:
    """A row of the table, run in each turn of a loop."""

    row: Row
    input: int
    input_advance: int
    output_advance: int


@dataclass(eq=False)
class Loop:
    count: int
    moves: list[Move]
    calls: list[Call]


@dataclass(eq=False)
class Segment:
    """Rows `first` to `end` - 1, one after the other; or the loops of a fused chain."""

    first: int = 0
    end: int = 0
    name: str = ""
    loops: list[Loop] = field(default_factory=list)


@dataclass(eq=False)
class Table:
    rows: list[Row]
    segments: list[Segment]

    @property
    def place_count(self) -> int:
        return sum(len(row.places) for row in self.rows)

    @property
    def phases(self) -> int:
        return max((len(row.parts) for row in self.rows), default=0)

    @property
    def has_workspace(self) -> bool:
        return any(row.shared or row.scratch for row in self.rows)

    @property
    def is_fused(self) -> bool:
        return any(segment.loops for segment in self.segments)

    def most(self, inputs: bool) -> int:
        return max((row.input_count if inputs else row.output_count for row in self.rows), default=1)

    def uses(self, kind: str) -> bool:
        """Whether some operand lies in INPUT, OUTPUT, WEIGHTS or is NOTHING."""
        return any(place.startswith(kind) for row in self.rows for place in row.places)


def root(tensor: Tensor) -> Tensor:
    """The tensor whose memory it is."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


class Places:
    """Where tensors lie, as C text."""

    def __init__(self, program: Program, plan: Plan, constants: Constants) -> None:
        self._plan = plan
        self._constants = constants
        self._inputs = {tensor: number for number, tensor in enumerate(program.inputs)}
        self._outputs: dict[Tensor, int] = {}
        for number, tensor in enumerate(program.outputs):
            self._outputs.setdefault(root(tensor), number)

    def arena(self, tensor: Tensor) -> int | None:
        """Its place in the arena; an alias may have one of its own (a piece of a whole)."""
        while tensor not in self._plan.offsets and tensor.alias_of is not None:
            tensor = tensor.alias_of
        return self._plan.offsets.get(tensor)

    def of(self, tensor: Tensor | None) -> str:
        if tensor is None or (tensor.size == 0 and self.arena(tensor) is None):
            return "NOTHING"
        at = self.arena(tensor)
        if at is not None:
            return f"ARENA({at})"
        base = root(tensor)
        if base in self._inputs:
            return f"INPUT({self._inputs[base]})"
        if base in self._constants.of_tensor:
            return f"WEIGHTS({self._constants.of_tensor[base].name})"
        if base in self._outputs:
            return f"OUTPUT({self._outputs[base]})"
        raise ValueError(f"the memory plan has no place for '{tensor.name}'")

    def operands(self, step: Step) -> list[str]:
        """Of inputs, then outputs."""
        found = []
        for place, tensor in enumerate(step.inputs):
            packed = self._constants.of_operand.get((step, place))
            found.append(self.of(tensor) if packed is None else f"WEIGHTS({packed.name})")
        return found + [self.of(tensor) for tensor in step.outputs]


def table_of(program: Program, plan: Plan, constants: Constants) -> Table:
    places = Places(program, plan, constants)
    names = Names()
    rows: list[Row] = []
    segments: list[Segment] = []

    def add(step: Step, workspace: int, operands: list[str]) -> Row:
        shared = workspace if step.shared_size else 0
        scratch = workspace + step.shared_size + -step.shared_size % 8 if step.scratch_size else 0
        row = Row(
            len(rows), step, names.make(step.name, "step"), describe(step), operands, len(step.inputs), len(step.outputs),
            step.parts, shared, scratch,
        )  # fmt: skip
        row.first_place = sum(len(other.places) for other in rows)
        rows.append(row)
        return row

    for item in plan.order:
        if isinstance(item, FusedRows):
            loops = [
                Loop(
                    loop.count,
                    [Move(move.target, move.source, move.size) for move in loop.moves],
                    [_call(call, add, places, constants) for call in loop.calls],
                )
                for loop in item.loops
            ]
            segments.append(Segment(name=comment(item.name), loops=loops))
            continue
        row = add(item, plan.workspaces.get(item, 0), places.operands(item))
        if segments and not segments[-1].loops:
            segments[-1].end = row.number + 1
        else:
            segments.append(Segment(row.number, row.number + 1))
    return Table(rows, segments)


def _call(call: RowCall, add: object, places: Places, constants: Constants) -> Call:
    raise NotImplementedError


def describe(step: Step) -> str:
    """What a step is, in one line."""
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
    """1 234 567."""
    return f"{number:,}".replace(",", " ")


def kernels_of(program: Program) -> Iterator[str]:
    """The names of the kernels that a program calls."""
    seen: set[str] = set()
    for step in program.steps:
        if step.kernel != COPY and step.kernel not in seen:
            seen.add(step.kernel)
            yield step.kernel


__all__ = ["Row", "Table", "describe", "grouped", "kernels_of", "root", "short", "table_of"]
