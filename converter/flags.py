"""Declares the flags of `converter_lite` and splits a command line into them.

Syntax and wording follow MindSpore Lite's converter, so that scripts that parse its output keep working.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.command_line import Takes, canonical, is_bare, is_value, joined, suggested_flag
from mslite.converter.errors import UsageError
from mslite.converter.front_ends import FRONT_ENDS
from mslite.converter.program_exit import without_keys
from mslite.converter.text_shortening import shortened


@dataclass(frozen=True)
class Flag:
    """A flag; `values` is the text that `--help` shows after the `=`."""

    name: str
    values: str
    help: str
    default: str = ""
    boolean: bool = False
    """Whether the flag may be given without a value, which is then `alone`, and as `--no-<name>`."""
    alone: str = "on"
    required: bool = False


GROUPS = {
    "input": (
        Flag("modelFile", "FILE", "the source model", required=True),
        Flag(
            "fmk",
            "|".join(known.name for known in FRONT_ENDS),
            "format of the source model, or a format of a plug-in; detected from the file if left out",
        ),
        Flag(
            "weightFile",
            "FILE",
            "the caffemodel of a Caffe model, whose prototxt is --modelFile; or a second file of a plug-in's format",
        ),
        Flag(
            "inputShape",
            "name:1,3,224,224;...",
            "fix input shapes, in the layout of the source model; -1 is a dynamic dimension",
        ),
        Flag(
            "signature",
            "NAME",
            "the signature of a TFLITE file or a SavedModel to convert, with its names of inputs and outputs; "
            "needed if a file has signatures of several graphs; an unknown name lists those of the file",
        ),
    ),
    "output": (
        Flag("outputFile", "PREFIX", "the result; .ms (or .mindir) is added if it is missing", required=True),
        Flag(
            "configFile",
            "FILE",
            "INI file: quantization and calibration, [registry] plugin_path (Python plug-ins: custom operators, passes, formats; "
            "docs/extending.md), disable_fusion and fusion_blacklists, [dynamic_dims]",
        ),
        Flag(
            "saveType",
            "MINDIR_LITE|MINDIR",
            "a .ms file, or a MindSpore .mindir file in the layout of the source model",
            "MINDIR_LITE",
        ),
        Flag("inputDataFormat", "NHWC|NCHW", "layout of 4-D inputs of the result (default NHWC)"),
        Flag(
            "outputDataFormat", "NHWC|NCHW", "layout of 4-D outputs of the result (default: that of the source model)"
        ),
        Flag("inputDataType", "FLOAT|INT8|UINT8|DEFAULT", "data type of the inputs of the result", "DEFAULT"),
        Flag("outputDataType", "FLOAT|INT8|UINT8|DEFAULT", "data type of the outputs of the result", "DEFAULT"),
        Flag("fp16", "on|off", "store float32 constants as float16", "off", boolean=True),
        Flag("optimize", "none|general", "none: no fusions", "general"),
        Flag(
            "target",
            "ethos-u55|ethos-u65|ethos-u85",
            "compile 8-bit subgraphs for this NPU with vela, Arm's compiler; may end with the number of MACs, such as "
            "ethos-u55-64 (default: -128, -256, -256); more settings: [ethos_u] of --configFile; docs/ethosu.md",
        ),
    ),
    "quantize": (
        Flag(
            "accuracyBudget",
            "METRIC:VALUE",
            "accuracy that quantization must keep: cosine:0.99, sqnr:25, top1:0.5, module:function:X",
        ),
        Flag("cluster", "ADDRESS", "search for --accuracyBudget on a Dask cluster, such as tcp://host:8786"),
        Flag("quantReport", "FILE", "write an HTML report about the quantization: errors, ranges, sizes, times"),
    ),
    "train": (
        Flag(
            "trainModel",
            "true|false",
            "write a training model: with the loss, the gradients and the optimizer of [train_param] in --configFile; "
            "docs/train_model.md",
            "false",
            boolean=True,
            alone="true",
        ),
        Flag(
            "trainMemory",
            "MIB",
            "with --trainModel=true: memory that training may use, in MiB, or with K, M, G or T; activations that "
            "do not fit are recomputed; docs/train_model.md",
        ),
    ),
    "check": (
        Flag(
            "check",
            "on|off",
            "report unsupported operators and which targets can run the model; no model is written",
            boolean=True,
        ),
        Flag("checkReport", "FILE", "with --check: write an HTML report with a drawing of the graph"),
        Flag("json", "on|off", "with --check: print JSON instead of tables", boolean=True),
        Flag(
            "verify",
            "random|off|IN.npy,...",
            "compare the result with the source model, layer by layer; outputs of .pt2 programs are compared unless "
            "this is off",
            boolean=True,
            alone="random",
        ),
        Flag(
            "infer", "true|false", "load the result and run it once on random data", "false", boolean=True, alone="true"
        ),
    ),
    "security": (
        Flag("encryptKey", "HEX", "key to encrypt the .ms file with, by AES-GCM: 32 hexadecimal digits"),
        Flag(
            "encryption",
            "true|false",
            "false: ignore --encryptKey. Without a key the result is never encrypted",
            "true",
            boolean=True,
            alone="true",
        ),
        Flag("decryptKey", "HEX", "key of an encrypted MINDIR or .ms source: 32, 48 or 64 hexadecimal digits"),
        Flag("decryptMode", "AES-GCM|AES-CBC", "encryption of the source; .ms files always use AES-GCM", "AES-GCM"),
        Flag(
            "digest",
            "on|off",
            "append the SHA-256 to the .ms file, for benchmark --verifyDigest and mslite.verify_digest; other "
            "readers ignore it",
            "off",
            boolean=True,
        ),
        Flag(
            "memoryLimit",
            "MIB",
            "memory that the conversion may use, in MiB, or with K, M, G or T (default: half of the machine's)",
        ),
    ),
    "compatibility": (
        Flag(
            "targetVersion",
            "1.3|1.5|2.0|2.7",
            "write a file that this version of MindSpore Lite runs; operators that it lacks are lowered, or "
            "reported as unsupported",
        ),
        Flag("int64", "auto|int32", "int32: store every int64 tensor as int32, as MindSpore Lite does", "auto"),
        Flag("device", "NAME", "MindSpore Lite's older flag for the target; not supported: the result runs on the CPU"),
        Flag(
            "optimizeTransformer",
            "true|false",
            "GPU transformer fusions; true is not supported",
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
    return f"; use {_MOVED[key]} in [common_quant_param] of --configFile" if key in _MOVED else ""


def _value(flag: Flag, text: str) -> str:
    """Returns the value in the flag's spelling; case is ignored, and true is the same as on."""
    allowed = flag.values.split("|")
    other = {**_TRUTH, **{to: word for word, to in _TRUTH.items()}}.get(text.lower())
    return canonical(text, allowed) or (other if flag.boolean and other in allowed else None) or text


def takes(name: str) -> Takes | None:
    """Returns a function that decides whether the next word can be the flag's value; None for an unknown flag."""
    flag = FLAGS.get(name)
    return None if flag is None else is_bare if flag.boolean else is_value


def split_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Returns the flags with their values; `help` and `version` have an empty value. Raises UsageError."""
    if not arguments:
        raise UsageError("Flag missing: --modelFile and --outputFile are needed")
    given: dict[str, str] = {}
    for raw in joined(arguments, takes):
        argument = "--help" if raw.strip() == "-h" else raw.strip()
        if argument == "--":
            break
        if not argument.startswith("--"):
            known = suggested_flag(argument, (*FLAGS, *_OWN))
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
                f"{shortened(key)} is not a valid flag{_moved(key) or suggested_flag(argument, (*FLAGS, *_OWN))}"
            )
        if key in given:
            raise UsageError(f"Failed: already parsed flag: {key}")
        if not value and FLAGS[key].boolean and not equals:
            value = FLAGS[key].alone
        if not value:
            raise UsageError(f"No value provided for non-boolean type: {key}. Give --{key}={FLAGS[key].values}")
        given[key] = _value(FLAGS[key], value)
    return given
