"""Checks a memory plan by simulation: finds every byte that is overwritten before it is read.

The check does not depend on how plans are made. The arena is an array of labels. Each step gives every byte of its
outputs a new label, and the labels at the address of an input must be those of the tensor's contents.
"""

from __future__ import annotations

from math import gcd

import numpy as np
import numpy.typing as npt

from mslite.codegen.memory.check_rows import RowChecker, chain_tensors
from mslite.codegen.program import FusedRows, Move, Plan, Program, Step, Storage, Tensor

Labels = npt.NDArray[np.int64]
_JOINS = {"Concat": False, "Stack": True}
_PARTS = ("Split", "Unstack", "SliceFusion")


class MemoryPlanError(Exception):
    """Raised for a memory plan with which the program would compute wrong results: a bug of the planner, not of a
    model."""


def check_plan(program: Program, plan: Plan, alignment: int = 1) -> None:
    """Raises MemoryPlanError, with the step and the tensor, unless the program computes its results with this plan."""
    _Checker(program, plan, alignment).run()


class _Checker:
    def __init__(self, program: Program, plan: Plan, alignment: int) -> None:
        self.program, self.plan = program, plan
        self.outside = program.outside_roots()
        self.unit = self._unit()
        self.memory: Labels = np.full(plan.size // self.unit, -1, np.int64)
        self.contents: dict[Tensor, Labels] = {}
        self.next = 0
        self.skipped = set(program.steps)
        self.offsets = dict(plan.offsets)
        for entry in plan.order:
            if isinstance(entry, Move):
                continue
            for step in entry.steps if isinstance(entry, FusedRows) else [entry]:
                if step not in self.skipped:
                    raise MemoryPlanError(f"{step.name}: is run twice, or is not a step of the program")
                self.skipped.discard(step)
        fast = plan.fast_size
        spans = [(tensor.name, at, tensor.size) for tensor, at in plan.offsets.items()]
        spans += [(step.name, at, step.workspace) for step, at in plan.workspaces.items()]
        for what, at, size in spans if fast else []:
            if at < fast < at + size:
                raise MemoryPlanError(f"{what}: lies across the end of the fast memory, at byte {fast}")
        for what, at in [(tensor.name, at) for tensor, at in plan.offsets.items()] + [
            (step.name, at) for step, at in plan.workspaces.items()
        ]:
            if at < 0 or at % alignment:
                raise MemoryPlanError(f"{what}: lies at byte {at}, which is not a multiple of {alignment}")

    def _unit(self) -> int:
        """Returns the number of bytes per label: 1, or for large arenas the common divisor of all offsets and sizes."""
        if self.plan.size < 1 << 20 or any(isinstance(entry, FusedRows) for entry in self.plan.order):
            return 1
        found = self.plan.size
        for tensor, at in self.plan.offsets.items():
            found = gcd(found, gcd(at, tensor.size))
        for step, at in self.plan.workspaces.items():
            found = gcd(found, gcd(at, step.workspace))
        return found

    def run(self) -> None:
        for step in self.program.steps:
            for tensor in (operand for operand in step.inputs if operand is not None):
                self.given(tensor)
        for tensor in (*self.program.inputs, *self.program.outputs):
            self.given(tensor)
        for entry in self.plan.order:
            if isinstance(entry, FusedRows):
                self.rows(entry)
            elif isinstance(entry, Move):
                self.move(entry)
            else:
                self.step(entry)
        for tensor in self.program.outputs:
            self.read(tensor, "the end of the program")

    def given(self, tensor: Tensor) -> None:
        """Writes labels for an input or variable, which has contents before the first step."""
        while tensor.alias_of is not None:
            tensor = tensor.alias_of
        if (
            tensor.storage in (Storage.INPUT, Storage.VARIABLE)
            and tensor in self.plan.offsets
            and tensor not in self.contents
        ):
            self.write(tensor, self.fresh(tensor))

    def fresh(self, tensor: Tensor) -> Labels:
        count = tensor.size // self.unit
        labels = np.arange(self.next, self.next + count, dtype=np.int64)
        self.next += count
        return labels

    def at(self, tensor: Tensor) -> int | None:
        """Returns the offset of a tensor in the arena, or None if it is not in the arena."""
        while tensor.alias_of is not None:
            tensor = tensor.alias_of
        if tensor in self.offsets:
            return self.offsets[tensor]
        if tensor in self.outside:
            return None
        if tensor.storage in (Storage.ACTIVATION, Storage.VARIABLE):
            raise MemoryPlanError(f"{tensor.name}: has no offset in the arena")
        return None

    def span(self, tensor: Tensor) -> tuple[int, int] | None:
        at = self.at(tensor)
        return None if at is None else (at, at + tensor.size)

    def write(self, tensor: Tensor, labels: Labels) -> None:
        while tensor.alias_of is not None:
            tensor = tensor.alias_of
        at = self.offsets[tensor]
        if at + tensor.size > self.plan.size:
            raise MemoryPlanError(f"{tensor.name}: ends after the end of the arena")
        self.memory[at // self.unit : at // self.unit + len(labels)] = labels
        self.contents[tensor] = labels

    def content(self, tensor: Tensor) -> Labels:
        """Returns the labels of a tensor's contents."""
        while tensor.alias_of is not None:
            tensor = tensor.alias_of
        if tensor not in self.contents:
            makers = [step for step in self.skipped if any(output is tensor for output in step.outputs)]
            if not makers:
                raise MemoryPlanError(f"{tensor.name}: is read before it is computed")
            self.contents[tensor] = self.placed(makers[0], tensor)
        return self.contents[tensor]

    def placed(self, step: Step, tensor: Tensor) -> Labels:
        """Returns the labels of an output of a step that the plan leaves out, such as a concat whose inputs are
        adjacent."""
        if self.unit != 1:
            return self.coarse(step, tensor)
        inputs = [operand for operand in step.inputs if operand is not None]
        if step.operator in _JOINS:
            axis = _axis(inputs[0].shape, tensor.shape, len(inputs))
            grids = [self.grid(piece) for piece in inputs]
            joined = np.stack(grids, axis) if _JOINS[step.operator] else np.concatenate(grids, axis)
            return joined.reshape(-1)
        if step.operator in ("Split", "Unstack"):
            whole, axis = self.grid(inputs[0]), _axis(step.outputs[0].shape, inputs[0].shape, len(step.outputs))
            begin = 0
            for output in step.outputs:
                end = begin + (output.shape[axis] if step.operator == "Split" else 1)
                if output is tensor:
                    return np.take(whole, range(begin, end), axis).reshape(-1)
                begin = end
        if step.operator == "SliceFusion" and inputs[1].data is not None:
            starts = np.asarray(inputs[1].data).reshape(-1)
            cut = tuple(slice(int(a), int(a) + n) for a, n in zip(starts, tensor.shape, strict=True))
            return self.grid(inputs[0])[cut].reshape(-1)
        raise MemoryPlanError(f"{step.name}: {step.operator} is missing in the plan")

    def coarse(self, step: Step, tensor: Tensor) -> Labels:
        """Same as `placed`, if a label stands for several bytes; along the outermost axis only."""
        inputs = [operand for operand in step.inputs if operand is not None]
        if step.operator in _JOINS:
            return np.concatenate([self.content(piece) for piece in inputs])
        if step.operator in _PARTS:
            at, whole = self.at(tensor), self.at(inputs[0])
            assert at is not None
            assert whole is not None
            begin = (at - whole) // self.unit
            return self.content(inputs[0])[begin : begin + tensor.size // self.unit]
        raise MemoryPlanError(f"{step.name}: {step.operator} is missing in the plan")

    def grid(self, tensor: Tensor) -> Labels:
        """Returns the labels in the shape of a tensor, with one more axis for the bytes of an element."""
        elements = int(np.prod(tensor.shape, dtype=np.int64))
        return self.content(tensor).reshape(*tensor.shape, tensor.size // elements)

    def read(self, tensor: Tensor, reader: str) -> None:
        at = self.at(tensor)
        if at is None:
            return
        expected = self.content(tensor)
        there = self.memory[at // self.unit : at // self.unit + len(expected)]
        if not np.array_equal(there, expected):
            raise MemoryPlanError(f"{reader}: {tensor.name} is overwritten before it is read")

    def step(self, step: Step) -> None:
        for operand in step.inputs:
            if operand is not None:
                self.read(operand, step.name)
        spans = [(output, self.span(output)) for output in step.outputs]
        size = step.workspace
        for place, (output, span) in enumerate(spans):
            for other, other_span in spans[:place]:
                if crossing(span, other_span):
                    raise MemoryPlanError(f"{step.name}: {output.name} overlaps {other.name}")
            for number, operand in enumerate(step.inputs):
                if (
                    operand is not None
                    and crossing(span, self.span(operand))
                    and not self.may_share(step, place, number)
                ):
                    raise MemoryPlanError(f"{step.name}: {output.name} overlaps {operand.name}, which the step reads")
        if size:
            if step not in self.plan.workspaces:
                raise MemoryPlanError(f"{step.name}: its workspace has no offset in the arena")
            at = self.plan.workspaces[step]
            for tensor in [operand for operand in step.inputs if operand is not None] + step.outputs:
                if crossing((at, at + size), self.span(tensor)):
                    raise MemoryPlanError(f"{step.name}: its workspace overlaps {tensor.name}")
            if at + size > self.plan.size:
                raise MemoryPlanError(f"{step.name}: its workspace ends after the end of the arena")
            self.memory[at // self.unit : -(-(at + size) // self.unit)] = -2
        for output in step.outputs:
            if self.at(output) is not None:
                self.write(output, self.fresh(output))

    def move(self, move: Move) -> None:
        labels = self.content(move.tensor)
        self.read(move.tensor, "a move")
        self.offsets[move.tensor] = move.target
        self.write(move.tensor, labels)

    def rows(self, chain: FusedRows) -> None:
        tensors = chain_tensors(chain)
        source, output = tensors[0], tensors[-1]
        self.read(source, chain.name)
        contents = [self.content(source), *(self.fresh(tensor) for tensor in tensors[1:])]
        rows = [labels.reshape(tensor.shape[1], -1) for labels, tensor in zip(contents, tensors, strict=True)]
        RowChecker(self.memory, chain, rows, MemoryPlanError).run()
        self.contents[output] = contents[-1]
        self.read(output, chain.name)

    def may_share(self, step: Step, place: int, number: int) -> bool:
        """Returns whether output `place` may overlap input `number` at these offsets. Whether the input is still needed
        is checked by the steps that read it."""
        output, operand = step.outputs[place], step.inputs[number]
        at, other = self.at(output), None if operand is None else self.at(operand)
        if operand is output and output.storage is Storage.VARIABLE:
            return True
        if place != 0 or at is None or other is None:
            return False
        if step.in_place == number and at == other:
            return True
        return any(overlap.input == number and at + overlap.lead <= other for overlap in step.overlaps)


def crossing(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is not None and other is not None and max(one[0], other[0]) < min(one[1], other[1])


def _axis(piece: tuple[int, ...], whole: tuple[int, ...], count: int) -> int:
    """Returns the axis of a concat or stack of `count` pieces."""
    if len(piece) == len(whole):
        return next(axis for axis, (a, b) in enumerate(zip(piece, whole, strict=True)) if a != b)
    return next(axis for axis, size in enumerate(whole) if size == count and whole[:axis] + whole[axis + 1 :] == piece)
