"""The flags of `converter_lite`: which there are, and how a command line is split into them.

Syntax and wording follow MindSpore Lite's converter, so that scripts which read its output go on working.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.errors import UsageError
from mslite.converter.front_ends import FRONT_ENDS
from mslite.converter.program import without_keys
from mslite.converter.quoting import shortened
from mslite.converter.spelling import nearest


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


_FLAGS = (
    Flag(
        "accuracyBudget",
        "METRIC:VALUE",
        "what quantisation may cost: cosine:0.99, sqnr:25, top1:0.5, module:function:X",
    ),
    Flag("check", "on|off", "say what can be converted and what runs where, and write no model", boolean=True),
    Flag("checkReport", "FILE", "with --check: write a page with the graph drawn"),
    Flag("cluster", "ADDRESS", "search for --accuracyBudget on a Dask cluster, as tcp://host:8786"),
    Flag(
        "configFile",
        "FILE",
        "INI file: quantisation and calibration, [registry] plugin_path (Python plug-ins: custom operators, passes, formats; "
        "docs/extending.md), disable_fusion and fusion_blacklists, [dynamic_dims]",
    ),
    Flag("decryptKey", "HEX", "key of an encrypted MINDIR or .ms source: 32, 48 or 64 hexadecimal digits"),
    Flag("decryptMode", "AES-GCM|AES-CBC", "how the source is encrypted; a .ms file: AES-GCM", "AES-GCM"),
    Flag("device", "NAME", "older way to choose a target; not supported yet"),
    Flag(
        "digest",
        "on|off",
        "end the .ms file with its SHA-256, for benchmark --verifyDigest and mslite.verify_digest; other readers pass over it",
        "off",
        boolean=True,
    ),
    Flag("encryptKey", "HEX", "encrypt the .ms file with AES-GCM and this key: 32 hexadecimal digits"),
    Flag("encryption", "true|false", "false: no encryption, whatever --encryptKey says; nothing without a key", "true"),
    Flag(
        "fmk",
        "|".join(known.name for known in FRONT_ENDS),
        "kind of the source model, or a format of a plug-in; left out, the file tells",
    ),
    Flag("fp16", "on|off", "store float32 constants as float16", "off"),
    Flag("infer", "true|false", "load the result and run it once on random data", "false"),
    Flag("inputDataFormat", "NHWC|NCHW", "layout of 4-D inputs of the result (default NHWC)"),
    Flag("inputDataType", "FLOAT|INT8|UINT8|DEFAULT", "type of the inputs of the result", "DEFAULT"),
    Flag("inputShape", "name:1,3,224,224;...", "fix input shapes, in the layout of the source; -1 leaves a size open"),
    Flag("int64", "auto|int32", "int32: store every int64 tensor as int32, as MindSpore Lite does", "auto"),
    Flag("json", "on|off", "with --check: print JSON instead of tables", boolean=True),
    Flag(
        "memoryLimit",
        "MIB",
        "memory that the model may take while it is converted, in MiB, or with K, M, G or T (default: half of the machine's)",
    ),
    Flag("modelFile", "FILE", "the source model"),
    Flag("optimize", "none|general", "none: no fusions", "general"),
    Flag("optimizeTransformer", "true|false", "GPU transformer fusions; true is not supported yet", "false"),
    Flag("outputDataFormat", "NHWC|NCHW", "layout of 4-D outputs of the result (default: the source's)"),
    Flag("outputDataType", "FLOAT|INT8|UINT8|DEFAULT", "type of the outputs of the result", "DEFAULT"),
    Flag("outputFile", "PREFIX", "the result; .ms (or .mindir) is added unless it is there"),
    Flag("quantReport", "FILE", "write a page about the quantisation: errors, ranges, sizes, times"),
    Flag("saveType", "MINDIR_LITE|MINDIR", "a .ms file, or MindSpore's .mindir in the source's layout", "MINDIR_LITE"),
    Flag(
        "signature",
        "NAME",
        "which signature of a TFLITE file or a SavedModel to convert, under its names of inputs and outputs; needed where a file "
        "has signatures of several graphs; a wrong name lists those that there are",
    ),
    Flag(
        "target",
        "ethos-u55|ethos-u65|ethos-u85",
        "let vela, Arm's compiler, compile 8-bit sub-graphs for this NPU; with its size, as "
        "ethos-u55-64 (default: -128, -256, -256); [ethos_u] of --configFile has more; docs/ethosu.md",
    ),
    Flag(
        "targetVersion",
        "1.3|1.5|2.0|2.7",
        "make a file that this version of MindSpore Lite runs; what it lacks is written in what it has, or named",
    ),
    Flag(
        "trainMemory",
        "MIB",
        "with --trainModel=true: memory that training may take, in MiB, or with K, M, G or T; what does not fit is computed "
        "again; docs/train_model.md",
    ),
    Flag(
        "trainModel",
        "true|false",
        "make a model that trains: with the loss, the gradients and the optimiser of [train_param] in --configFile; "
        "docs/train_model.md",
        "false",
    ),
    Flag(
        "verify",
        "random|off|IN.npy,...",
        "compare the result with the source model, layer by layer; outputs of .pt2 programs are compared unless it is off",
        boolean=True,
        alone="random",
    ),
    Flag(
        "weightFile",
        "FILE",
        "the caffemodel of a Caffe model; --modelFile is its prototxt. Or what a plug-in's format has",
    ),
)
FLAGS = {flag.name: flag for flag in _FLAGS}

_EXAMPLES = """\
examples:
  converter_lite --modelFile=mobilenet.onnx --outputFile=mobilenet
      writes mobilenet.ms; 4-D inputs become NHWC
  converter_lite --fmk=ONNX --modelFile=bert.onnx --outputFile=bert --inputShape="ids:1,128;mask:1,128"
      fixes the shapes, so that shape arithmetic disappears
  converter_lite --modelFile=net.prototxt --weightFile=net.caffemodel --outputFile=net
      a Caffe model is two files
  converter_lite --modelFile=llm.tflite --outputFile=llm_decode --signature=decode
      one of several signatures; each is converted to a file of its own
  converter_lite --modelFile=net.tflite --outputFile=net --fp16=on
      halves the file; weights are stored as float16
  converter_lite --modelFile=net.onnx --outputFile=net --configFile=quant.cfg
      quantises, as [common_quant_param] in quant.cfg says; docs/quantization.md has examples
  converter_lite --modelFile=net.onnx --outputFile=net --configFile=plugin.cfg
      with operators that plug-ins know, as plugin_path of [registry] in plugin.cfg says; docs/extending.md has examples
  converter_lite --modelFile=net.onnx --outputFile=net --encryptKey=30313233343536373839414243444546
      a file that runs with this key only; docs/encryption.md has more
  converter_lite --modelFile=net.onnx --outputFile=net --verify
      also runs both models on the same random input and names the first layer that differs
  converter_lite --modelFile=net.onnx --outputFile=net --targetVersion=1.3
      a file for MindSpore Lite 1.3; without the flag the summary says which versions run the result
  converter_lite --modelFile=net_int8.tflite --outputFile=net --target=ethos-u55-128
      a file for a microcontroller with this NPU: mslite-codegen net.ms --target=cortex-m55 --output=net makes the program
  converter_lite --modelFile=net.onnx --outputFile=net_train --trainModel=true --inputShape=x:32,3,28,28 --configFile=train.cfg
      a file that trains in steps of 32 rows; train.cfg has [train_param] with lines such as loss=SparseSoftmaxCrossEntropy,
      optimizer=Adam, learning_rate=0.001; docs/train_model.md has more
  converter_lite --modelFile=net.onnx --check --checkReport=net.html
      writes no model: lists every node that stands in the way, or what each target makes of the model

