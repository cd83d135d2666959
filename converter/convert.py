"""Converts a model: parses it, runs the passes, writes the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mslite.converter.build_check import BuildCheck
from mslite.converter.compatibility import VersionSupport, check_versions
from mslite.converter.detect import detect, other_format
from mslite.converter.dynamic_dims import Bound, check_dynamic_dims, memory_bound
from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.ethosu import Placement
from mslite.converter.ethosu.placement import compile_for_npu, round_scales
from mslite.converter.front_ends import FIXED_SIZES, parse_model, source_layout, with_training_of_file
from mslite.converter.memory_limit import memory_limited
from mslite.converter.mindir.graph import Module, Shape
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save, save_sealed
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.upgrade import WIRE_VERSION
from mslite.converter.options import FmkType, Options, SaveType
from mslite.converter.parsers.placeholder import blocked
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.kernel_check import nodes_without_kernels
from mslite.converter.passes.memory import peak_activation_bytes
from mslite.converter.passes.pipeline import Pass, Step, run_pipeline, steps_to_run
from mslite.converter.passes.plugin_passes import verify_plugin_module
from mslite.converter.registry.plugins import plugins
from mslite.converter.training import TrainingGraph, TrainSettings, disabled_in_training, store_in_place, trained
from mslite.converter.unsupported_nodes import complete
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.progress import Progress
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.rewrite.graph import Boundary
from mslite.quantizer.settings import QuantizerSettings

_INTEGERS = frozenset({DataType.INT8, DataType.UINT8})


@dataclass(frozen=True)
class Report:
    """The result of a conversion: files, sizes, operators before and after, notes."""

    framework: FmkType
    files: tuple[Path, ...]
    source_bytes: int
    result_bytes: int
    operators_before: Counter[str]
    operators_after: Counter[str]
    transposes: tuple[str, ...]
    """Names of the Transpose nodes that are left."""
    applied: dict[str, int]
    notes: tuple[str, ...]
    peak_bytes: int | None
    """Peak memory of the activations in bytes; None if a shape is unknown, or with an NPU, whose subgraphs have their
    own arenas."""
    bound: Bound | None = None
    """The peak memory at the largest sizes of [dynamic_dims], if that section is given."""
    quantization: QuantizeReport | None = None
    verdict: VersionSupport | None = None
    """Which versions of MindSpore Lite run the result; None for a `.mindir` file, with an NPU, and for a training
    model."""
    placement: Placement | None = None
    """Which nodes run on the NPU of `--target`."""
    images: tuple[tuple[str, Shape, Format], ...] = ()
    """The 4-D inputs: name, shape and layout in the result; -1 is a dynamic dimension."""


def settings_of(options: Options, framework: FmkType, layout: Format | None = None) -> Settings:
    """Returns the options that passes read. `layout` is the module's layout if it declares one: its inputs keep it."""
    return Settings(
        fusion=options.fusion,
        disabled_fusions=options.disabled_fusions | disabled_in_training(options.training),
        source_layout=source_layout(framework) if layout is None else layout,
        keep_layout=options.save_type is SaveType.MINDIR,
        input_shapes=options.input_shapes,
        fixed_sizes=framework in FIXED_SIZES,
        input_format=Format.NCHW if layout is Format.NCHW and options.input_format is None else options.input_format,
        output_format=options.output_format,
        input_type=options.input_type,
        output_type=options.output_type,
        int64_to_int32=options.int64_to_int32 or options.target is not None,
        float16_weights=options.float16_weights,
        training=options.training is not None,
        trained_constants=options.training.trained if options.training is not None else frozenset(),
        target=options.target,
    )


def _save(module: Module, layout: Format, options: Options, build_check: BuildCheck) -> list[Path]:
    """Writes the result in the requested format and returns the files.

    Raises OSError, and ConversionError if the format cannot hold the model or the runtime cannot build it.
    """
    if options.save_type is SaveType.MINDIR:
        from mslite.converter.mindir_export import save_mindir

        return save_mindir(module, layout, options.output_path)
    if options.encryption.encrypt_key is None:
        return save(module, options.output_path, digest=options.digest, check=build_check.run)
    try:
        return save_sealed(module, options.output_path, options.encryption.sealed)
    except ValueError as error:
        raise ConversionError(
            f"{options.output_path}: {error}; such a model cannot be encrypted. Leave out --encryptKey, or make the "
            "model smaller",
            code=ReturnCode.NOT_SUPPORTED,
        ) from None


