"""Makes the two programs of a training project and plans their memory.

The arenas of both begin with the variables, at the same offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mslite.codegen.emit.constants import variables_of
from mslite.codegen.lowering import lower_ms
from mslite.codegen.memory import Inputs, MemoryOptions, check_plan, needed_memory, plan_memory
from mslite.codegen.program import COPY, Plan, Program, Step, Storage, Tensor
from mslite.codegen.targets import Target
from mslite.codegen.training.split_weights import split_partly_trained_weights
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_io import load, save
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.training import TrainingGraph

_ALIGNMENT = 16
_ELEMENTWISE = frozenset({"SGD", "ApplyMomentum", "Adam", "AdamWeightDecay"})
"""Operators whose kernels read each element before they write it, except for outputs with a single element."""


@dataclass(frozen=True)
class Variable:
    """A parameter or part of the optimizer state. `offset` (in the arena) and `size` are bytes."""

    name: str
    shape: tuple[int, ...]
    offset: int
    size: int
    is_parameter: bool


@dataclass(eq=False)
class Programs:
    """Programs for inference and for a training step, with their plans. `state`: initial contents of the first
    `len(state)` bytes of the arena, the variables."""

    inference: tuple[Program, Plan]
    training: tuple[Program, Plan]
    variables: tuple[Variable, ...]
    state: bytes


def inference_module(training: Path, losses: int) -> Module:
    """Returns the inference part of a training graph, without labels and losses. Weights are read from variables.

    `losses`: number of losses, the first outputs of the graph."""
    module = load(training)
    graph = module.main
    graph.outputs = graph.outputs[losses:]
    graph.nodes = [node for node in graph.nodes if node.op.name != "AssignVariable"]
    graph.nodes = live_nodes(graph)
    graph.inputs = [value for value in graph.inputs if value.users or value in graph.outputs]
    module.outputs = None
    return module


_MEMORY = MemoryOptions(inputs=Inputs.CALLER)


def _lowered(files: tuple[Path, Path], target: Target, name: str, source: str) -> tuple[Program, Program]:
    inference = lower_ms(files[0], target, name=name, source=source)
    training = lower_ms(files[1], target, name=f"{name}, training step", source=source)
    remove_variable_copies(training)
    update_early(training)
    return inference, training


def estimate_arena(files: tuple[Path, Path], target: Target, source: str) -> int:
    """Returns an estimate of the arena in bytes: the peak in the given order of steps. The memory plan may need
    slightly more or less, but takes longer to compute."""
    options = replace(_MEMORY, reorder=False)
    return max(needed_memory(program, options) for program in _lowered(files, target, "model", source))


def make_programs(graph: TrainingGraph, files: tuple[Path, Path], target: Target, name: str, source: str) -> Programs:
    """Lowers and plans both programs. `files`: `.ms` files of inference and of the training step.

    Raises LoweringError for nodes without a kernel for the target.
    """
    inference, training = _lowered(files, target, name, source)
    tensors = variables_of(training)
    places: dict[str, int] = {}
    end = 0
    trained = set(graph.parameters)
    for tensor in sorted(tensors, key=lambda one: one.name not in trained):
        places[tensor.name] = end
        end += tensor.size + -tensor.size % _ALIGNMENT
    state = bytearray(end)
    for tensor in tensors:
        assert tensor.data is not None
        at = places[tensor.name]
        state[at : at + tensor.size] = tensor.data.tobytes()
    variables = tuple(
        Variable(one.name, one.shape, places[one.name], one.size, one.name in trained)
        for one in sorted(tensors, key=lambda one: places[one.name])
    )
    planned = []
    for program in (inference, training):
        plan = place_state_first(plan_memory(replace(program, cut=None), _MEMORY), program, places, end)
        check_plan(program, plan, _MEMORY.alignment)
        for tensor in variables_of(program):  # initial values are in net0.bin
            tensor.data = np.zeros_like(tensor.data)
        planned.append((program, plan))
    return Programs(planned[0], planned[1], variables, bytes(state))


def save_modules(graph: TrainingGraph, folder: Path, target: Target) -> tuple[Path, Path]:
    """Writes the `.ms` files of inference and of the training step, adapted to the target. Returns their paths."""
    if target.is_micro:
        split_partly_trained_weights(graph.module.main)
    training, inference = folder / "training.ms", folder / "inference.ms"
    save(graph.module, training)
    save(inference_module(training, graph.losses), inference)
    return inference, training


def root(tensor: Tensor) -> Tensor:
    """Returns the tensor whose memory an alias uses."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def remove_variable_copies(program: Program) -> None:
    """Lets optimizer steps write their outputs directly to the variables and removes the copies at the end.

    This is possible if no later step reads the old value of the variable."""
    for copy in [step for step in program.steps if step.kernel == COPY]:
        value, variable = copy.inputs[0], copy.outputs[0]
        assert value is not None
        makers = [step for step in program.steps if any(output is value for output in step.outputs)]
        if len(makers) == 1 and _may_write(program, makers[0], value, variable, copy):
            makers[0].outputs = [variable if output is value else output for output in makers[0].outputs]
            makers[0].in_place = -1
            program.steps.remove(copy)


