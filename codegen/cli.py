"""`mslite-codegen`: writes a model as a C99 project."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mslite.codegen.cmsis import KERNEL_LIBRARY
from mslite.codegen.command import run_program
from mslite.codegen.flag_values import bytes_of
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.memory import MemoryOptions
from mslite.codegen.project.naming import check_name
from mslite.codegen.report import print_report
from mslite.codegen.targets import TARGETS, target_named
from mslite.codegen.training.options import add_train_arguments, settings_of_arguments
from mslite.converter.argument_parser import CommandParser, one_of
from mslite.converter.errors import UsageError
from mslite.converter.ethosu import NpuSettings, npu_settings
from mslite.converter.flag_values import parse_shapes
from mslite.converter.mindir.graph import Shape
from mslite.converter.options import Options
from mslite.converter.program_exit import handle_output_errors
from mslite.converter.registry.plugins import plugin_files

_EXAMPLES = """\
examples:
  mslite-codegen model.tflite --target=cortex-m4 --output=project
  mslite-codegen model.ms --target=cortex-m55 --output=project --memory=min --ramBudget=32K
  mslite-codegen model.onnx --target=arm64 --output=project --inputShape=image:1,96,96,3
  mslite-codegen int8.tflite --target=cortex-m55 --npu=ethos-u55-128 --output=project
  mslite-codegen model.onnx --target=arm64 --output=project --train --optimizer=Adam --learningRate=0.001
  make -C project test        compares outputs with the recorded ones, in QEMU if the target is another processor
