"""Makes `Options` from the values of the flags; checks them in the order of MindSpore Lite's converter."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from mslite.converter.command_line import canonical
from mslite.converter.compatibility.versions import VERSIONS, Version
from mslite.converter.config_file import ConfigChoices, choices_of, read_config
from mslite.converter.encryption import Encryption, parse_key
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.ethosu import NpuSettings, npu_settings
from mslite.converter.ethosu.settings import SECTION as NPU_SECTION
from mslite.converter.flags import FLAGS
from mslite.converter.front_ends import FRONT_ENDS
from mslite.converter.memory_limit import parse_limit, parse_memory
from mslite.converter.mindir.graph import Shape
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.options import FmkType, Options, SaveType
from mslite.converter.spelling import nearest
from mslite.converter.text_shortening import quoted
from mslite.converter.training import TRAINS_ALL, TrainSettings, settings_of_sections
from mslite.quantizer.settings import AccuracyParam, Method, QuantizerSettings, read_section

_FOREIGN = ("OM",)
"""Values of MindSpore Lite's --fmk that mslite does not convert."""
_DATA_TYPES = {
    "FLOAT": DataType.FLOAT32,
    "FLOAT16": DataType.FLOAT16,
    "INT8": DataType.INT8,
    "UINT8": DataType.UINT8,
    "INT32": DataType.INT32,
    "INT64": DataType.INT64,
    "DEFAULT": None,
}
_OUTPUT_TYPES = ("FLOAT", "FLOAT16", "INT8", "UINT8", "DEFAULT")
MAX_DIMENSION = (1 << 31) - 1


class FlagError(UsageError):
    """A flag with an invalid value; `item` is MindSpore Lite's name of the check, as printed in `Init <item>
    failed.`"""

    def __init__(self, message: str, item: str) -> None:
        super().__init__(message)
        self.item = item


def _refuse(what: str, remedy: str) -> NoReturn:
    raise ConversionError(f"{what} is not supported yet. {remedy}", code=ReturnCode.NOT_SUPPORTED)


def _choice(given: Mapping[str, str], name: str, values: tuple[str, ...], item: str) -> str:
    value = given.get(name, FLAGS[name].default)
    if value == "" and name not in given:
        return value
    found = canonical(value, values)
    if found is None:
        raise FlagError(f"INPUT ILLEGAL: {name} must be {'|'.join(values)}, not {_typed(value, values)}", item)
    return found


def _typed(value: str, values: Sequence[str]) -> str:
    """Quotes an invalid value and suggests the allowed value that is closest to it."""
    near = nearest(value, values, 1)
    return f"{quoted(value)}{f'; did you mean {near}?' if near else ''}"


def parse_shapes(text: str) -> dict[str, Shape]:
    """Parses `name:1,2,3;other:4` to shapes by input name; -1 is a dynamic dimension. Raises FlagError.

    A name may contain `:`; the last one separates it from the dimensions.
    """
    item = "inputShape"
    shapes: dict[str, Shape] = {}
    for part in filter(None, text.split(";")):
        name, colon, dims = part.rpartition(":")
        if not colon or not name:
            raise FlagError(f"INPUT ILLEGAL: inputShape '{part}' must be name:1,2,3 with the name of an input", item)
        if name in shapes:
            raise FlagError(f"INPUT ILLEGAL: inputShape names '{name}' twice", item)
        try:
            shape = tuple(int(dim) for dim in dims.split(","))
        except ValueError:
            raise FlagError(
                f"INPUT ILLEGAL: inputShape of '{name}': '{dims}' must be integers separated by commas", item
            ) from None
        if any(not -1 <= dim <= MAX_DIMENSION for dim in shape):
            raise FlagError(
                f"INPUT ILLEGAL: inputShape of '{name}': dimensions must be 0 to {MAX_DIMENSION}, or -1 for a "
                "dynamic one",
                item,
            )
        shapes[name] = shape
    if not shapes:
        raise FlagError("INPUT ILLEGAL: inputShape must be name:1,2,3;name2:4,5", item)
    return shapes


