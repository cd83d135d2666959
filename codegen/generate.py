"""From model files to a project folder: lowering, memory plan, core files, recorded cases, and the project around them."""

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
from mslite.codegen.lowering.padded import pad_suppressions
from mslite.codegen.lowering.read import as_ms
from mslite.codegen.lowering.weights import OpenWeights, close_weights, open_weights
from mslite.codegen.memory import Inputs, MemoryOptions, plan_memory
from mslite.codegen.memory.budget import Budgets, check_budgets
from mslite.codegen.program import Program, all_steps
from mslite.codegen.project import ProjectOptions, check_folder, record, write_project
from mslite.codegen.report import NOT_ASKED, Figures, Measured, Unmeasured, check_misra, gather, measure, report_files
from mslite.codegen.targets import Target
from mslite.codegen.training import TrainSource, generate_training
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.options import Options
from mslite.converter.quoting import shortened
from mslite.converter.training import TrainSettings

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
    more_shapes: tuple[Mapping[str, Shape], ...] = ()
    """Others that the model is to run with; not on microcontrollers."""


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
    """Bytes that constants and code may take together."""
    kernel_library: str | None = None
    """`cmsis-nn`: calls of that library, where it computes the same bits."""
    compress: bool = False
    """Whether constants lie in flash compressed where that makes them smaller."""
    keep_weights: bool = False
    """Whether net<i>.bin begins with the weights as the model has them, to be replaced at run time; not on microcontrollers."""
    changeable: tuple[str, ...] = ()
    """Names of the weights that are; none: all of float32."""
    debug: bool = False
    """Whether the program shows what each step computes; not on microcontrollers."""
    misra: bool = False
    """Whether cppcheck's MISRA addon, if it is there, looks at the core."""
    plugins: tuple[Path, ...] = ()
    """Plug-ins of the runtime: they compute custom operators when runs are recorded."""
    force: bool = False
    """Whether the folder may hold other files than those of an earlier project."""
    pad_to_max_output_size: bool = False
    """Whether NonMaxSuppression gives as many rows as it can keep boxes, of -1 behind those that it finds."""
    prefix: str = ""
    """Before the names of everything that other code can see of the project."""
    train: TrainSettings | None = None
    """Where it is given, the project trains the model, too."""
    measure: bool = True
    """Whether a compiler for the target, if there is one, is asked for the size of the code and the stack."""


@dataclass(frozen=True)
class Generated:
    """What was written."""

    folder: Path
    cores: tuple[Core, ...]
    figures: Figures
    notes: tuple[str, ...] = ()
    """What the user should know."""