"""


def _parser() -> CommandParser:
    parser = CommandParser(
        "mslite-codegen",
        "Writes a model as a C99 project that needs only a C compiler and the C library.",
        _EXAMPLES,
    )
    parser.add_argument(
        "model", type=Path, nargs="+", help=".ms, .tflite, .onnx or any other model that converter_lite reads"
    )
    _add_input(parser.add_argument_group("input"))
    _add_output(parser.add_argument_group("output"))
    _add_memory(parser.add_argument_group("memory"))
    _add_kernels(parser.add_argument_group("kernels"))
    add_train_arguments(parser)
    parser.add_own()
    return parser


def _add_input(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--weightFile", metavar="FILE", type=Path,
        help="weights of a Caffe model (default: the .caffemodel file next to the .prototxt file)",
    )  # fmt: skip
    group.add_argument(
        "--signature", metavar="NAME", default="",
        help="signature of a .tflite file or a SavedModel with several (see converter_lite --help)",
    )  # fmt: skip
    group.add_argument(
        "--inputShape", metavar="name:1,2,3;...", default="", help="shapes of inputs with dynamic dimensions"
    )
    group.add_argument(
        "--pluginPath", metavar="a.so;b.py", default="",
        help="plug-ins: .so for the runtime, to compute custom operators for the recorded test cases; .py for the converter",
    )  # fmt: skip


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--output", metavar="FOLDER", type=_folder, required=True, help="folder to write; also names the project"
    )
    group.add_argument("--target", metavar="NAME", default="x86", help=f"one of {', '.join(TARGETS)} (default: x86)")
    group.add_argument(
        "--force", action="store_true",
        help="write into --output even if it holds other files; an earlier project in it is replaced in any case",
    )  # fmt: skip
    group.add_argument(
        "--name", metavar="NAME", default="",
        help="prefix of all symbols, files and build targets that other code can see, to link several projects into one "
        "program; if there are several models, their file names follow the prefix",
    )  # fmt: skip
    group.add_argument("--cases", metavar="N", type=int, default=2, help="recorded test cases per model (default: 2)")
    group.add_argument(
        "--misra", action="store_true",
        help="check the project's C files with cppcheck's MISRA C:2012 addon and print the number of violations per rule",
    )  # fmt: skip


def _add_memory(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--memory", metavar="default|min", type=one_of("default", "min"), default="default",
        help="min: run layers a few rows at a time if that needs less memory; default: run each layer as a whole",
    )  # fmt: skip
    group.add_argument(
        "--fastMemory", metavar="BYTES", type=bytes_of,
        help="size of the fast memory; a larger arena is split in two, with the most accessed tensors in the fast part",
    )  # fmt: skip
    group.add_argument(
        "--ramBudget", metavar="BYTES", type=bytes_of, help="largest allowed size of the arenas (4096, 64K, 1M)"
    )
    group.add_argument(
        "--flashBudget", metavar="BYTES", type=bytes_of, help="largest allowed size of constants and code (1M)"
    )
    group.add_argument(
        "--compress", action="store_true",
        help="compress weights in flash (int4 or sparse weights); each layer decompresses its weights when it runs",
    )  # fmt: skip


def _add_kernels(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kernelLibrary", metavar=KERNEL_LIBRARY, type=one_of(KERNEL_LIBRARY),
        help="call CMSIS-NN for the layers where its results are bit-identical; the project then needs CMSIS-NN to build",
    )  # fmt: skip
    group.add_argument(
        "--npu", metavar="NAME", default="",
        help="ethos-u55, ethos-u65 or ethos-u85, optionally with the number of MACs (ethos-u55-64): vela compiles the 8-bit "
        "subgraphs for it (docs/ethosu.md); for .ms files, use converter_lite --target instead",
    )  # fmt: skip
    group.add_argument("--parallel", action="store_true", help="run on several threads; x86, arm32 and arm64 only")
    group.add_argument(
        "--padToMaxOutputSize", action="store_true",
        help="pad the output of NonMaxSuppression to its largest number of boxes, with rows of -1; without this flag, "
        "models with this operator are unsupported",
    )  # fmt: skip


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the folder name is empty")
    return Path(text)


def _settings(arguments: argparse.Namespace) -> GenerateSettings:
    target = target_named(arguments.target)
    if arguments.parallel and target.is_micro:
        raise UsageError("--parallel needs --target=x86, arm32 or arm64: microcontrollers have no threads")
    if arguments.kernelLibrary is not None and not target.is_micro:
        raise UsageError(
            f"--kernelLibrary={arguments.kernelLibrary} needs a Cortex-M target; --target={target.name} is not one"
        )
    if not 1 <= arguments.cases <= 1000:
        raise UsageError("--cases must be in the range 1 to 1000")
    memory = MemoryOptions()
    if arguments.memory == "min":
        memory = memory.least()
    memory = replace(memory, fast_size=arguments.fastMemory)
    return GenerateSettings(
        target=target,
        folder=arguments.output,
        memory=memory,
        parallel=arguments.parallel,
        cases=arguments.cases,
        misra=arguments.misra,
        ram_budget=arguments.ramBudget,
        flash_budget=arguments.flashBudget,
        kernel_library=arguments.kernelLibrary,
        compress=arguments.compress,
        plugins=tuple(Path(name) for name in arguments.pluginPath.split(";") if name and not name.endswith(".py")),
        force=arguments.force,
        pad_to_max_output_size=arguments.padToMaxOutputSize,
        prefix=check_name(arguments.name) if arguments.name else "",
        train=settings_of_arguments(arguments),
    )


def _source(
    model: Path,
    shapes: Mapping[str, Shape],
    weights: Path | None,
    signature: str,
    plugins: tuple[Path, ...],
    npu: NpuSettings | None,
) -> Source:
    """Returns the Source for `model`. Caffe weights default to the .caffemodel file next to the .prototxt file.

    Raises UsageError if that file is missing."""
    if model.suffix != ".prototxt":
        options = Options(model, model, signature=signature, weight_file=weights, plugins=plugins, npu=npu)
        return Source(model, shapes, options=options if signature or plugins or npu is not None else None)
    beside = model.with_suffix(".caffemodel")
    if weights is None and not beside.exists():
        raise UsageError(f"{model}: {beside.name} is not in the same folder; name the weights with --weightFile")
    options = Options(model, model, signature=signature, weight_file=weights or beside, plugins=plugins, npu=npu)
    return Source(model, shapes, options=options)


def _run(given: argparse.Namespace) -> None:
    settings = _settings(given)
    shapes = parse_shapes(given.inputShape) if given.inputShape else {}
    plugins = plugin_files(";".join(name for name in given.pluginPath.split(";") if name.endswith(".py")))
    npu = npu_settings(given.npu, {})
    sources = [_source(model, shapes, given.weightFile, given.signature, plugins, npu) for model in given.model]
    generated = generate(sources, settings)
    print_report(generated.figures)
    for note in generated.notes:
        print(f"note: {note}")
    print(f"written: {generated.folder}")


@handle_output_errors("mslite-codegen")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs mslite-codegen and returns its exit status. User errors are printed, not raised."""
    return run_program(_parser(), arguments, "the code generator", _run)


if __name__ == "__main__":
    sys.exit(main())