def _data_type(given: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> DataType | None:
    value = given.get(name, "DEFAULT")
    found = canonical("FLOAT" if value.lower() == "float32" else value, allowed)
    if found is None:
        raise FlagError(f"INPUT INVALID: {name} must be {'|'.join(allowed)}, not {_typed(value, allowed)}", "data type")
    return _DATA_TYPES[found]


def _format(given: Mapping[str, str], name: str) -> Format | None:
    value = _choice(given, name, ("NHWC", "NCHW"), name)
    return Format[value] if value else None


def _framework(given: Mapping[str, str], plugins: Sequence[Path]) -> tuple[str, str]:
    """Returns the framework and the format name of --fmk. Raises FlagError and ConversionError.

    The format name is empty unless only a plug-in can read the format; it is looked up when the plug-ins are loaded.
    """
    known = [one.name for one in FRONT_ENDS]
    name = given.get("fmk", "")
    found = canonical(name, known)
    if not name or found is not None:
        return found or "", ""
    if plugins:
        return FmkType.THIRDPARTY.name, name
    if name.upper() == FmkType.THIRDPARTY.name:
        raise FlagError(
            "INPUT ILLEGAL: fmk=THIRDPARTY needs a plug-in that reads the file: plugin_path in [registry] of --configFile",
            "fmk",
        )
    if canonical(name, _FOREIGN) is not None:
        _refuse(f"--fmk={name}", f"This version converts {', '.join(known)} models")
    raise FlagError(f"INPUT ILLEGAL: fmk must be {'|'.join(known)}, not {_typed(name, known)}", "fmk")


def _target(given: Mapping[str, str], save_type: str) -> Version | None:
    """Returns the version of --targetVersion. Raises FlagError."""
    label = _choice(given, "targetVersion", tuple(VERSIONS), "targetVersion")
    if label and save_type == "MINDIR":
        raise FlagError("INPUT ILLEGAL: targetVersion applies to .ms files, not to saveType=MINDIR", "targetVersion")
    return VERSIONS[label] if label else None


def npu_of_flags(
    name: str, sections: Mapping[str, Mapping[str, str]], folder: Path | None = None
) -> NpuSettings | None:
    """Returns the NPU of --target, or of a configuration file in `folder`; None if there is no NPU. Raises
    FlagError."""
    try:
        return npu_settings(name, sections.get(NPU_SECTION, {}), folder)
    except UsageError as error:
        raise FlagError(str(error), "target") from None


def check_npu(options: Options) -> None:
    """Raises FlagError for options that cannot be combined with an NPU."""
    if options.target is not None:
        raise FlagError(
            "INPUT ILLEGAL: targetVersion cannot be combined with target: no version of MindSpore Lite runs "
            "subgraphs that were compiled for an NPU",
            "target",
        )
    if options.save_type is SaveType.MINDIR:
        raise FlagError("INPUT ILLEGAL: target applies to .ms files, not to saveType=MINDIR", "target")
    if options.run_after_conversion:
        raise FlagError(
            "INPUT ILLEGAL: infer runs the result, which needs the NPU; leave out infer or target", "target"
        )


def _signature(given: Mapping[str, str]) -> str:
    """Returns the name of --signature. Raises FlagError."""
    if given.get("signature", "-") == "":
        raise FlagError(
            "INPUT ILLEGAL: signature needs the name of a signature; an unknown name lists those of the file",
            "signature",
        )
    return given.get("signature", "")


def _digest(given: Mapping[str, str], save_type: str) -> bool:
    """Returns whether --digest is on. Raises FlagError."""
    asked = _choice(given, "digest", ("on", "off"), "digest") == "on"
    if asked and save_type == "MINDIR":
        raise FlagError("INPUT ILLEGAL: digest applies to .ms files, not to saveType=MINDIR", "digest")
    return asked


def _key(given: Mapping[str, str], name: str) -> bytes | None:
    try:
        return parse_key(name, given[name]) if name in given else None
    except UsageError as error:
        raise FlagError(str(error), "encryption") from None


def encryption_of_flags(given: Mapping[str, str], warn: Callable[[str], None]) -> Encryption:
    """Returns the keys. Without --encryptKey the result is not encrypted, even with --encryption=true. Raises
    FlagError."""
    asked = _choice(given, "encryption", ("true", "false"), "encryption") == "true"
    mode = _choice(given, "decryptMode", ("AES-GCM", "AES-CBC"), "encryption")
    encrypt_key = _key(given, "encryptKey")
    if encrypt_key is None and given.get("encryption") == "true":
        warn("--encryption=true without --encryptKey: the result is not encrypted")
    return Encryption(encrypt_key if asked else None, _key(given, "decryptKey"), mode)


def check_encrypted(options: Options) -> None:
    """Raises FlagError for options that cannot be combined with an encrypted result."""
    if options.save_type is SaveType.MINDIR:
        raise FlagError("INPUT ILLEGAL: encryptKey applies to .ms files, not to saveType=MINDIR", "encryption")
    if options.digest:
        raise FlagError(
            "INPUT ILLEGAL: digest is for unencrypted files; AES-GCM already detects changes of an encrypted file",
            "digest",
        )


def training_of_flags(given: Mapping[str, str], sections: Mapping[str, Mapping[str, str]]) -> TrainSettings | None:
    """Returns the settings of [train_param] and [sparse_update] with --trainModel=true, else None.

    Raises UsageError for an invalid setting, and FlagError for --trainMemory without --trainModel=true.
    """
    if _choice(given, "trainModel", ("true", "false"), "trainModel") == "false":
        if "trainMemory" in given:
            raise FlagError("INPUT ILLEGAL: trainMemory needs trainModel=true", "trainMemory")
        return None
    settings = settings_of_sections(sections, TRAINS_ALL)
    if "trainMemory" not in given:
        return settings
    if settings.memory is not None:
        raise FlagError(
            "INPUT ILLEGAL: both trainMemory and memory in [train_param] are given; leave out one of them",
            "trainMemory",
        )
    try:
        return dataclasses.replace(settings, memory=parse_memory(given["trainMemory"], "trainMemory"))
    except UsageError as error:
        raise FlagError(str(error), "trainMemory") from None


def check_training(options: Options, choices: ConfigChoices | None, given: Mapping[str, str]) -> None:
    """Raises FlagError for options that cannot be combined with a training model."""

    def refuse(what: str, reason: str) -> NoReturn:
        raise FlagError(f"INPUT ILLEGAL: trainModel=true cannot be combined with {what}: {reason}", "trainModel")

    if any(kind not in (None, DataType.FLOAT32) for kind in (options.input_type, options.output_type)):
        refuse("inputDataType and outputDataType", "a model trains in float32; leave them out")
    if options.float16_weights:
        refuse("fp16=on", "weights are trained in float32; leave it out")
    if options.save_type is SaveType.MINDIR:
        refuse("saveType=MINDIR", "the result is a .ms file; leave it out")
    if options.target is not None:
        refuse("targetVersion", "it rewrites operators for inference; leave it out")
    if options.npu is not None:
        refuse("target", "an NPU cannot train; leave it out")
    if choices is not None and choices.quantizer.needs_quantizer:
        refuse("[common_quant_param]", "train the float model, and quantize it afterwards")
    if given.get("check") == "on":
        refuse("check", "it examines inference; a conversion names operators without a gradient")
    if given.get("verify", "off") != "off":
        refuse("verify", "it compares inference; use it with --trainModel=false")


def memory_limit_of_flags(given: Mapping[str, str]) -> int | None:
    """Returns --memoryLimit in bytes; None if it is not given. Raises FlagError."""
    try:
        return parse_limit(given["memoryLimit"]) if "memoryLimit" in given else None
    except UsageError as error:
        raise FlagError(str(error), "memoryLimit") from None


def options_of(given: Mapping[str, str], warn: Callable[[str], None]) -> Options:
    """Checks all flags. Raises FlagError or UsageError for an invalid value, ConversionError for an unsupported one."""
    float16 = _choice(given, "fp16", ("on", "off"), "fp16") == "on"
    input_type = _data_type(given, "inputDataType", tuple(_DATA_TYPES))
    output_type = _data_type(given, "outputDataType", _OUTPUT_TYPES)
    choices = None
    folder = None
    if "configFile" in given:
        config = Path(given["configFile"])
        folder = config.parent
        choices = choices_of(read_config(config), warn, folder)
    plugins = choices.plugins if choices is not None else ()
    framework, format_name = _framework(given, plugins)
    shapes = parse_shapes(given["inputShape"]) if "inputShape" in given else {}
    input_format = _format(given, "inputDataFormat")
    output_format = _format(given, "outputDataFormat")
    encryption = encryption_of_flags(given, warn)
    transformer = _choice(given, "optimizeTransformer", ("true", "false"), "optimizeTransformer")
    infer = _choice(given, "infer", ("true", "false"), "infer")
    save_type = _choice(given, "saveType", ("MINDIR", "MINDIR_LITE"), "saveType")
    optimize = given.get("optimize", "general").lower()
    if optimize not in ("none", "general", "gpu_oriented") and optimize.partition(":")[0] != "ascend_oriented":
        raise FlagError(
            f"INPUT ILLEGAL: optimize must be none|general|gpu_oriented|ascend_oriented, not {quoted(optimize)}",
            "optimize",
        )
    int64 = _choice(given, "int64", ("auto", "int32"), "int64")
    for name in ("modelFile", "outputFile"):
        if not given.get(name):
            raise FlagError(f"INPUT MISSING: {name} is needed", name)
    if given["outputFile"].endswith("/"):
        raise FlagError("INPUT ILLEGAL: outputFile must not end in '/'", "outputFile")
    if framework == "CAFFE" and "weightFile" not in given and not plugins:
        raise FlagError("INPUT MISSING: weightFile is needed with fmk=CAFFE", "weightFile")
    if "weightFile" in given and framework not in ("", "CAFFE") and not plugins:
        raise FlagError("INPUT ILLEGAL: weightFile is allowed only with fmk=CAFFE", "weightFile")
    if transformer == "true":
        _refuse("--optimizeTransformer=true", "It applies to GPUs only")
    if save_type == "MINDIR" and (infer == "true" or given.get("verify", "off") != "off"):
        raise FlagError(
            "INPUT ILLEGAL: infer and verify need a .ms file; mslite does not run .mindir files", "saveType"
        )
    if optimize not in ("none", "general"):
        _refuse(f"--optimize={optimize}", "Use --optimize=general or none")
    if "device" in given:
        _refuse(f"--device={given['device']}", "Leave it out; the result runs on the CPU")
    options = Options(
        model_file=Path(given["modelFile"]),
        output_file=Path(given["outputFile"]),
        framework=FmkType[framework] if framework else None,
        format_name=format_name,
        signature=_signature(given),
        weight_file=Path(given["weightFile"]) if "weightFile" in given else None,
        save_type=SaveType[save_type],
        input_shapes=shapes,
        input_format=input_format,
        output_format=output_format,
        input_type=input_type,
        output_type=output_type,
        float16_weights=float16,
        fusion=optimize != "none",
        int64_to_int32=int64 == "int32",
        target=_target(given, save_type),
        npu=npu_of_flags(given.get("target", ""), {} if choices is None else choices.sections, folder),
        memory_limit=memory_limit_of_flags(given),
        run_after_conversion=infer == "true",
        digest=_digest(given, save_type),
        encryption=encryption,
        training=training_of_flags(given, {} if choices is None else choices.sections),
        compare=given.get("verify") != "off",
    )
    if options.training is not None:
        check_training(options, choices, given)
    if encryption.encrypt_key is not None:
        check_encrypted(options)
    if options.npu is not None:
        check_npu(options)
        if given.get("verify", "off") != "off":
            raise FlagError(
                "INPUT ILLEGAL: verify runs the result, which needs the NPU; leave out verify or target", "target"
            )
    if choices is not None:
        options = dataclasses.replace(
            options,
            plugins=plugins,
            config=choices.sections,
            fusion=options.fusion and choices.fusion,
            disabled_fusions=choices.disabled_fusions,
            dynamic_dims=choices.dynamic_dims,
            quantizer=choices.quantizer,
        )
    if options.quantizer.needs_quantizer and options.save_type is SaveType.MINDIR:
        _refuse("Quantization with --saveType=MINDIR", "Leave --saveType out: the result is a .ms file")
    if options.quantizer.method is not None and given.get("verify", "off") != "off":
        raise FlagError(
            "INPUT ILLEGAL: verify compares with the float model, from which a quantized one differs; "
            "debug_info_save_path in [common_quant_param] compares them layer by layer",
            "verify",
        )
    return dataclasses.replace(options, quantizer=_with_accuracy(options.quantizer, given))


_ACCURACY = {"accuracyBudget": "budget", "cluster": "cluster", "quantReport": "report"}
"""Flags → keys of [accuracy_param] that they override."""


def _with_accuracy(settings: QuantizerSettings, given: Mapping[str, str]) -> QuantizerSettings:
    """Returns the settings with the values of the accuracy flags. Raises FlagError without full quantization."""
    keys = {key: given[flag] for flag, key in _ACCURACY.items() if flag in given}
    if not keys:
        return settings
    if settings.method is not Method.FULL_QUANT:
        flag = next(flag for flag in _ACCURACY if flag in given)
        raise FlagError(f"INPUT ILLEGAL: {flag} needs quant_type=FULL_QUANT in [common_quant_param]", flag)
    asked = read_section(AccuracyParam, "accuracy_param", keys)
    chosen = {key: getattr(asked, key) for key in keys}
    return dataclasses.replace(settings, accuracy=dataclasses.replace(settings.accuracy, **chosen))
