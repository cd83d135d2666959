"""Computes which tensors are in the arena at which step, from a plan, for reports and messages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from mslite.codegen.program import FusedRows, Move, Plan, Program, Step, Storage, Tensor


class Kind(Enum):
    """Use of memory."""

    INPUT = "input"
    ACTIVATION = "activation"
    OUTPUT = "output"
    VARIABLE = "variable"
    WORKSPACE = "workspace"
    ROWS = "rows of a fused layer"


@dataclass(frozen=True)
class Rectangle:
    """Bytes `offset` to `offset + size` that are in use from column `first` to column `last`.

    Column 0 is the state before the run; column i is entry i - 1 of the plan's order."""

    name: str
    kind: Kind
    first: int
    last: int
    offset: int
    size: int


@dataclass(frozen=True)
class ArenaUsage:
    """Use of the arena over time. `columns`: titles of the columns from 1; `in_use`: bytes in use in each column from
    0; `peak`:
    the column with the most."""

    columns: list[str]
    rectangles: list[Rectangle]
    in_use: list[int]
    peak: int
    size: int

    @property
    def peak_layer(self) -> str:
        return self.columns[self.peak - 1] if self.peak else "the inputs"

    def entry(self, plan: Plan) -> Step | FusedRows | None:
        """Returns what runs at the peak, or None if the peak is before the run or at a move."""
        found = plan.order[self.peak - 1] if self.peak else None
        return None if isinstance(found, Move) else found

    def peak_with_int8(self, floats: Collection[str]) -> int:
        """Returns an estimate of the peak in bytes if the float32 tensors with these names were int8."""
        saved = [0] * len(self.in_use)
        for one in self.rectangles:
            if one.name in floats and one.kind is not Kind.WORKSPACE:
                for column in range(one.first, one.last + 1):
                    saved[column] += one.size - one.size // 4
        return max(max(used // 4, used - less) for used, less in zip(self.in_use, saved, strict=True))


def root(tensor: Tensor) -> Tensor:
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def arena_usage(program: Program, plan: Plan) -> ArenaUsage:
    """Returns the use of the arena for each entry of `plan.order`."""
    lives = _lives(program, plan)
    rectangles: list[Rectangle] = []
    ends = {root(tensor) for tensor in program.outputs}
    moved: dict[Tensor, list[tuple[int, int]]] = {}
    for column, entry in enumerate(plan.order, 1):
        if isinstance(entry, Move):
            moved.setdefault(entry.tensor, []).append((column, entry.target))
    for tensor, (first, last) in lives.items():
        kind = Kind.OUTPUT if tensor in ends else _KINDS[tensor.storage]
        at = plan.offsets[tensor]
        for column, target in moved.get(tensor, []):
            rectangles.append(Rectangle(tensor.name, kind, first, column, at, tensor.size))
            first, at = column + 1, target
        if first <= last:
            rectangles.append(Rectangle(tensor.name, kind, first, last, at, tensor.size))
    for column, entry in enumerate(plan.order, 1):
        if isinstance(entry, FusedRows):
            rectangles += _rows(entry, column)
        elif isinstance(entry, Step) and entry.workspace:
            name = f"workspace of {entry.name}"
            rectangles.append(Rectangle(name, Kind.WORKSPACE, column, column, plan.workspaces[entry], entry.workspace))
    rectangles = [one for one in rectangles if one.size]
    in_use = [_covered(rectangles, column) for column in range(len(plan.order) + 1)]
    columns = [_title(entry) for entry in plan.order]
    return ArenaUsage(columns, rectangles, in_use, max(range(len(in_use)), key=in_use.__getitem__), plan.size)


_KINDS = {
    Storage.INPUT: Kind.INPUT,
    Storage.ACTIVATION: Kind.ACTIVATION,
    Storage.CONSTANT: Kind.ACTIVATION,
    Storage.VARIABLE: Kind.VARIABLE,
}


def _title(entry: Step | FusedRows | Move) -> str:
    if isinstance(entry, Move):
        return f"move {entry.tensor.name}"
    return entry.name


def _lives(program: Program, plan: Plan) -> dict[Tensor, tuple[int, int]]:
    """Returns the first and last column of each tensor in the arena."""
    known = [tensor for tensor in program.inputs if tensor in plan.offsets]
    births = dict.fromkeys(known, 0)
    deaths = dict.fromkeys(known, 0)
    run: set[Step] = set()

    def used(tensor: Tensor | None, column: int) -> None:
        if tensor is not None and root(tensor) in plan.offsets:
            if root(tensor).storage is Storage.VARIABLE:
                births[root(tensor)] = 0
                column = len(plan.order)
            births.setdefault(root(tensor), column)
            deaths[root(tensor)] = max(column, deaths.get(root(tensor), 0))

    for entry in plan.order:
        run.update(entry.steps if isinstance(entry, FusedRows) else [entry] if isinstance(entry, Step) else [])
    waiting = [step for step in program.steps if step not in run]
    for column, entry in enumerate(plan.order, 1):
        if isinstance(entry, Step):
            for tensor in (*entry.inputs, *entry.outputs):
                used(tensor, column)
        elif isinstance(entry, FusedRows):
            for step in (entry.steps[0], entry.steps[-1]):
                for tensor in (*step.inputs, *step.outputs):
                    used(tensor, column)
        for step in list(waiting):  # concats and splits without copies: as soon as their inputs are computed
            if all(
                operand is None or root(operand) in births or root(operand) not in plan.offsets
                for operand in step.inputs
            ):
                for tensor in (*step.inputs, *step.outputs):
                    used(tensor, column)
                waiting.remove(step)
    for tensor in program.outputs:
        used(tensor, len(plan.order))
    return {tensor: (births[tensor], deaths[tensor]) for tensor in births}


def _rows(chain: FusedRows, column: int) -> list[Rectangle]:
    """Returns the row buffers and workspaces of a chain."""
    spans: dict[tuple[str, Kind], tuple[int, int]] = {}
    for loop in chain.loops:
        for call in loop.calls:
            parts = []
            if call.layer + 1 < len(chain.steps):
                output = call.step.outputs[0]
                parts.append(((output.name, Kind.ROWS), call.output, output.size))
            if call.step.workspace:
                name = f"workspace of {chain.steps[call.layer].name}"
                parts.append(((name, Kind.WORKSPACE), call.workspace, call.step.workspace))
            for key, at, size in parts:
                low, high = spans.get(key, (at, at + size))
                spans[key] = min(low, at), max(high, at + size)
    return [Rectangle(name, kind, column, column, low, high - low) for (name, kind), (low, high) in spans.items()]


def _covered(rectangles: list[Rectangle], column: int) -> int:
    """Returns the number of bytes in use in a column; overlaps count once."""
    spans = sorted((one.offset, one.offset + one.size) for one in rectangles if one.first <= column <= one.last)
    covered, end = 0, 0
    for low, high in spans:
        covered += max(0, high - max(low, end))
        end = max(end, high)
    return covered
