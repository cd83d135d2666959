"""Reads the code generator's settings from `[micro_param]` and `[model_param]` of a `--configFile`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from mslite.codegen.generate import GenerateSettings, Source
from mslite.codegen.targets import Target, TargetError, target_named
from mslite.converter.command_line import canonical
from mslite.converter.config_file import read_config, read_sections
from mslite.converter.errors import UsageError
from mslite.converter.flag_values import options_of
from mslite.converter.options import FmkType, Options
from mslite.converter.spelling import check_keys
from mslite.converter.training import BatchNorm, TrainSettings, settings_of_sections

MICRO, MODEL = "micro_param", "model_param"
_TARGETS = ("x86", "Cortex-M", "ARM32", "ARM64")
_MICRO_KEYS = (
    "enable_micro", "target", "codegen_mode", "support_parallel", "debug_mode", "save_path", "project_name", "inputs_shape",
    "dynamic_dim_params", "keep_original_weight", "changeable_weights_name", "plugin_path", "force",
    "pad_to_max_output_size",
)  # fmt: skip
_MODEL_KEYS = (
    "fmk", "modelFile", "weightFile", "inputShape", "inputDataFormat", "outputDataFormat", "inputDataType", "outputDataType",
    "fp16", "trainModel", "infer", "optimize", "NoFusion", "signature",
)  # fmt: skip
_MAXIMUM_SYMBOLS = 2
_MAXIMUM_COMBINATIONS = 256

Shape = tuple[int, ...]


def read_settings(given: Mapping[str, str], warn: Callable[[str], None]) -> tuple[list[Source], GenerateSettings]:
    """Returns the models and the project settings of a converter_lite command line with `--configFile`.

    `given`: flags by name; `warn` is called with warnings.

    Raises:
        UsageError: for an invalid value.
    """
    path = Path(given["configFile"])
    micro = read_config(path)[MICRO]
    check_keys(micro, MICRO, _MICRO_KEYS)
    target = _target(micro)
    shapes = _shapes(micro)
    if len(shapes) > 1 and target.is_micro:
        raise UsageError(
            f"INPUT ILLEGAL: dynamic_dim_params has {len(shapes)} combinations; only the targets x86, ARM32 and ARM64 support "
            "more than one: give each symbol one value, or list the model once for each shape"
        )
    parallel = _switch(micro, "support_parallel")
    if parallel and target.is_micro:
        raise UsageError(
            "INPUT ILLEGAL: support_parallel=true needs target x86, ARM32 or ARM64: microcontrollers have no threads"
        )
    debug = _switch(micro, "debug_mode")
    if debug and target.is_micro:
        raise UsageError(
            "INPUT ILLEGAL: debug_mode=true needs target x86, ARM32 or ARM64: it writes the outputs of layers to files"
        )
    keep = _switch(micro, "keep_original_weight")
    if keep and target.is_micro:
        raise UsageError(
            "INPUT ILLEGAL: keep_original_weight=true needs target x86, ARM32 or ARM64: on microcontrollers weights are in flash"
        )
    changeable = tuple(filter(None, (name.strip() for name in micro.get("changeable_weights_name", "").split(","))))
    if changeable and not keep:
        raise UsageError("INPUT ILLEGAL: changeable_weights_name needs keep_original_weight=true")
    models = [keys for name, keys in read_sections(path) if name == MODEL]
    if models and "modelFile" in given:
        raise UsageError(f"INPUT ILLEGAL: models are named by --modelFile and by [{MODEL}]: leave one of them out")
    folder = _folder(given, micro, several=bool(models))
    if not models:
        sources = [_source(given, warn, shapes)]
    else:
        sources = [_source(_flags(keys, path, folder), warn, shapes) for keys in models]
    train = _train(path, micro)
    return sources, GenerateSettings(
        target,
        folder,
        parallel=parallel,
        debug=debug,
        keep_weights=keep and train is None,  # training keeps the original weights anyway
        changeable=changeable,
        plugins=_plugins(micro, path.parent),
        force=_switch(micro, "force"),
        pad_to_max_output_size=_switch(micro, "pad_to_max_output_size"),
        train=train,
    )


def _plugins(micro: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Returns the runtime plug-ins. Paths that do not exist are relative to `folder`, that of the configuration
    file."""
    names = [Path(name) for name in micro.get("plugin_path", "").split(";") if name]
    return tuple(name if name.exists() else folder / name for name in names)


def _train(path: Path, micro: Mapping[str, str]) -> TrainSettings | None:
    mode = canonical(micro.get("codegen_mode", "Inference"), ("Inference", "Train"))
    if mode is None:
        raise UsageError(f"INPUT ILLEGAL: codegen_mode must be Inference|Train, not '{micro['codegen_mode']}'")
    if mode == "Inference":
        return None
    settings = settings_of_sections(read_config(path))
    if settings.batch_norm is BatchNorm.TRAIN or settings.dropout:
        raise UsageError(
            "INPUT ILLEGAL: batch_norm=Train and dropout=true in [train_param] need --trainModel=true: in generated C these "
            "layers run as in inference"
        )
    if settings.memory is not None:
        raise UsageError(
            "INPUT ILLEGAL: memory in [train_param] needs --trainModel=true: generated C does not support checkpointing"
        )
    return settings


def _switch(keys: Mapping[str, str], name: str) -> bool:
    value = canonical(keys.get(name, "false"), ("true", "false"))
    if value is None:
        raise UsageError(f"INPUT ILLEGAL: {name} must be true|false, not '{keys[name]}'")
    return value == "true"