def generate(
    sources: Sequence[Source], settings: GenerateSettings, progress: Callable[[str], None] = lambda stage: None
) -> Generated:
    """Writes the project; before everything is known to work nothing is written.

    Raises:
        ConversionError: for models that cannot be read, or become no program: all reasons at once; for a budget that is
            not kept; for a folder that cannot be written.
        UsageError: for a folder that holds other files.
    """
    check_folder(settings.folder, settings.force)
    _load(settings.plugins)
    if settings.train is not None:
        return _generate_training(sources, settings, settings.train)
    with ExitStack() as stack:
        progress("read")
        # Each model once for each of its shapes.
        shaped = [
            replace(source, shapes=shapes, more_shapes=())
            for source in sources
            for shapes in (source.shapes, *source.more_shapes)
        ]
        files = [stack.enter_context(as_ms(source.model, source.shapes, source.options)) for source in shaped]
        references = [_reference(stack, source, file) for source, file in zip(shaped, files, strict=True)]
        progress("lower")
        # A conversion has taken the shapes already.
        shapes = [source.shapes if file == source.model else {} for source, file in zip(shaped, files, strict=True)]
        padding: list[str] = []
        if settings.pad_to_max_output_size:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mslite-codegen-")))
            files, padding = _pad_all(shaped, files, shapes, folder)
        opened = None
        if settings.keep_weights:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mslite-codegen-")))
            opened = [
                open_weights(file, _made(folder / str(place)), settings.changeable, str(source.model))
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
        misra = check_misra(cores) if settings.misra else NOT_ASKED
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
    """Where an NPU computes a part of a model, the same model for the CPU, which records the runs; else None.

    Raises UsageError for a file of mslite, which nothing is compiled of any more."""
    options = source.options
    if options is None or options.npu is None:
        return None
    if file == source.model:
        raise UsageError(
            f"{source.model}: a .ms file gets its NPU when it is converted: converter_lite --target={options.npu.accelerator}"
        )
    return stack.enter_context(as_ms(source.model, source.shapes, replace(options, npu=None, single_scales=True)))


def _notes(sources: Sequence[Source], programs: Sequence[Program], groups: Sequence[range]) -> tuple[str, ...]:
    return tuple(
        f"{source.model.name}: the first size of input '{shortened(name)}' is open and taken as 1; --inputShape gives another"
        for source, group in zip(sources, groups, strict=True)
        for name in programs[group[0]].assumed
    )


def _load(plugins: Sequence[Path]) -> None:
    for path in plugins:
        try:
            mslite.load_plugin(path)
        except RuntimeError as error:
            raise ConversionError(str(error), code=ReturnCode.FILE_ERROR) from None


_MOST_TESTED = 24
"""Shapes of a model that a project has recorded runs of."""


def _groups(sources: Sequence[Source]) -> list[range]:
    """Places of each model's shapes in the list of all."""
    ends = list(accumulate((1 + len(source.more_shapes) for source in sources), initial=0))
    return [range(first, end) for first, end in pairwise(ends)]


def _tested(count: int) -> list[int]:
    """Numbers of shapes, the first and the last among them."""
    if count <= _MOST_TESTED:
        return list(range(count))
    return sorted({round(step * (count - 1) / (_MOST_TESTED - 1)) for step in range(_MOST_TESTED)})


def _check_shapes(sources: Sequence[Source], programs: Sequence[Program], groups: Sequence[range]) -> None:
    """Raises ConversionError for a model of several shapes that keeps something from run to run."""
    for source, group in zip(sources, groups, strict=True):
        if len(group) > 1 and any(step.nest is not None for place in group for step in programs[place].steps):
            raise ConversionError(
                f"{source.model}: the model has loops or branches, and cannot be generated for several shapes; give each "
                "symbol of dynamic_dim_params one value",
                code=ReturnCode.NOT_SUPPORTED,
            )
        if len(group) > 1 and variables_of(programs[group[0]]):
            raise ConversionError(
                f"{source.model}: the model keeps values from run to run, and cannot do so for several shapes; give each "
                "symbol of dynamic_dim_params one value",
                code=ReturnCode.NOT_SUPPORTED,
            )


def _generate_training(sources: Sequence[Source], settings: GenerateSettings, train: TrainSettings) -> Generated:
    """A project for one model that trains it."""
    wanted = {
        "several models": len(sources) > 1,
        "several shapes": any(source.more_shapes for source in sources),
        "threads": settings.parallel,
        "debug_mode": settings.debug,
        "compressed constants": settings.compress,
        "weights kept in their original form (net0.bin holds them so)": settings.keep_weights,
        f"{settings.kernel_library}": settings.kernel_library is not None,
        "--npu": any(source.options is not None and source.options.npu is not None for source in sources),
        "--memory=min": settings.memory.fuse_rows,
        "--fastMemory": settings.memory.fast_size is not None,
        "--name": bool(settings.prefix),
        "--padToMaxOutputSize": settings.pad_to_max_output_size,
    }
    if any(wanted.values()):
        what = next(name for name, asked in wanted.items() if asked)
        raise ConversionError(f"training with {what} is not built. Leave it out", code=ReturnCode.NOT_SUPPORTED)
    (one,) = sources
    source = TrainSource(one.model, train, one.shapes, one.options)
    budgets = Budgets(settings.ram_budget, settings.flash_budget)
    cores, figures = generate_training(
        source, settings.target, settings.folder, settings.cases, settings.measure, budgets
    )
    return Generated(settings.folder, cores, figures)


def _model_files(sources: Sequence[Source]) -> list[Path]:
    """The models, and their weights where they are apart."""
    return [
        file
        for source in sources
        for file in (source.model, None if source.options is None else source.options.weight_file)
        if file is not None
    ]


def _origin(source: Source) -> str:
    """What a core was made of, and by what, for its files to say."""
    digest = hashlib.sha256(source.model.read_bytes()).hexdigest() if source.model.is_file() else "unknown"
    return f"Generated by mslite {mslite.__version__} from {source.model.name}, SHA-256 {digest}."


def _measured(cores: Sequence[Core], settings: GenerateSettings) -> Measured | Unmeasured:
    if any(step.kernel == NPU_KERNEL for core in cores for step in all_steps(core.program)):
        return Unmeasured("Arm's Ethos-U driver is no part of the project")
    if settings.kernel_library is not None:
        return Unmeasured(f"{settings.kernel_library} is no part of the project")
    return measure(cores, settings.target) if settings.measure else Unmeasured("it was not asked for")


def memory_options(settings: GenerateSettings) -> MemoryOptions:
    """What the planner may do for a target.

    Where memory is plentiful, inputs stay as the caller gave them. Parts that run on several threads may not run over an
    input that other parts still read.
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
    """The padded copies of all models and what to know of them, or one error with all that is wrong with any of them."""
    padded = []
    errors: list[LoweringError] = []
    for place, (source, file) in enumerate(zip(sources, files, strict=True)):
        try:
            padded.append(pad_suppressions(file, _made(folder / str(place)), shapes[place], str(source.model)))
        except LoweringError as error:
            errors.append(error)
    _raise_all(errors)
    return [one.path for one in padded], [one.note for one in padded]


def _lower_all(
    sources: Sequence[Source],
    files: Sequence[Path],
    shapes: Sequence[Mapping[str, Shape]],
    target: Target,
    opened: Sequence[OpenWeights] | None = None,
) -> list[Program]:
    """The programs of all models, or one error with all that is wrong with any of them."""
    programs = []
    errors: list[LoweringError] = []
    for place, (source, file) in enumerate(zip(sources, files, strict=True)):
        path = opened[place].path if opened else file
        try:
            programs.append(lower_ms(path, target, shapes[place], source.name or source.model.stem, str(source.model)))
            if opened:
                close_weights(programs[-1], opened[place].weights)
        except LoweringError as error:
            errors.append(error)
    _raise_all(errors)
    return programs


def _raise_all(errors: Sequence[LoweringError]) -> None:
    if errors:
        blockers = tuple(blocker for error in errors for blocker in error.blockers)
        raise LoweringError("\n".join(error.message for error in errors), blockers, errors[0].code)