def _may_write(program: Program, maker: Step, value: Tensor, variable: Tensor, copy: Step) -> bool:
    place = next(number for number, output in enumerate(maker.outputs) if output is value)
    own = [number for number, operand in enumerate(maker.inputs) if operand is variable]
    at_once = maker.operator in _ELEMENTWISE and value.size > 4
    over = [maker.in_place, *(one.input for one in maker.overlaps if one.lead == 0)]
    if place == 0 and len(own) == 1 and own[0] in over:
        at_once = True
    later = program.steps[program.steps.index(maker) + 1 :]
    reads = [operand for step in later if step is not copy for operand in step.inputs if operand is not None]
    outside = [root(one) for one in (*program.outputs, *reads)]
    return at_once and value not in outside and variable not in outside and value.alias_of is None


def update_early(program: Program) -> None:
    """Moves optimizer steps forward, to where their gradient is computed and the old value is no longer read. The
    memory of each gradient is then free before the next gradient is computed."""
    made = {root(output): step for step in program.steps for output in step.outputs}
    readers: dict[Tensor, list[Step]] = {}
    for step in program.steps:
        for operand in step.inputs:
            if operand is not None:
                readers.setdefault(root(operand), []).append(step)
    results = {root(one) for one in program.outputs}
    updates: set[Step] = set()  # steps that lead to variables only: the backward pass and the optimizer
    for step in reversed(program.steps):
        targets = [root(output) for output in step.outputs]
        ends = [one.storage is Storage.VARIABLE or all(r in updates for r in readers.get(one, [])) for one in targets]
        if all(ends) and not results.intersection(targets):
            updates.add(step)
    place: dict[Step, int] = {}
    for number, step in enumerate(program.steps):
        before = [made[root(one)] for one in step.inputs if one is not None and root(one) in made]
        targets = [root(output) for output in step.outputs if root(output).storage is Storage.VARIABLE]
        before += [reader for one in targets for reader in readers.get(one, [])]
        after = [place[one] for one in before if one in place and one is not step]
        is_late = any(one not in place and one is not step for one in before)
        place[step] = max(after, default=0) if step in updates and not is_late else number
    program.steps.sort(key=lambda step: place[step])


def place_state_first(plan: Plan, program: Program, places: dict[str, int], size: int) -> Plan:
    """Returns the plan with the variables at the offsets `places` in the first `size` bytes and everything else after
    them.

    No tensor shares memory with a variable, so the bytes between two variables can be moved as one block.
    """
    taken = sorted((plan.offsets[one], one.size + -one.size % 8) for one in variables_of(program))

    def moved(at: int) -> int:
        return at + size - sum(length for begin, length in taken if begin < at)

    def place(tensor: Tensor) -> int:
        base = root(tensor)
        if base.storage is Storage.VARIABLE:
            return places[base.name] + plan.offsets[tensor] - plan.offsets[base]
        return moved(plan.offsets[tensor])

    offsets = {tensor: place(tensor) for tensor in plan.offsets}
    workspaces = {step: moved(at) for step, at in plan.workspaces.items()}
    ends = [size, *(at + tensor.size for tensor, at in offsets.items())]
    ends += [at + step.workspace for step, at in workspaces.items()]
    return Plan(plan.order, offsets, workspaces, max(ends))
