"""Collects the data of the report from programs and memory plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.codegen.core import Core
from mslite.codegen.memory.usage import ArenaUsage, Kind, arena_usage
from mslite.codegen.program import COPY, FusedRows, Move, Step, Storage, Tensor, all_steps
from mslite.codegen.report.instructions import instructions
from mslite.codegen.report.measure import CodeSize, NotMeasured
from mslite.codegen.report.misra import NOT_CHECKED, Misra
from mslite.codegen.targets import Target


@dataclass(frozen=True)
class Layer:
    """One step of a program.

    `constants`, `in_use` (of the arena, while the step runs) and `workspace` are bytes. `instructions` is an estimate,
    None if there is none for the processor. `how`: notes on how the step runs. Compressed weights: `plain_constants` is
    their uncompressed size in bytes, `more_instructions` the cost of decompressing them; otherwise both are None.
    """

    name: str
    operator: str
    kernel: str
    shapes: str
    macs: int
    instructions: int | None
    constants: int
    in_use: int
    workspace: int
    is_peak: bool
    how: str
    plain_constants: int | None
    more_instructions: int | None


@dataclass(frozen=True)
class Constant:
    """A constant of a layer. `size`: bytes; `packed`: reordered for its kernel; `place`: C array in flash, or
    net<i>.bin."""

    layer: str
    name: str
    size: int
    packed: bool
    place: str


@dataclass(frozen=True)
class ModelReport:
    """Data of one model. Sizes are bytes; `activations` and `workspace` are those in use at the peak."""

    name: str
    inputs: list[str]
    outputs: list[str]
    arena: int
    activations: int
    workspace: int
    peak_layer: str
    constants: int
    macs: int
    instructions: int | None
    open_rounds: bool
    """Whether there are loops or branches. `macs` counts each step in them once; the number of instructions is
    unknown."""
    layers: list[Layer]
    constant_list: list[Constant]
    picture: ArenaUsage


@dataclass(frozen=True)
class ReportData:
    """Data of a project. Sizes are bytes."""

    project: str
    target: str
    models: list[ModelReport]
    measured: CodeSize | NotMeasured
    misra: Misra = NOT_CHECKED
    state: int | None = None
    """Training projects: bytes of parameters and optimizer state at the beginning of the arena, which all programs
    share. On microcontrollers, their initial values are in flash."""

    @property
    def code(self) -> int | None:
        return self.measured.code if isinstance(self.measured, CodeSize) else None

    @property
    def stack(self) -> int | None:
        return self.measured.stack if isinstance(self.measured, CodeSize) else None

    @property
    def ram(self) -> int:
        arenas = [model.arena for model in self.models]
        return sum(arenas) if self.state is None else max(arenas)

    @property
    def weights(self) -> int:
        return sum(model.constants for model in self.models) + (self.state or 0)


def gather(
    project: str,
    cores: Sequence[Core],
    target: Target,
    measured: CodeSize | NotMeasured,
    misra: Misra = NOT_CHECKED,
    state: int | None = None,
) -> ReportData:
    """Returns the data of the report on a project. `state`: see `ReportData.state`."""
    return ReportData(project, target.name, [_model(core, target) for core in cores], measured, misra, state)


def _model(core: Core, target: Target) -> ModelReport:
    picture = arena_usage(core.program, core.plan)
    layers = [
        layer
        for column, entry in enumerate(core.plan.order, 1)
        for layer in _layers(entry, column, core, target, picture)
    ]
    workspace = sum(
        one.size for one in picture.rectangles if one.kind is Kind.WORKSPACE and one.first <= picture.peak <= one.last
    )
    counts = [layer.instructions for layer in layers]
    return ModelReport(
        name=core.program.name,
        inputs=[shape_text(tensor) for tensor in core.program.inputs],
        outputs=[shape_text(tensor) for tensor in core.program.outputs],
        arena=core.arena_size,
        activations=picture.in_use[picture.peak] - workspace,
        workspace=workspace,
        peak_layer=picture.peak_layer,
        constants=core.constants_size,
        macs=sum(step.macs for step in all_steps(core.program)),
        instructions=None if None in counts else sum(count or 0 for count in counts),
        open_rounds=any(step.nest is not None for step in core.program.steps),
        layers=layers,
        constant_list=_constants(core),
        picture=picture,
    )


def _layers(
    entry: Step | FusedRows | Move, column: int, core: Core, target: Target, picture: ArenaUsage
) -> list[Layer]:
    if isinstance(entry, Move):
        return []
    in_use, peak = picture.in_use[column], column == picture.peak
    if isinstance(entry, Step):
        return [_layer(entry, target, in_use, peak, _sharing(entry, core)), *_inner(entry, target, in_use)]
    number = sum(isinstance(one, FusedRows) for one in core.plan.order[:column])
    return [_layer(step, target, in_use, peak, f"row by row (chain {number})") for step in entry.steps]


def _inner(step: Step, target: Target, in_use: int) -> list[Layer]:
    """Returns the steps of a loop or branch. The number of their runs is unknown before run time."""
    layers = []
    for block in step.nest.blocks if step.nest is not None else ():
        how = f"{'loop' if step.nest is not None and step.nest.loops else 'branch'} {step.name}: {block.name}"
        for inner in block.program.steps:
            layers += [_layer(inner, target, in_use, False, how), *_inner(inner, target, in_use)]
    return layers


def _layer(step: Step, target: Target, in_use: int, peak: bool, how: str) -> Layer:
    sources = [
        shape_text(operand)
        for operand in step.inputs
        if operand is not None and operand.storage is not Storage.CONSTANT
    ]
    results = [shape_text(output) for output in step.outputs]
    return Layer(
        name=step.name,
        operator=step.operator,
        kernel="memcpy" if step.kernel == COPY else step.kernel,
        shapes=f"{', '.join(sources)} → {', '.join(results)}",
        macs=step.macs,
        instructions=_instructions(step, target),
        constants=sum(size for _, size, _ in constants_of(step)),
        in_use=in_use,
        workspace=step.workspace,
        is_peak=peak,
        how=", ".join(filter(None, (how, step.note))),
        plain_constants=step.call.plain_constants if step.call is not None else None,
        more_instructions=step.call.more_instructions if step.call is not None else None,
    )


def _instructions(step: Step, target: Target) -> int | None:
    """Returns the estimated instructions of a step, with the decompression of its constants."""
    own = instructions(step, target.name)
    more = step.call.more_instructions if step.call is not None else None
    return None if own is None else own + (more or 0)


def _sharing(step: Step, core: Core) -> str:
    """Returns a note if the output reuses the memory of an input that is no longer needed, else an empty string."""
    offsets = core.plan.offsets
    if not step.outputs or step.outputs[0] not in offsets:
        return ""
    output = step.outputs[0]
    for operand in step.inputs:
        if operand is not None and operand in offsets:
            distance = offsets[operand] - offsets[output]
            if distance == 0 and step.in_place >= 0 and step.inputs[step.in_place] is operand:
                return "in place"
            if 0 <= distance < output.size and any(step.inputs[one.input] is operand for one in step.overlaps):
                return f"output overlaps input, {distance} bytes before it"
    return ""


def constants_of(step: Step) -> list[tuple[str, int, bool]]:
    """Returns name, size in bytes, and whether it is packed, of each constant of a step."""
    found = []
    for place, operand in enumerate(step.inputs):
        if place in step.packed:
            found.append((operand.name if operand is not None else f"operand {place}", len(step.packed[place]), True))
        elif operand is not None and operand.storage is Storage.CONSTANT and operand.size:
            found.append((operand.name, operand.size, False))
    return found


def _constants(core: Core) -> list[Constant]:
    place = f"net{core.index}.bin" if core.weights is not None else f"flash, weight{core.index}.c"
    found, seen = [], set()
    for step in all_steps(core.program):
        for name, size, packed in constants_of(step):
            if (name, size, packed) not in seen or packed:
                found.append(Constant(step.name, name, size, packed, place))
                seen.add((name, size, packed))
    return found


def shape_text(tensor: Tensor) -> str:
    """Returns data type and shape, for example int8[1x96x96x3]."""
    sizes = "x".join(str(size) for size in tensor.shape) or "1"
    return f"{tensor.dtype.name.lower()}[{sizes}]"