def _target(micro: Mapping[str, str]) -> Target:
    name = micro.get("target", "x86")
    name = canonical(name, _TARGETS) or name
    if name not in _TARGETS and not name.lower().startswith("cortex-m"):
        raise UsageError(f"INPUT ILLEGAL: target must be {'|'.join(_TARGETS)}, or a processor such as cortex-m4")
    try:
        return target_named(name)
    except TargetError as error:
        raise UsageError(f"INPUT ILLEGAL: {error}") from error


def _folder(given: Mapping[str, str], micro: Mapping[str, str], several: bool) -> Path:
    if "outputFile" in given and not several:
        text = given["outputFile"]
        if not text or text.endswith("/"):
            raise UsageError("INPUT ILLEGAL: outputFile must name the project's folder and not end in '/'")
        return Path(text.removesuffix(".ms"))
    if not micro.get("project_name"):
        raise UsageError(f"INPUT MISSING: project_name in [{MICRO}] is missing; models in [{MODEL}] need it")
    return Path(micro.get("save_path") or ".") / micro["project_name"]


def _flags(keys: Mapping[str, str], path: Path, folder: Path) -> dict[str, str]:
    """Returns the keys of a [model_param] section as command-line flags of converter_lite."""
    check_keys(keys, MODEL, _MODEL_KEYS)
    if not keys.get("modelFile"):
        raise UsageError(f"INPUT MISSING: modelFile is missing in a section [{MODEL}]")
    flags = {key: value for key, value in keys.items() if key != "NoFusion"}
    if _switch(keys, "NoFusion"):
        flags["optimize"] = "none"
    return flags | {"outputFile": str(folder), "configFile": str(path)}


def _source(flags: Mapping[str, str], warn: Callable[[str], None], shapes: Sequence[Mapping[str, Shape]]) -> Source:
    options = _options(flags, warn)
    if options.encryption.encrypt_key is not None:
        raise UsageError("INPUT ILLEGAL: encryptKey is for .ms files; generated C cannot be encrypted")
    wanted = [{**one, **options.input_shapes} for one in shapes]
    return Source(
        options.model_file,
        wanted[0],
        options=replace(options, run_after_conversion=False),
        more_shapes=tuple(wanted[1:]),
    )


def _options(flags: Mapping[str, str], warn: Callable[[str], None]) -> Options:
    """Returns the conversion options of `flags`. Unlike conversion, the code generator accepts `fmk=MSLITE`, a .ms
    file."""
    if flags.get("trainModel") == "true":  # codegen_mode selects training
        flags = {key: value for key, value in flags.items() if key != "trainModel"}
    if flags.get("fmk") == "MSLITE":
        others = {key: value for key, value in flags.items() if key != "fmk"}
        return replace(options_of(others, warn), framework=FmkType.MSLITE)
    return options_of(flags, warn)


def _shapes(micro: Mapping[str, str]) -> list[dict[str, Shape]]:
    """Returns the input shapes of `inputs_shape`, for each combination of the symbols' values in
    `dynamic_dim_params`."""
    text = micro.get("inputs_shape", "")
    values = _symbol_values(micro.get("dynamic_dim_params", ""))
    shapes: dict[str, list[str]] = {}
    for part in filter(None, text.split(";")):
        name, colon, dims = part.rpartition(":")
        if not colon or not name or not re.fullmatch(r"\[[\w,]*\]", dims):
            raise UsageError(f"INPUT ILLEGAL: inputs_shape '{part}' must be name:[2,3] or name:[d0,3]")
        shapes[name] = list(filter(None, dims[1:-1].split(",")))
    used = {dim for dims in shapes.values() for dim in dims if not dim.isdecimal()}
    unknown = sorted(used - set(values))
    if unknown:
        raise UsageError(f"INPUT ILLEGAL: dynamic_dim_params has no values for {', '.join(unknown)}")
    if len(used) > _MAXIMUM_SYMBOLS:
        raise UsageError(
            f"INPUT ILLEGAL: inputs_shape has {len(used)} symbols; at most {_MAXIMUM_SYMBOLS} are supported"
        )
    combinations = list(product(*(sorted(values[symbol]) for symbol in sorted(used))))
    if len(combinations) > _MAXIMUM_COMBINATIONS:
        raise UsageError(
            f"INPUT ILLEGAL: dynamic_dim_params has {len(combinations)} combinations; at most {_MAXIMUM_COMBINATIONS} are supported"
        )
    chosen = [dict(zip(sorted(used), values, strict=True)) for values in combinations]
    return [{name: tuple(int(one.get(dim, dim)) for dim in dims) for name, dims in shapes.items()} for one in chosen]


def _symbol_values(text: str) -> dict[str, list[int]]:
    """Parses `d0:[1,3~6];d1:[1~8]` and returns the values of each symbol, sorted. Raises UsageError."""
    values: dict[str, list[int]] = {}
    for part in filter(None, text.split(";")):
        match = re.fullmatch(r"([A-Za-z_]\w*):\[(\d{1,9}(?:~\d{1,9})?(?:,\d{1,9}(?:~\d{1,9})?)*)\]", part)
        if match is None:
            raise UsageError(f"INPUT ILLEGAL: dynamic_dim_params '{part}' must be name:[1,3~6]")
        numbers: set[int] = set()
        for item in match[2].split(","):
            low, _, high = item.partition("~")
            first, last = int(low), int(high or low)
            if not 0 < first <= last or last - first > 1000:
                raise UsageError(f"INPUT ILLEGAL: dynamic_dim_params '{item}' is not a valid size or range")
            numbers.update(range(first, last + 1))
        values[match[1]] = sorted(numbers)
    return values