exit status: 0 converted, 1 bad input, 2 wrong usage, 3 the model cannot be converted
"""


def usage() -> str:
    """The text of `--help`."""
    lines = ["", "usage: converter_lite [options]"]
    own = {"help": "print usage message; so does -h", "version": "print the version"}
    for name in sorted([*FLAGS, *own]):
        if name in own:
            lines.append(f" --{name} {own[name]}")
            continue
        flag = FLAGS[name]
        lines.append(f" --{name}={flag.values} {flag.help}")
    return "\n".join([*lines, "", _EXAMPLES])


def _meant(argument: str) -> str:
    near = nearest(argument.lstrip("-").partition("=")[0], (*FLAGS, "help", "version"))
    return f" Did you mean --{near}?" if near else " Flags are --name=value"


def split_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Flags and their values. Raises UsageError; `help` and `version` map to an empty text when they were asked for."""
    if not arguments:
        raise UsageError("Flag missing: --modelFile and --outputFile are needed")
    given: dict[str, str] = {}
    for raw in arguments:
        argument = raw.strip()
        if argument == "--":
            break
        if argument == "-h":
            argument = "--help"
        if not argument.startswith("--"):
            raise UsageError(f"Failed: flag {shortened(without_keys(argument))} is not valid.{_meant(argument)}")
        key, equals, value = argument[2:].partition("=")
        if key in ("help", "version"):
            given[key] = ""
            continue
        if not equals and key.startswith("no-") and key[3:] in FLAGS and FLAGS[key[3:]].boolean:
            key, value, equals = key[3:], "off", "="
        if key not in FLAGS:
            raise UsageError(f"{shortened(key)} is not a valid flag.{_meant(key)}")
        if key in given:
            raise UsageError(f"Failed: already parsed flag: {key}")
        if not value and FLAGS[key].boolean and not equals:
            value = FLAGS[key].alone
        if not value:
            raise UsageError(f"No value provided for non-boolean type: {key}")
        given[key] = value
    return given