def _bound(result: Module, options: Options, source_layout: Format) -> Bound | None:
    """Returns the peak memory bound of [dynamic_dims]; None without that section, or for a `.mindir` file, which is
    not run."""
    if not options.dynamic_dims or options.save_type is SaveType.MINDIR:
        return None
    return memory_bound(result, options, source_layout)


def count_operators(module: Module) -> Counter[str]:
    return Counter(node.op.name for graph in module.graphs for node in graph.nodes)


_PARSE, _NPU, _WRITE = "parse", "vela", "write"


def _before_finish(options: Options, quantize: Pass, train: Pass) -> list[Step]:
    """Returns the steps that run before the inputs and outputs of the model get their final types."""
    steps = []
    if options.quantizer.needs_quantizer:
        steps.append(
            Step("quantize", quantize, "needs the fused graph; may change model inputs and outputs to integers")
        )
    if options.training is not None:
        steps.append(Step("train", train, "gradients are derived from the optimized graph"))
    return steps


def _nothing(module: Module, context: Context) -> None:
    """A placeholder for a pass of which only the name is used."""


def stage_names(options: Options) -> list[str]:
    """Returns the names of all stages that a successful conversion passes to `progress`."""
    settings = settings_of(options, FmkType.MSLITE)  # which steps run does not depend on the source
    steps = steps_to_run(settings, _before_finish(options, _nothing, _nothing))
    return [_PARSE, *(step.name for step in steps), *([_NPU] if options.npu is not None else []), _WRITE]


def convert(
    options: Options,
    progress: Callable[[str], None] = lambda stage: None,
    samples: Progress | None = None,
) -> Report:
    """Converts a model and writes the result; on failure nothing is written.

    `progress` is called with the name of each stage before it begins, `samples` with the progress of calibration and
    searches.
    Registrations of plug-ins are valid for this conversion only. Raises ConversionError.
    """
    with plugins(options.plugins, options.config), memory_limited(options.memory_limit):
        return _convert(options, progress, samples)


def _quantize(module: Module, options: Options, samples: Progress | None) -> QuantizeReport:
    return quantize(
        module,
        options.quantizer,
        options.calibration,
        boundary=Boundary(options.input_type in _INTEGERS, options.output_type in _INTEGERS),
        progress=samples,
        checkpoint=options.output_path.with_suffix(".calibration.npz"),
    )


def _cannot_calibrate(module: Module, options: Options) -> ConversionError | None:
    """Returns the error for a model that calibration cannot run because of its Custom nodes; None if it has none."""
    nodes = [node for graph in module.graphs for node in graph.nodes if isinstance(node.op, Custom)]
    if not nodes:
        return None
    remedy = "Quantize the weights alone (quant_type=WEIGHT_QUANT), or load its kernel with mslite.load_plugin (docs/extending.md)"
    blockers = [
        Blocker(
            node.name,
            f"Custom {getattr(node.op, 'type', '')}",
            "no kernel for it is registered in this process",
            remedy,
        )
        for node in nodes
    ]
    message = f"{options.model_file}: calibration cannot run the model:"
    return ConversionError(message, blockers, ReturnCode.NOT_SUPPORTED, module)


def _check_kernels(module: Module, options: Options) -> None:
    """Raises ConversionError for a model with nodes that have no kernel: the runtime could load it, but not run it."""
    if options.target is not None or options.save_type is not SaveType.MINDIR_LITE:
        return  # another runtime runs the file
    blockers = nodes_without_kernels(module)
    if blockers:
        raise blocked(str(options.model_file), blockers, module)


def _plain(options: Options) -> Options:
    """Returns the options for a float32 model that computes the same as its source."""
    return replace(
        options,
        save_type=SaveType.MINDIR_LITE,
        input_type=None,
        output_type=None,
        float16_weights=False,
        target=None,
        npu=None,
        float32_scales=False,
        quantizer=QuantizerSettings(),
        calibration=None,
        training=None,
    )


def _is_plain(options: Options) -> bool:
    return options == _plain(options)


