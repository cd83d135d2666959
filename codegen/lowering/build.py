"""A written plan becomes a `Program`: dead steps go, reshapes become aliases, variables are copied at the end, calls become
nests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mslite import _codegen
from mslite.codegen.custom import custom_call, problem_of
from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.live import is_needed, needed_tensors, tail_of
from mslite.codegen.lowering.nests import nest_step
from mslite.codegen.lowering.steps import OldValues, copy_step, root, with_rows, written_tensor
from mslite.codegen.program import Band, Overlap, Program, RowWise, Step, Storage, Tensor
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import numpy_type

ALIASES = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims", "Transpose"})
"""Operators that give the same elements, in the same order, another shape; Transpose where its kernel works in place."""


def program_of(plan: _codegen.WrittenPlan, name: str, target: str) -> Program:
    return Builder(plan, target).build(name)


class Builder:
    """Makes steps of the graphs of a plan. Calls without an open choice are replaced by the steps of what they call."""

    def __init__(self, plan: _codegen.WrittenPlan, target: str) -> None:
        self.plan = plan
        self.target = target
        self.needed = needed_tensors(plan)
        self._written_steps, self._written_tensors = plan.steps, plan.tensors  # the plan makes new lists each time
        self.tensors: dict[int, Tensor] = {}
        self._variables: list[Tensor | None] = [None] * len(plan.variables)
        self._assigned_inside = {variable for graph in plan.graphs[1:] for variable, _ in graph.writes}
        """Variables that graphs assign which the main graph calls."""
        self._numbers: dict[Step, int] = {}
        """Places of steps in the written plan."""

    def build(self, name: str) -> Program:
        main = self.plan.graphs[0]
        for number in self.plan.inputs:
            self.tensors[number] = self.tensor(number, Storage.INPUT)
        steps = self._reads(main, self._assigned_inside) + self._items(main)
        assigned = [(self._variable(variable, number), self.operand(number)) for variable, number in main.writes]
        old = OldValues({variable for variable, _ in assigned})
        moves = [(variable, old.of(value)) for variable, value in assigned if root(value) is not variable]
        inputs = [self.tensors[number] for number in self.plan.inputs]
        outputs = [old.of(self.operand(number)) for number in self.plan.outputs]
        steps += [*old.steps, *(copy_step(value, variable) for variable, value in moves)]
        return self.program(name, inputs, outputs, steps)

    def program(self, name: str, inputs: list[Tensor], outputs: list[Tensor], steps: list[Step]) -> Program:
        return Program(name, self.target, inputs, outputs, steps, self._cut, self._cut_channels, self._call_numbers)

    def graph_steps(self, graph: _codegen.WrittenGraph) -> list[Step]:
        """The steps of a graph that is called, without the call that it ends with. Variables are read when it begins, and
        assigned when it ends."""
        steps = self._reads(graph, {*self._assigned_inside, *(variable for variable, _ in self.plan.graphs[0].writes)})
        steps += self._items(graph)
        for variable, number in graph.writes:
            if root(self.operand(number)) is not self._variable(variable, number):
                steps.append(copy_step(self.operand(number), self._variable(variable, number)))
        return steps

    def _reads(self, graph: _codegen.WrittenGraph, changing: set[int]) -> list[Step]:
        """Gives the tensors that show variables their contents: copies of those that change."""
        steps = []
        for variable, number in graph.reads:
            tensor = self._variable(variable, number)
            self.tensors[number] = tensor
            if variable in changing and number in self.needed:
                self.tensors[number] = self.tensor(number, Storage.ACTIVATION)
                steps.append(copy_step(tensor, self.tensors[number]))
        return steps

    def _items(self, graph: _codegen.WrittenGraph) -> list[Step]:
        steps: list[Step] = []
        for item in graph.items:
            if item < 0:
                call = self.plan.calls[~item]
                if not call.is_tail and is_needed(self.plan, ~item, self.needed):
                    steps += self._call(call)
                continue
            step = self._written_steps[item]
            if not self.needed.intersection(step.outputs):
                continue
            if step.op in ALIASES and step.in_place == 0:
                source = self.operand(step.inputs[0])
                alias = self.tensor(step.outputs[0], Storage.ACTIVATION)
                alias.alias_of = source
                alias.storage = source.storage
                self.tensors[step.outputs[0]] = alias
            else:
                steps.append(self._step(step))
                self._numbers[steps[-1]] = item
        return steps

    def _call(self, call: _codegen.WrittenCall) -> list[Step]:
        way = self._straight(call)
        if way is None:
            return [nest_step(self, call)]
        steps: list[Step] = []
        for arguments, graph in way:
            for given, argument in zip(graph.inputs, arguments, strict=True):
                if given in self.needed:
                    self.tensors[given] = self.operand(argument)
            steps += self.graph_steps(graph)
        for output, result in zip(call.outputs, way[-1][1].outputs, strict=False):
            if output in self.needed:
                self.tensors[output] = self.operand(result)
        return steps

    def _straight(self, call: _codegen.WrittenCall) -> list[tuple[list[int], _codegen.WrittenGraph]] | None:
        """The graphs that a call runs, with their arguments; None where that is known at run time only."""
        way = []
        following: _codegen.WrittenCall | None = call
        while following is not None:
            if following.closure < 0:
                return None
            graph, arguments = following.branches[following.closure]
            way.append((arguments, self.plan.graphs[graph]))
            following = tail_of(self.plan, graph)
        return way

    def _step(self, step: _codegen.WrittenStep) -> Step:
        packed = dict(step.packed)
        inputs = [self.operand(number) for number in step.inputs]
        for number in step.outputs:
            self.tensors[number] = self.tensor(number, Storage.ACTIVATION)
        made = Step(
            name=step.name,
            operator=step.op,
            kernel=step.kernel,
            inputs=[None if place in step.unread else tensor for place, tensor in enumerate(inputs)],
            outputs=[self.tensors[number] for number in step.outputs],
            derived=step.derived,
            parts=tuple(step.parts),
            shared_size=step.shared_bytes,
            scratch_size=step.scratch_bytes,
            packed=packed,
            in_place=step.in_place,
            overlaps=tuple(Overlap(place, lead) for place, lead in enumerate(step.leads) if lead >= 0),
            macs=step.macs,
            rows=self._rows(step),
        )
        return self._custom(made, step) if step.custom_type else made

    @staticmethod
    def _custom(made: Step, step: _codegen.WrittenStep) -> Step:
        """The same as a call of the user's kernel."""
        if problem := problem_of(step.custom_type, step.attributes):
            operator = f"Custom '{step.custom_type}'"
            blocker = Blocker(step.name, operator, problem, "Use fewer attributes, or shorter names")
            raise LoweringError(f"node '{step.name}' ({operator}) cannot become C: {problem}", (blocker,))
        return custom_call(made, step.custom_type, step.attributes)

    def _rows(self, step: _codegen.WrittenStep) -> RowWise | None:
        if not step.rows[0]:
            return None
        others = [place for place, number in enumerate(step.inputs) if place and self._is_computed(number)]
        return RowWise(*step.rows, others=tuple(others))

    def _is_computed(self, number: int) -> bool:
        return number in self.tensors and self.tensors[number].storage is not Storage.CONSTANT

    def _cut(self, step: Step, band: Band) -> Step | None:
        """`Program.cut`."""
        number = self._numbers[step]
        written = self.plan.cut(number, band.pad_before, band.rows_in, band.pad_after, band.rows_out)
        if written is None:
            return None
        target = step.outputs[0]
        assert step.rows is not None
        places = (step.rows.input, *step.rows.others)
        inputs = [
            with_rows(operand, band.rows_in) if operand is not None and place in places else operand
            for place, operand in enumerate(step.inputs)
        ]
        return replace(
            step,
            inputs=inputs,
            outputs=[with_rows(target, band.rows_out)],
            derived=written.derived,
            parts=tuple(written.parts),
            shared_size=written.shared_bytes,
            scratch_size=written.scratch_bytes,
            in_place=-1,
            overlaps=(),
            macs=step.macs * band.rows_out // target.shape[1],
            rows=None,
        )

    def _cut_channels(self, step: Step, first: int, count: int) -> Step | None:
        """`Program.cut_channels`."""
        written = self.plan.cut_channels(self._numbers[step], first, count)
        if written is None:
            return None
        return replace(
            step,
            derived=written.derived,
            parts=tuple(written.parts),
            shared_size=written.shared_bytes,
            scratch_size=written.scratch_bytes,
            packed=dict(written.packed),
        )

    def _call_numbers(self, step: Step) -> _codegen.CallNumbers | None:
        """`Program.numbers`."""
        if step not in self._numbers:
            return None
        return self.plan.numbers(self._numbers[step])

    def operand(self, number: int) -> Tensor:
        if number not in self.tensors:
            self.tensors[number] = self.tensor(number, Storage.CONSTANT)
        return self.tensors[number]

    def tensor(self, number: int, storage: Storage) -> Tensor:
        """A new tensor like the written one."""
        return written_tensor(self._written_tensors[number], storage)

    def _variable(self, variable: int, number: int) -> Tensor:
        """A variable; tensor `number` is like it."""
        found = self._variables[variable]
        if found is None:
            written = self.plan.variables[variable]
            found = self._variables[variable] = self.tensor(number, Storage.VARIABLE)
            found.name = written.name
            found.data = np.frombuffer(written.initial, numpy_type(found.dtype)).reshape(found.shape)
        return found
