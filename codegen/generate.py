"""Generates a C project from model files: lowering, memory plan, C files of the models, recorded test cases, build
files."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path

import mslite
from mslite.codegen.cmsis import with_cmsis_nn
from mslite.codegen.compress import compressed
from mslite.codegen.core import Core
from mslite.codegen.emit import EmitOptions, Replaceable, emit_cores, for_threads, variables_of
from mslite.codegen.ethosu import NPU_KERNEL
from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.lowering.padded import pad_non_max_suppressions
from mslite.codegen.lowering.read_model import as_ms
from mslite.codegen.lowering.replaceable_weights import ExposedWeights, expose_weights, restore_weights
from mslite.codegen.memory import Inputs, MemoryOptions, plan_memory
from mslite.codegen.memory.budget import Budgets, check_budgets
from mslite.codegen.program import Program, all_steps
from mslite.codegen.project import ProjectOptions, check_folder, record, write_project
from mslite.codegen.report import (
    NOT_CHECKED,
    CodeSize,
    NotMeasured,
    ReportData,
    check_misra,
    gather,
    measure,
    report_files,
)
from mslite.codegen.targets import Target
from mslite.codegen.training import TrainSource, generate_training
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.options import Options
from mslite.converter.text_shortening import shortened
from mslite.converter.training import TrainSettings

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """One model of a project."""

    model: Path
    """Model file, in any format that the converter reads."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """Input shapes by input name, in the layout of the source model."""
    name: str | None = None
    options: Options | None = None
    """Conversion options; the paths in them are ignored."""
    more_shapes: tuple[Mapping[str, Shape], ...] = ()
    """Further input shapes that the generated code has to support; not on microcontrollers."""


@dataclass(frozen=True)
class GenerateSettings:
    """Settings of a generated project."""

    target: Target
    folder: Path
    memory: MemoryOptions = field(default_factory=MemoryOptions)
    parallel: bool = False
    cases: int = 2
    """Recorded test cases of each model."""
    ram_budget: int | None = None
    """Largest allowed total size of the arenas, in bytes."""
    flash_budget: int | None = None
    """Largest allowed total size of constants and code, in bytes."""
    kernel_library: str | None = None
    """`cmsis-nn`: call CMSIS-NN for the layers where its results are bit-identical."""
    compress: bool = False
    """Whether constants are compressed in flash if that makes them smaller."""
    keep_weights: bool = False
    """Whether net<i>.bin begins with the unpacked weights, so that they can be replaced at run time; not on
    microcontrollers."""
    changeable: tuple[str, ...] = ()
    """Names of the replaceable weights; empty: all float32 weights."""
    debug: bool = False
    """Whether the program writes the output of each step to files; not on microcontrollers."""
    misra: bool = False
    """Whether to check the generated C with cppcheck's MISRA addon, if it is installed."""
    plugins: tuple[Path, ...] = ()
    """Runtime plug-ins; they compute custom operators while the test cases are recorded."""
    force: bool = False
    """Whether to write into a folder that holds files other than those of an earlier project."""
    pad_to_max_output_size: bool = False
    """Whether to pad the output of NonMaxSuppression to its largest number of boxes, with rows of -1."""
    prefix: str = ""
    """Prefix of all names that other code can see."""
    train: TrainSettings | None = None
    """Training settings; if they are given, the project also trains the model."""
    measure: bool = True
    """Whether to measure code size and stack with a compiler for the target, if one is installed."""


@dataclass(frozen=True)
class Generated:
    """Result of `generate`."""

    folder: Path
    cores: tuple[Core, ...]
    figures: ReportData
    notes: tuple[str, ...] = ()
    """Messages for the user."""