def _compare(module: Module, copy: Module | None, options: Options, framework: FmkType) -> list[str]:
    """Compares the outputs of a converted `torch.export` program with those of the program.

    Runs `module`, the converted model, or the float model that is made of `copy`, the module as it was parsed.
    Returns notes for the summary. Raises ConversionError if they differ.
    """
    if framework is not FmkType.PYTORCH or not options.compare:
        return []
    from mslite.converter.verify.torch_program import compare_with_program

    trains = options.training is not None
    if copy is not None:
        options, module = _plain(options), copy
        run_pipeline(module, settings_of(options, framework, module.layout))
        module.version = WIRE_VERSION
    return [compare_with_program(module, options, trains)]


def _convert(options: Options, progress: Callable[[str], None], samples: Progress | None) -> Report:
    options.encryption.check()
    if not options.output_path.parent.is_dir():  # checked before quantization, which may take hours
        raise ConversionError(
            f"{options.output_path}: the result cannot be written: the folder '{options.output_path.parent}' does "
            "not exist",
            code=ReturnCode.FILE_ERROR,
        )
    framework = options.framework if options.framework is not None else detect(options.model_file)
    progress(_PARSE)
    options = with_training_of_file(options, framework)
    try:
        module = parse_model(options, framework)
    except ConversionError as error:
        error.message += other_format(options.model_file, framework, error)
        layout = None if error.module is None else error.module.layout
        raise complete(error, options.model_file, None, settings_of(options, framework, layout)) from None
    verify_plugin_module(module, str(options.model_file))
    plain = (
        None if framework is not FmkType.PYTORCH or not options.compare or _is_plain(options) else copy_module(module)
    )
    check_dynamic_dims(module, options)
    before = count_operators(module)
    settings = settings_of(options, framework, module.layout)
    quantization: list[QuantizeReport] = []

    def quantize_module(module: Module, context: Context) -> None:
        try:
            quantization.append(_quantize(module, options, samples))
        except RuntimeError as error:
            problem = _cannot_calibrate(module, options)
            if problem is None:
                raise
            raise problem from error

    training: list[TrainingGraph] = []

    def train_module(module: Module, context: Context) -> None:
        training.append(trained(module, options.training or TrainSettings(), str(options.model_file), context))

    try:
        context = run_pipeline(module, settings, progress, _before_finish(options, quantize_module, train_module))
    except ConversionError as error:
        raise complete(error, options.model_file, module, settings) from None
    for graph in training:
        store_in_place(graph)
    _check_kernels(module, options)
    compared = _compare(module, plain, options, framework)
    placement = None
    if options.npu is not None or options.float32_scales:
        round_scales(module)
    if options.npu is not None:
        progress(_NPU)
        placement = compile_for_npu(module, options.npu)
    bound = _bound(module, options, settings.source_layout)
    module.version = WIRE_VERSION if options.target is None else options.target.wire
    verdict = check_versions(module)
    is_judged = options.save_type is SaveType.MINDIR_LITE and placement is None and options.training is None
    progress(_WRITE)
    build_check = BuildCheck(module, options, framework)
    try:
        files = _save(module, settings.source_layout, options, build_check)
    except OSError as error:
        raise ConversionError(
            f"{options.output_path}: the result cannot be written: {error.strerror or error}",
            code=ReturnCode.FILE_ERROR,
        ) from None
    for report in quantization:
        for complete_page in report.pages:
            complete_page(options.source_files, files)
    return Report(
        framework=framework,
        files=tuple(files),
        source_bytes=options.model_file.stat().st_size,
        result_bytes=sum(file.stat().st_size for file in files),
        operators_before=before,
        operators_after=count_operators(module),
        transposes=tuple(node.name for graph in module.graphs for node in graph.nodes if node.op.name == "Transpose"),
        applied=dict(context.applied),
        notes=(
            *module.notes,
            *context.notes,
            *compared,
            *(note for report in quantization for note in report.notes),
            *build_check.notes(files),
        ),
        peak_bytes=peak_activation_bytes(module.main) if placement is None else None,
        bound=bound,
        quantization=quantization[0] if quantization else None,
        verdict=verdict if is_judged else None,
        placement=placement,
        images=_images(module, settings),
    )


def _images(module: Module, settings: Settings) -> tuple[tuple[str, Shape, Format], ...]:
    """Returns the result's 4-D inputs, whose layout may be NCHW or NHWC."""
    layouts = {value: settings.source_layout if settings.keep_layout else value.format for value in module.main.inputs}
    return tuple(
        (value.name, tuple(max(size, -1) for size in value.shape), layout)
        for value, layout in layouts.items()
        if value.shape is not None and len(value.shape) == 4
    )
