"""The text of `converter_lite --help`."""

from __future__ import annotations

from mslite.converter.flags import GROUPS, Flag
from mslite.converter.help_text import group

_EXAMPLES = """\
examples:
  converter_lite --modelFile=mobilenet.onnx --outputFile=mobilenet
      writes mobilenet.ms; 4-D inputs become NHWC
  converter_lite --fmk=ONNX --modelFile=bert.onnx --outputFile=bert --inputShape="ids:1,128;mask:1,128"
      fixes the input shapes, so that shape computations are folded
  converter_lite --modelFile=net.prototxt --weightFile=net.caffemodel --outputFile=net
      converts a Caffe model, which has two files
  converter_lite --modelFile=llm.tflite --outputFile=llm_decode --signature=decode
      converts one of several signatures
  converter_lite --modelFile=net.tflite --outputFile=net --fp16=on
      stores weights as float16, which halves the file
  converter_lite --modelFile=net.onnx --outputFile=net --configFile=quant.cfg
      quantizes with [common_quant_param] of quant.cfg; examples: docs/quantization.md
  converter_lite --modelFile=net.onnx --outputFile=net --configFile=plugin.cfg
      converts custom operators with plug-ins: plugin_path in [registry] of plugin.cfg; examples: docs/extending.md
  converter_lite --modelFile=net.onnx --outputFile=net --encryptKey=30313233343536373839414243444546
      encrypts the file: it runs with this key only; docs/encryption.md
  converter_lite --modelFile=net.onnx --outputFile=net --verify
      runs both models on the same random input and reports the first layer that differs
  converter_lite --modelFile=net.onnx --outputFile=net --targetVersion=1.3
      writes a file for MindSpore Lite 1.3; without the flag, the summary lists the versions that run the result
  converter_lite --modelFile=net_int8.tflite --outputFile=net --target=ethos-u55-128
      compiles for a microcontroller with this NPU; then generate C: mslite-codegen net.ms --target=cortex-m55
      --output=net
  converter_lite --modelFile=net.onnx --outputFile=net_train --trainModel=true --inputShape=x:32,3,28,28 --configFile=train.cfg
      writes a training model with batch size 32; train.cfg has [train_param] with lines such as
      loss=SparseSoftmaxCrossEntropy, optimizer=Adam, learning_rate=0.001; docs/train_model.md
  converter_lite --modelFile=net.onnx --check --checkReport=net.html
      reports unsupported nodes, or which targets can run the model; no model is written

exit status: 0 converted, 1 bad input, 2 wrong usage, 3 the model cannot be converted
"""


def usage() -> str:
    """Returns the help text: flags in groups, by task, and examples."""
    own = (("--help", "print this help, as -h does"), ("--version", "print the version"))
    groups = (
        group(title, ((f"--{flag.name}={flag.values}", _help(flag)) for flag in flags))
        for title, flags in GROUPS.items()
    )
    head = "usage: converter_lite --modelFile=FILE --outputFile=PREFIX [options]\n"
    return "\n".join(["", head, *groups, group("help", own), _EXAMPLES])


def _help(flag: Flag) -> str:
    if flag.required:
        return f"{flag.help} (required)"
    return f"{flag.help} ({flag.default})" if flag.default else flag.help
