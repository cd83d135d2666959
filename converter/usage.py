"""What `converter_lite --help` prints."""

from __future__ import annotations

from mslite.converter.flags import GROUPS, Flag
from mslite.converter.help_text import group

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
      quantizes, as [common_quant_param] in quant.cfg says; docs/quantization.md has examples
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
      writes no model: lists every node that cannot be converted, or what each target makes of the model

exit status: 0 converted, 1 bad input, 2 wrong usage, 3 the model cannot be converted
"""


def usage() -> str:
    """Flags in groups, by task."""
    own = (("--help", "print this; so does -h"), ("--version", "print the version"))
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
