"""Makes a `Program` from a plan of the runtime's planner: removes unused steps, turns reshapes into aliases, adds
copies to variables, and turns calls of subgraphs into nests."""

from __future__ import annotations

from mslite import _codegen
from mslite.codegen.custom import custom_call, problem_of
from mslite.codegen.ethosu import is_npu_step, npu_call
from mslite.codegen.lowering.control_flow import control_flow_step
from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.liveness import is_needed, tail_of
from mslite.codegen.lowering.plan_steps import PlanSteps
from mslite.codegen.lowering.steps import VariableSnapshots, copy_step, root
from mslite.codegen.lowering.tensors import ProgramTensors
from mslite.codegen.program import Overlap, Program, RowWise, Step, Storage
from mslite.converter.errors import Blocker

ALIASES = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims", "Transpose"})
"""Operators that only change the shape of a tensor, if their kernel works in place; this includes Transpose."""


def program_of(plan: _codegen.CodegenPlan, name: str, target: str) -> Program:
    """Returns the program of a plan. Raises LoweringError."""
    return Builder(plan, target).build(name)


class Builder:
    """Makes the steps of a plan's graphs. A call is inlined if the graphs that it runs are known; otherwise it becomes
    a nest."""

    def __init__(self, plan: _codegen.CodegenPlan, target: str) -> None:
        self.plan = plan
        self.tensors = ProgramTensors(plan)
        self.needed = self.tensors.needed
        self._written = PlanSteps(plan, target)
        self._written_steps = plan.steps  # the attribute makes a new list each time
        self._assigned_inside = {variable for graph in plan.graphs[1:] for variable, _ in graph.writes}
        """Variables that are assigned in other graphs than the main graph."""

    def build(self, name: str) -> Program:
        """Returns the program of the main graph."""
        main = self.plan.graphs[0]
        for number in self.plan.inputs:
            self.tensors[number] = self.tensors.like(number, Storage.INPUT)
        steps = self._reads(main, self._assigned_inside) + self._items(main)
        assigned = [
            (self.tensors.variable(variable, number), self.tensors.operand(number)) for variable, number in main.writes
        ]
        old = VariableSnapshots({variable for variable, _ in assigned})
        moves = [(variable, old.of(value)) for variable, value in assigned if root(value) is not variable]
        inputs = [self.tensors[number] for number in self.plan.inputs]
        outputs = [old.of(self.tensors.operand(number)) for number in self.plan.outputs]
        steps += [*old.steps, *(copy_step(value, variable) for variable, value in moves)]
        return self._written.program(name, inputs, outputs, steps)

    def graph_steps(self, graph: _codegen.CodegenGraph) -> list[Step]:
        """Returns the steps of a called graph, without its tail call. Variables are read at its beginning and assigned
        at its end."""
        steps = self._reads(graph, {*self._assigned_inside, *(variable for variable, _ in self.plan.graphs[0].writes)})
        steps += self._items(graph)
        for variable, number in graph.writes:
            if root(self.tensors.operand(number)) is not self.tensors.variable(variable, number):
                steps.append(copy_step(self.tensors.operand(number), self.tensors.variable(variable, number)))
        return steps

    def _reads(self, graph: _codegen.CodegenGraph, changing: set[int]) -> list[Step]:
        """Sets the tensors that read variables: the variable itself, or a copy if the variable changes."""
        steps = []
        for variable, number in graph.reads:
            tensor = self.tensors.variable(variable, number)
            self.tensors[number] = tensor
            if variable in changing and number in self.needed:
                self.tensors[number] = self.tensors.like(number, Storage.ACTIVATION)
                steps.append(copy_step(tensor, self.tensors[number]))
        return steps

    def _items(self, graph: _codegen.CodegenGraph) -> list[Step]:
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
                source = self.tensors.operand(step.inputs[0])
                alias = self.tensors.like(step.outputs[0], Storage.ACTIVATION)
                alias.alias_of = source
                alias.storage = source.storage
                self.tensors[step.outputs[0]] = alias
            else:
                steps.append(self._step(step))
                self._written.note(steps[-1], item)
        return steps

    def _call(self, call: _codegen.CodegenCall) -> list[Step]:
        way = self._straight(call)
        if way is None:
            return [control_flow_step(call, self.tensors, self._written, self.graph_steps)]
        steps: list[Step] = []
        for arguments, graph in way:
            for given, argument in zip(graph.inputs, arguments, strict=True):
                if given in self.needed:
                    self.tensors[given] = self.tensors.operand(argument)
            steps += self.graph_steps(graph)
        for output, result in zip(call.outputs, way[-1][1].outputs, strict=False):
            if output in self.needed:
                self.tensors[output] = self.tensors.operand(result)
        return steps

    def _straight(self, call: _codegen.CodegenCall) -> list[tuple[list[int], _codegen.CodegenGraph]] | None:
        """Returns the graphs that a call runs, with their arguments, or None if they are known at run time only."""
        way = []
        following: _codegen.CodegenCall | None = call
        while following is not None:
            if following.closure < 0:
                return None
            graph, arguments = following.branches[following.closure]
            way.append((arguments, self.plan.graphs[graph]))
            following = tail_of(self.plan, graph)
        return way

    def _step(self, step: _codegen.CodegenStep) -> Step:
        packed = dict(step.packed)
        inputs = [self.tensors.operand(number) for number in step.inputs]
        for number in step.outputs:
            self.tensors[number] = self.tensors.like(number, Storage.ACTIVATION)
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
    def _custom(made: Step, step: _codegen.CodegenStep) -> Step:
        """Returns the step as a call of the user's kernel, or of the NPU's driver. Raises LoweringError."""
        if is_npu_step(step.custom_type):
            try:
                return npu_call(made, step.attributes)
            except ValueError as error:
                blocker = Blocker(
                    step.name,
                    f"Custom '{step.custom_type}'",
                    str(error),
                    "Convert the model again with converter_lite --target",
                )
                raise LoweringError(f"node '{step.name}' is unsupported in generated C: {error}", (blocker,)) from None
        if problem := problem_of(step.custom_type, step.attributes):
            operator = f"Custom '{step.custom_type}'"
            blocker = Blocker(step.name, operator, problem, "Use fewer attributes or shorter names")
            raise LoweringError(f"node '{step.name}' ({operator}) is unsupported in generated C: {problem}", (blocker,))
        return custom_call(made, step.custom_type, step.attributes)

    def _rows(self, step: _codegen.CodegenStep) -> RowWise | None:
        if not step.rows[0]:
            return None
        others = [place for place, number in enumerate(step.inputs) if place and self._is_computed(number)]
        return RowWise(*step.rows, others=tuple(others))

    def _is_computed(self, number: int) -> bool:
        return number in self.tensors and self.tensors[number].storage is not Storage.CONSTANT
