"""Lowers calls of graphs with control flow (branches and loops) to steps with nests of basic blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mslite import _codegen
from mslite.codegen.lowering.liveness import region_of, tail_of
from mslite.codegen.lowering.loop_carried import find_carried, results_in_place
from mslite.codegen.lowering.plan_steps import PlanSteps
from mslite.codegen.lowering.steps import control_step, copy_step, root
from mslite.codegen.lowering.tensors import ProgramTensors
from mslite.codegen.program import (
    Block,
    Choice,
    ControlFlowNest,
    Jump,
    Next,
    Pass,
    Program,
    Step,
    Storage,
    Tensor,
    jumps_of,
    selectors_of,
)

GraphSteps = Callable[[_codegen.CodegenGraph], list[Step]]
"""Returns the steps of a called graph, without its tail call."""


def control_flow_step(
    call: _codegen.CodegenCall, tensors: ProgramTensors, written: PlanSteps, graph_steps: GraphSteps
) -> Step:
    """Returns the CONTROL step of a call whose graphs are selected at run time."""
    return _Maker(call, tensors, written, graph_steps).make()


class _Maker:
    def __init__(
        self, call: _codegen.CodegenCall, tensors: ProgramTensors, written: PlanSteps, graph_steps: GraphSteps
    ) -> None:
        self.call, self.tensors, self.plan = call, tensors, tensors.plan
        self.written, self.graph_steps = written, graph_steps
        self.region = region_of(self.plan, call)
        self.results: dict[int, Tensor] = {}
        """The needed outputs of the call, by their index."""

    def make(self) -> Step:
        tensors, call = self.tensors, self.call
        for place, output in enumerate(call.outputs):
            if output in tensors.needed:
                self.results[place] = tensors[output] = tensors.like(output, Storage.ACTIVATION)
        names, carried = find_carried(self.plan, call, self.region, tensors.needed)
        in_place = results_in_place(
            self.plan, call, self.region, names, carried, lambda output: output in tensors.needed
        )
        slots = []
        for given in carried:
            if given in in_place:
                tensors[given] = tensors[in_place[given]]
            else:
                tensors[given] = tensors.like(given, Storage.ACTIVATION)
                slots.append(tensors[given])
        self.carried = set(carried)
        for given, shown in names.items():
            tensors[given] = tensors.operand(shown)
        blocks = [self._block(graph) for graph in self.region]
        nest = ControlFlowNest(self._next(call, call.closure, None), blocks, slots)
        assigned = _assigned(nest)
        captured = [tensor for tensor in self._captured(nest) if tensor not in assigned]
        return control_step(call.name, nest, [*captured, *assigned], [*self.results.values(), *assigned])

    def _next(self, call: _codegen.CodegenCall, closure: int, graph: int | None) -> Next:
        tensors = self.tensors
        if closure < 0:
            selector, by_index, targets = call.choices[~closure]
            return Choice(
                tensors.operand(selector), by_index, tuple(self._next(call, target, graph) for target in targets)
            )
        target, arguments = call.branches[closure]
        passes = [
            (tensors.operand(argument), tensors[given])
            for given, argument in zip(self.plan.graphs[target].inputs, arguments, strict=True)
            if given in self.carried
        ]
        return Jump(self.region.index(target), _passes(passes))

    def _block(self, number: int) -> Block:
        tensors, graph = self.tensors, self.plan.graphs[number]
        steps = self.graph_steps(graph)
        tail = tail_of(self.plan, number)
        following: Next
        if tail is not None:
            following = self._next(tail, tail.closure, number)
        else:
            ends = [(tensors.operand(graph.outputs[place]), result) for place, result in self.results.items()]
            following = Jump(None, _passes(ends))
        if tail is None and not steps:
            passes = following.passes if isinstance(following, Jump) else ()
            steps += [copy_step(one.source, one.target) for one in passes if one.source is not None]
            following = Jump(None, tuple(one for one in passes if one.source is None))
        following = _saved(following, steps)
        if isinstance(following, Jump):
            following = _written_at_once(following, steps)
        read = [one.source for jump in jumps_of(following) for one in jump.passes if one.source is not None]
        outputs = list(dict.fromkeys([*read, *selectors_of(following)]))
        program = self.written.program(graph.name, [], outputs, steps)
        handed = {*self.results.values(), *(tensors[given] for given in self.carried)}
        return Block(graph.name, replace(program, outside=_outside(program, handed)), following)

    def _captured(self, nest: ControlFlowNest) -> list[Tensor]:
        """Returns the outer tensors that the nest reads, and constants that are copied between blocks."""
        own = {root(tensor) for tensor in (*nest.carried, *self.results.values())}
        read: list[Tensor] = list(selectors_of(nest.entry))
        jumps = [*jumps_of(nest.entry), *(jump for block in nest.blocks for jump in jumps_of(block.following))]
        read += [one.source for jump in jumps for one in jump.passes if one.source is not None]
        for block in nest.blocks:
            outputs = [output for step in block.program.steps for output in step.outputs]
            own |= {one for one in outputs if one.alias_of is None and one.storage is Storage.ACTIVATION}
            read += selectors_of(block.following)
            operands = [operand for step in block.program.steps for operand in step.inputs if operand is not None]
            read += [operand for operand in operands if root(operand).storage is not Storage.CONSTANT]
        return list(dict.fromkeys(root(tensor) for tensor in read if root(tensor) not in own))


def _assigned(nest: ControlFlowNest) -> list[Tensor]:
    """Returns the variables that the nest assigns."""
    steps = [step for block in nest.blocks for step in block.program.steps]
    outputs = [root(output) for step in steps for output in step.outputs]
    return [tensor for tensor in dict.fromkeys(outputs) if tensor.storage is Storage.VARIABLE]


def _passes(pairs: list[tuple[Tensor, Tensor]]) -> tuple[Pass, ...]:
    found = []
    for source, target in pairs:
        if root(source) is root(target) or not target.size:
            continue
        data = root(source).data if root(source).storage is Storage.CONSTANT else None
        is_zero = data is not None and not any(data.tobytes())
        found.append(Pass(None if is_zero else source, target))
    return tuple(found)


def _saved(following: Next, steps: list[Step]) -> Next:
    """Adds copies of sources that an earlier pass overwrites, because passes are done one after the other."""
    copies: dict[Tensor, Tensor] = {}

    def source_of(one: Pass, overwritten: set[Tensor]) -> Tensor | None:
        if one.source is None or root(one.source) not in overwritten:
            return one.source
        if root(one.source) not in copies:
            tensor = root(one.source)
            copy = Tensor(f"{tensor.name}_before", tensor.dtype, tensor.shape, Storage.ACTIVATION, tensor.size)
            copies[tensor] = copy
            steps.append(copy_step(tensor, copy))
        return copies[root(one.source)]

    def visit(one: Next) -> Next:
        if isinstance(one, Choice):
            return replace(one, targets=tuple(visit(target) for target in one.targets))
        overwritten: set[Tensor] = set()
        passes = []
        for move in one.passes:
            passes.append(Pass(source_of(move, overwritten), move.target))
            overwritten.add(root(move.target))
        return Jump(one.block, tuple(passes))

    return visit(following)


def _written_at_once(jump: Jump, steps: list[Step]) -> Jump:
    """Removes passes whose source can be computed directly in the memory of the target, because no step reads the old
    value later."""
    passes = list(jump.passes)
    for one in jump.passes:
        if one.source is None or one.source.size != one.target.size:
            continue
        made, target = root(one.source), root(one.target)
        maker = next((place for place, step in enumerate(steps) if made in step.outputs), None)
        if maker is None or made.storage is not Storage.ACTIVATION:
            continue
        others = [other for other in passes if other is not one]
        if any(other.source is not None and root(other.source) is target for other in others):
            continue
        later = [operand for step in steps[maker + 1 :] for operand in step.inputs if operand is not None]
        if any(root(operand) is target for operand in later) or not _may_overwrite(steps[maker], made, target):
            continue
        if any(root(output) is target for step in steps for output in step.outputs):
            continue
        made.alias_of = one.target
        passes.remove(one)
    return Jump(jump.block, tuple(passes))


def _may_overwrite(step: Step, made: Tensor, target: Tensor) -> bool:
    places = [place for place, operand in enumerate(step.inputs) if operand is not None and root(operand) is target]
    return not places or (places == [step.in_place] and step.outputs[0] is made)


def _outside(program: Program, handed: set[Tensor]) -> frozenset[Tensor]:
    """Returns the tensors of a block whose memory is outside of it: those that it does not compute, and those in
    `handed`, which other blocks read."""
    made = {output for step in program.steps for output in step.outputs if output.alias_of is None}
    made = {tensor for tensor in made if tensor.storage is Storage.ACTIVATION} - handed
    touched = [tensor for step in program.steps for tensor in (*step.inputs, *step.outputs) if tensor is not None]
    nested = [tensor for step in program.steps if step.nest is not None for tensor in step.nest.carried]
    roots = {root(tensor) for tensor in (*touched, *program.outputs)}
    return frozenset(tensor for tensor in roots - made - set(nested) if tensor.storage is not Storage.CONSTANT)
