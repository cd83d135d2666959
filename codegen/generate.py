"""From model files to a project folder: lowering, memory plan, core files, recorded cases, and the project around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from mslite.codegen.core import Core
from mslite.codegen.emit import EmitOptions, emit_cores
from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.lowering.read import as_ms
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.program import Plan, Program, Step
from mslite.codegen.project import ProjectOptions, record, write_project
from mslite.codegen.targets import Target
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.options import Options

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """One model of a project."""

    model: Path
    """Of any format that the converter reads."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """Of inputs, by name; in the source's layout."""
    name: str | None = None
    options: Options | None = None
    """Of the conversion; its paths are not looked at."""


@dataclass(frozen=True)
class GenerateSettings:
    """What a project is to be."""

    target: Target
    folder: Path
    memory: MemoryOptions = field(default_factory=MemoryOptions)
    parallel: bool = False
    cases: int = 2
    """Recorded runs of each model, for the project's own tests."""
    ram_budget: int | None = None
    """Bytes that arenas may take together."""
    flash_budget: int | None = None
    """Bytes that constants may take together."""


@dataclass(frozen=True)
class Generated:
    """What was written."""

    folder: Path
    cores: tuple[Core, ...]


def generate(
    sources: Sequence[Source], settings: GenerateSettings, progress: Callable[[str], None] = lambda stage: None
) -> Generated:
    """Writes the project; before everything is known to work nothing is written.

    Raises:
        ConversionError: for models that cannot be read, or become no program: all reasons at once; for a budget that is
            not kept; for a folder that cannot be written.
    """
    with ExitStack() as stack:
        progress("read")
        files = [stack.enter_context(as_ms(source.model, source.shapes, source.options)) for source in sources]
        progress("lower")
        programs = _lower_all(sources, files, settings.target)
        progress("plan")
        plans = [plan_memory(program, settings.memory) for program in programs]
        progress("emit")
        emit = EmitOptions(weights_in_file=not settings.target.is_micro)
        cores = emit_cores(list(zip(programs, plans, strict=True)), emit)
        check_budgets(programs, plans, cores, settings)
        progress("record")
        cases = [record(file, program, settings.cases) for file, program in zip(files, programs, strict=True)]
    progress("write")
    project = ProjectOptions(settings.folder.resolve().name, settings.target, settings.parallel)
    try:
        write_project(cores, cases, project, settings.folder)
    except OSError as error:
        raise ConversionError(
            f"{settings.folder}: the project cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None
    return Generated(settings.folder, tuple(cores))


def _lower_all(sources: Sequence[Source], files: Sequence[Path], target: Target) -> list[Program]:
    """The programs of all models, or one error with all that is wrong with any of them."""
    programs = []
    errors: list[LoweringError] = []
    for source, file in zip(sources, files, strict=True):
        shapes = source.shapes if file == source.model else {}
        try:
            programs.append(lower_ms(file, target, shapes, source.name or source.model.stem, str(source.model)))
        except LoweringError as error:
            errors.append(error)
    if errors:
        blockers = tuple(blocker for error in errors for blocker in error.blockers)
        raise LoweringError("\n".join(error.message for error in errors), blockers, errors[0].code)
    return programs


def check_budgets(
    programs: Sequence[Program], plans: Sequence[Plan], cores: Sequence[Core], settings: GenerateSettings
) -> None:
    """Raises ConversionError when arenas or constants take more than their budget; it names what is the peak."""
    lines = []
    ram = sum(plan.size for plan in plans)
    if settings.ram_budget is not None and ram > settings.ram_budget:
        lines.append(
            f"the arena takes {ram} bytes, {ram - settings.ram_budget} more than --ramBudget={settings.ram_budget}"
        )
        for program, plan in zip(programs, plans, strict=True):
            peak = getattr(plan.peak_step, "name", "")
            lines.append(f"  {program.name}: {plan.size} bytes" + (f", the peak is at '{peak}'" if peak else ""))
        if not settings.memory.fuse_rows:
            lines.append("--memory=min may help: it runs the first layers some rows at a time")
    flash = sum(core.constants_size for core in cores)
    if settings.flash_budget is not None and flash > settings.flash_budget:
        lines.append(
            f"constants take {flash} bytes, {flash - settings.flash_budget} more than --flashBudget={settings.flash_budget}"
        )
        for core in cores:
            largest = sorted(core.program.steps, key=lambda step: -_constant_bytes(step))[:3]
            parts = ", ".join(f"'{step.name}' {_constant_bytes(step)}" for step in largest if _constant_bytes(step))
            lines.append(f"  {core.program.name}: {core.constants_size} bytes, the largest in {parts}")
    if lines:
        raise ConversionError("\n  ".join(["the model does not fit", *lines]))


def _constant_bytes(step: Step) -> int:
    plain = sum(
        tensor.size
        for place, tensor in enumerate(step.inputs)
        if tensor is not None and tensor.data is not None and place not in step.packed
    )
    return plain + sum(len(data) for data in step.packed.values())