def generate(
    sources: Sequence[Source], settings: GenerateSettings, progress: Callable[[str], None] = lambda stage: None
) -> Generated:
    """Generates a project and writes it to `settings.folder`. Nothing is written if a model fails.

    `progress` is called with the name of each stage before it begins.

    Raises:
        ConversionError: if models cannot be read or are unsupported (one error with all reasons), if a budget is
            exceeded, or if the folder cannot be written.
        UsageError: if the folder holds other files.
    """
    check_folder(settings.folder, settings.force)
    _load(settings.plugins)
    if settings.train is not None:
        return _generate_training(sources, settings, settings.train)
    with ExitStack() as stack:
        progress("read")
        # One entry for each model and each of its shapes.
        shaped = [
            replace(source, shapes=shapes, more_shapes=())
            for source in sources
            for shapes in (source.shapes, *source.more_shapes)
        ]
        files = [stack.enter_context(as_ms(source.model, source.shapes, source.options)) for source in shaped]
        references = [_reference(stack, source, file) for source, file in zip(shaped, files, strict=True)]
        progress("lower")
        # If the model was converted, the shapes are in the .ms file already.
        shapes = [source.shapes if file == source.model else {} for source, file in zip(shaped, files, strict=True)]
        padding: list[str] = []
        if settings.pad_to_max_output_size:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mslite-codegen-")))
            files, padding = _pad_all(shaped, files, shapes, folder)
        opened = None
        if settings.keep_weights:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mslite-codegen-")))
            opened = [
                expose_weights(file, _made(folder / str(place)), settings.changeable, str(source.model))
                for place, (source, file) in enumerate(zip(shaped, files, strict=True))
            ]
        programs = _lower_all(shaped, files, shapes, settings.target, opened)
        groups = _groups(sources)
        notes = _notes(sources, programs, groups)
        if padding:
            firsts = (group[0] for group in groups if padding[group[0]])
            notes += tuple(f"{shaped[place].model.name}: {padding[place]}" for place in firsts)
        _check_shapes(sources, programs, groups)
        if settings.kernel_library is not None:
            programs = [with_cmsis_nn(program, settings.target) for program in programs]
        memory = memory_options(settings)
        if settings.compress:
            programs = [compressed(program, memory, settings.target.is_micro) for program in programs]
        if settings.parallel:
            programs = [for_threads(program) for program in programs]
        progress("plan")
        plans = [plan_memory(program, memory) for program in programs]
        progress("emit")
        emit = EmitOptions(
            weights_in_file=not settings.target.is_micro,
            parallel=settings.parallel,
            debug=settings.debug,
            changeable=tuple(Replaceable(one.weights, one.signature) for one in (opened[group[0]] for group in groups))
            if opened
            else (),
            origins=tuple(_origin(source) for source in sources),
        )
        planned = list(zip(programs, plans, strict=True))
        more = {index: [planned[place] for place in group[1:]] for index, group in enumerate(groups)}
        cores = emit_cores([planned[group[0]] for group in groups], emit, more)
        progress("measure")
        measured = _measured(cores, settings)
        misra = check_misra(cores) if settings.misra else NOT_CHECKED
        figures = gather(settings.folder.resolve().name, cores, settings.target, measured, misra)
        budgets = Budgets(settings.ram_budget, settings.flash_budget)
        largest = [max(group, key=lambda place: plans[place].size) for group in groups]
        check_budgets(
            budgets,
            [programs[place] for place in largest],
            [plans[place] for place in largest],
            memory,
            figures.weights,
            figures.code,
        )
        progress("record")
        cases = [
            [
                case
                for number in _tested(len(group))
                for case in record(
                    references[group[number]] or files[group[number]],
                    programs[group[number]],
                    settings.cases if len(group) == 1 else 1,
                    number=number,
                )
            ]
            for group in groups
        ]
    progress("write")
    project = ProjectOptions(
        settings.folder.resolve().name,
        settings.target,
        settings.parallel,
        settings.debug,
        emit.origins,
        settings.prefix,
        tuple(source.model.name for source in sources),
    )
    try:
        write_project(cores, cases, project, settings.folder, report_files(figures, cores, _model_files(sources)))
    except OSError as error:
        raise ConversionError(
            f"{settings.folder}: the project cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None
    return Generated(settings.folder, tuple(cores), figures, notes)


def _reference(stack: ExitStack, source: Source, file: Path) -> Path | None:
    """Converts a model for an NPU a second time, for the CPU only, to record its test cases. Returns None without an
    NPU.

    Raises UsageError for a .ms file: vela compiles operators for the NPU during conversion only."""
    options = source.options
    if options is None or options.npu is None:
        return None
    if file == source.model:
        raise UsageError(
            f"{source.model}: a .ms file cannot be compiled for an NPU; use converter_lite --target={options.npu.accelerator}"
        )
    return stack.enter_context(as_ms(source.model, source.shapes, replace(options, npu=None, float32_scales=True)))


def _notes(sources: Sequence[Source], programs: Sequence[Program], groups: Sequence[range]) -> tuple[str, ...]:
    return tuple(
        f"{source.model.name}: the first dimension of input '{shortened(name)}' is dynamic; 1 is assumed. Choose another size with --inputShape"
        for source, group in zip(sources, groups, strict=True)
        for name in programs[group[0]].assumed
    )


def _load(plugins: Sequence[Path]) -> None:
    for path in plugins:
        try:
            mslite.load_plugin(path)
        except RuntimeError as error:
            raise ConversionError(str(error), code=ReturnCode.FILE_ERROR) from None


_MAX_TESTED = 24
"""Largest number of shapes of a model that test cases are recorded for."""


def _groups(sources: Sequence[Source]) -> list[range]:
    """Returns for each model the indices of its shapes in the list of the shapes of all models."""
    ends = list(accumulate((1 + len(source.more_shapes) for source in sources), initial=0))
    return [range(first, end) for first, end in pairwise(ends)]


def _tested(count: int) -> list[int]:
    """Returns the indices of the shapes to test: at most _MAX_TESTED, evenly spaced from the first to the last."""
    if count <= _MAX_TESTED:
        return list(range(count))
    return sorted({round(step * (count - 1) / (_MAX_TESTED - 1)) for step in range(_MAX_TESTED)})


def _check_shapes(sources: Sequence[Source], programs: Sequence[Program], groups: Sequence[range]) -> None:
    """Raises ConversionError for a model with several shapes that has loops, branches or variables."""
    for source, group in zip(sources, groups, strict=True):
        if len(group) > 1 and any(step.nest is not None for place in group for step in programs[place].steps):
            raise ConversionError(
                f"{source.model}: several shapes are unsupported for models with loops or branches; give each symbol in "
                "dynamic_dim_params one value",
                code=ReturnCode.NOT_SUPPORTED,
            )
        if len(group) > 1 and variables_of(programs[group[0]]):
            raise ConversionError(
                f"{source.model}: several shapes are unsupported for models with variables; give each symbol in "
                "dynamic_dim_params one value",
                code=ReturnCode.NOT_SUPPORTED,
            )


def _generate_training(sources: Sequence[Source], settings: GenerateSettings, train: TrainSettings) -> Generated:
    """Generates a project that trains one model.

    Raises ConversionError for settings that training does not support."""
    wanted = {
        "several models": len(sources) > 1,
        "several shapes": any(source.more_shapes for source in sources),
        "threads": settings.parallel,
        "debug_mode": settings.debug,
        "compressed constants": settings.compress,
        "keep_original_weight (training keeps the original weights in net0.bin anyway)": settings.keep_weights,
        f"{settings.kernel_library}": settings.kernel_library is not None,
        "--npu": any(source.options is not None and source.options.npu is not None for source in sources),
        "--memory=min": settings.memory.fuse_rows,
        "--fastMemory": settings.memory.fast_size is not None,
        "--name": bool(settings.prefix),
        "--padToMaxOutputSize": settings.pad_to_max_output_size,
    }
    if any(wanted.values()):
        what = next(name for name, asked in wanted.items() if asked)
        raise ConversionError(f"training with {what} is unsupported; leave it out", code=ReturnCode.NOT_SUPPORTED)
    (one,) = sources
    source = TrainSource(one.model, train, one.shapes, one.options)
    budgets = Budgets(settings.ram_budget, settings.flash_budget)
    cores, figures = generate_training(
        source, settings.target, settings.folder, settings.cases, settings.measure, budgets
    )
    return Generated(settings.folder, cores, figures)


def _model_files(sources: Sequence[Source]) -> list[Path]:
    """Returns the model files, and the weight files of models that have one."""
    return [
        file
        for source in sources
        for file in (source.model, None if source.options is None else source.options.weight_file)
        if file is not None
    ]


def _origin(source: Source) -> str:
    """Returns a line for the generated files that names mslite's version and the model file."""
    digest = hashlib.sha256(source.model.read_bytes()).hexdigest() if source.model.is_file() else "unknown"
    return f"Generated by mslite {mslite.__version__} from {source.model.name}, SHA-256 {digest}."


def _measured(cores: Sequence[Core], settings: GenerateSettings) -> CodeSize | NotMeasured:
    if any(step.kernel == NPU_KERNEL for core in cores for step in all_steps(core.program)):
        return NotMeasured("the project does not include Arm's Ethos-U driver")
    if settings.kernel_library is not None:
        return NotMeasured(f"the project does not include {settings.kernel_library}")
    return measure(cores, settings.target) if settings.measure else NotMeasured("measuring was turned off")


def memory_options(settings: GenerateSettings) -> MemoryOptions:
    """Returns the settings' memory options, adapted to the target.

    On targets that are not microcontrollers, inputs stay in the caller's memory. With several threads, outputs may not
    overlap inputs, because other threads may still read them.
    """
    memory = settings.memory
    if not settings.target.is_micro and memory.inputs is Inputs.ARENA:
        memory = replace(memory, inputs=Inputs.CALLER)
    return replace(memory, overlap=False) if settings.parallel else memory


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _pad_all(
    sources: Sequence[Source], files: Sequence[Path], shapes: Sequence[Mapping[str, Shape]], folder: Path
) -> tuple[list[Path], list[str]]:
    """Writes padded copies of all models. Returns their paths and a note on each.

    Raises LoweringError, with the errors of all models."""
    padded = []
    errors: list[LoweringError] = []
    for place, (source, file) in enumerate(zip(sources, files, strict=True)):
        try:
            padded.append(pad_non_max_suppressions(file, _made(folder / str(place)), shapes[place], str(source.model)))
        except LoweringError as error:
            errors.append(error)
    _raise_all(errors)
    return [one.path for one in padded], [one.note for one in padded]


def _lower_all(
    sources: Sequence[Source],
    files: Sequence[Path],
    shapes: Sequence[Mapping[str, Shape]],
    target: Target,
    opened: Sequence[ExposedWeights] | None = None,
) -> list[Program]:
    """Returns the programs of all models. Raises LoweringError, with the errors of all models."""
    programs = []
    errors: list[LoweringError] = []
    for place, (source, file) in enumerate(zip(sources, files, strict=True)):
        path = opened[place].path if opened else file
        try:
            programs.append(lower_ms(path, target, shapes[place], source.name or source.model.stem, str(source.model)))
            if opened:
                restore_weights(programs[-1], opened[place].weights)
        except LoweringError as error:
            errors.append(error)
    _raise_all(errors)
    return programs


def _raise_all(errors: Sequence[LoweringError]) -> None:
    if errors:
        blockers = tuple(blocker for error in errors for blocker in error.blockers)
        raise LoweringError("\n".join(error.message for error in errors), blockers, errors[0].code)
