"""The flags of `converter_lite`: which there are, and how a command line is split into them.

Syntax and wording follow MindSpore Lite's converter, so that scripts which read its output go on working.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.command_words import Takes, canonical, is_bare, is_value, joined, meant_flag
from mslite.converter.errors import UsageError
from mslite.converter.front_ends import FRONT_ENDS
from mslite.converter.program import without_keys
from mslite.converter.quoting import shortened


@dataclass(frozen=True)
class Flag:
    """One flag; `values` is what `--help` shows after the `=`."""

    name: str
    values: str
    help: str
    default: str = ""
    boolean: bool = False
    """May stand without a value, which is `alone` then, and as `--no-<name>`."""
    alone: str = "on"
    required: bool = False


GROUPS = {
    "input": (
        Flag("modelFile", "FILE", "the source model", required=True),
        Flag(
            "fmk",
            "|".join(known.name for known in FRONT_ENDS),
            "kind of the source model, or a format of a plug-in; left out, the file tells",
        ),
        Flag(
            "weightFile",
            "FILE",
            "the caffemodel of a Caffe model; --modelFile is its prototxt. Or what a plug-in's format has",
        ),
        Flag(
            "inputShape", "name:1,3,224,224;...", "fix input shapes, in the layout of the source; -1 leaves a size open"
        ),
        Flag(
            "signature",
            "NAME",
            "which signature of a TFLITE file or a SavedModel to convert, under its names of inputs and outputs; needed where a file "
            "has signatures of several graphs; a wrong name lists those that there are",
        ),
    ),
    "output": (
        Flag("outputFile", "PREFIX", "the result; .ms (or .mindir) is added unless it is there", required=True),
        Flag(
            "configFile",
            "FILE",
            "INI file: quantization and calibration, [registry] plugin_path (Python plug-ins: custom operators, passes, formats; "
            "docs/extending.md), disable_fusion and fusion_blacklists, [dynamic_dims]",
        ),
        Flag(
            "saveType", "MINDIR_LITE|MINDIR", "a .ms file, or MindSpore's .mindir in the source's layout", "MINDIR_LITE"
        ),
        Flag("inputDataFormat", "NHWC|NCHW", "layout of 4-D inputs of the result (default NHWC)"),
        Flag("outputDataFormat", "NHWC|NCHW", "layout of 4-D outputs of the result (default: the source's)"),
        Flag("inputDataType", "FLOAT|INT8|UINT8|DEFAULT", "type of the inputs of the result", "DEFAULT"),
        Flag("outputDataType", "FLOAT|INT8|UINT8|DEFAULT", "type of the outputs of the result", "DEFAULT"),
        Flag("fp16", "on|off", "store float32 constants as float16", "off", boolean=True),
        Flag("optimize", "none|general", "none: no fusions", "general"),
        Flag(
            "target",
            "ethos-u55|ethos-u65|ethos-u85",
            "let vela, Arm's compiler, compile 8-bit subgraphs for this NPU; with its size, as "
            "ethos-u55-64 (default: -128, -256, -256); [ethos_u] of --configFile has more; docs/ethosu.md",
        ),
    ),
    "quantize": (
        Flag(
            "accuracyBudget",
            "METRIC:VALUE",
            "what quantization may cost: cosine:0.99, sqnr:25, top1:0.5, module:function:X",
        ),
        Flag("cluster", "ADDRESS", "search for --accuracyBudget on a Dask cluster, as tcp://host:8786"),
        Flag("quantReport", "FILE", "write a page about the quantization: errors, ranges, sizes, times"),
    ),
    "train": (
        Flag(
            "trainModel",
            "true|false",
            "make a model that trains: with the loss, the gradients and the optimizer of [train_param] in --configFile; "
            "docs/train_model.md",
            "false",
            boolean=True,
            alone="true",
        ),
        Flag(
            "trainMemory",
            "MIB",
            "with --trainModel=true: memory that training may take, in MiB, or with K, M, G or T; what does not fit is computed "
            "again; docs/train_model.md",
        ),
    ),
    "check": (
        Flag("check", "on|off", "say what can be converted and what runs where, and write no model", boolean=True),
        Flag("checkReport", "FILE", "with --check: write a page with the graph drawn"),
        Flag("json", "on|off", "with --check: print JSON instead of tables", boolean=True),
        Flag(
            "verify",
            "random|off|IN.npy,...",
            "compare the result with the source model, layer by layer; outputs of .pt2 programs are compared unless it is off",
            boolean=True,
            alone="random",
        ),
        Flag(
            "infer", "true|false", "load the result and run it once on random data", "false", boolean=True, alone="true"
        ),
    ),
    "security": (
        Flag("encryptKey", "HEX", "encrypt the .ms file with AES-GCM and this key: 32 hexadecimal digits"),
        Flag(
            "encryption",
            "true|false",
            "false: no encryption, whatever --encryptKey says; nothing without a key",
            "true",
            boolean=True,
            alone="true",
        ),
        Flag("decryptKey", "HEX", "key of an encrypted MINDIR or .ms source: 32, 48 or 64 hexadecimal digits"),
        Flag("decryptMode", "AES-GCM|AES-CBC", "how the source is encrypted; a .ms file: AES-GCM", "AES-GCM"),
        Flag(
            "digest",
            "on|off",
            "end the .ms file with its SHA-256, for benchmark --verifyDigest and mslite.verify_digest; other readers pass over it",
            "off",
            boolean=True,
        ),
        Flag(
            "memoryLimit",
            "MIB",
            "memory that the model may take while it is converted, in MiB, or with K, M, G or T (default: half of the machine's)",
        ),
    ),
    "compatibility": (
        Flag(
            "targetVersion",
            "1.3|1.5|2.0|2.7",
            "make a file that this version of MindSpore Lite runs; what it lacks is written in what it has, or named",
        ),
        Flag("int64", "auto|int32", "int32: store every int64 tensor as int32, as MindSpore Lite does", "auto"),
        Flag("device", "NAME", "older way to choose a target; refused: the result runs on the CPU"),
        Flag(
            "optimizeTransformer",
            "true|false",
            "GPU transformer fusions; true is refused",
            "false",
            boolean=True,
            alone="true",
        ),
    ),
}
FLAGS = {flag.name: flag for group in GROUPS.values() for flag in group}
_OWN = ("help", "version")


_MOVED = {
    "quantType": "quant_type",
    "bitNum": "bit_num",
    "quantWeightSize": "min_quant_weight_size",
    "quantWeightChannel": "min_quant_weight_channel",
}
"""Flags of MindSpore Lite 1.3 -> keys of [common_quant_param]."""
_TRUTH = {"true": "on", "false": "off"}


def _moved(key: str) -> str:
    return f"; it is {_MOVED[key]} in [common_quant_param] of --configFile" if key in _MOVED else ""


def _value(flag: Flag, text: str) -> str:
    """The value as the flag has it: case is no difference, and true is on."""
    allowed = flag.values.split("|")
    other = {**_TRUTH, **{to: word for word, to in _TRUTH.items()}}.get(text.lower())
    return canonical(text, allowed) or (other if flag.boolean and other in allowed else None) or text


def takes(name: str) -> Takes | None:
    """Which words that follow a flag can be its value; None: none, or there is no such flag."""
    flag = FLAGS.get(name)
    return None if flag is None else is_bare if flag.boolean else is_value


def split_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Flags and their values. Raises UsageError; `help` and `version` map to an empty text when they were asked for."""
    if not arguments:
        raise UsageError("Flag missing: --modelFile and --outputFile are needed")
    given: dict[str, str] = {}
    for raw in joined(arguments, takes):
        argument = "--help" if raw.strip() == "-h" else raw.strip()
        if argument == "--":
            break
        if not argument.startswith("--"):
            known = meant_flag(argument, (*FLAGS, *_OWN))
            raise UsageError(f"Failed: flag {shortened(without_keys(argument))} is not valid{known}")
        key, equals, value = argument[2:].partition("=")
        if key in _OWN:
            given[key] = ""
            continue
        if not equals and key.startswith("no-") and key[3:] in FLAGS and FLAGS[key[3:]].boolean:
            key, equals = key[3:], "="
            value = "false" if FLAGS[key].alone == "true" else "off"
        if key not in FLAGS:
            raise UsageError(
                f"{shortened(key)} is not a valid flag{_moved(key) or meant_flag(argument, (*FLAGS, *_OWN))}"
            )
        if key in given:
            raise UsageError(f"Failed: already parsed flag: {key}")
        if not value and FLAGS[key].boolean and not equals:
            value = FLAGS[key].alone
        if not value:
            raise UsageError(f"No value provided for non-boolean type: {key}. Give --{key}={FLAGS[key].values}")
        given[key] = _value(FLAGS[key], value)
    return given
