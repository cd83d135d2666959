"""`mslite-codegen`: a model becomes a C99 project."""

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
from mslite.converter.program import ends_quietly
from mslite.converter.registry.plugins import plugin_files

_EXAMPLES = """\
examples:
  mslite-codegen model.tflite --target=cortex-m4 --output=project
  mslite-codegen model.ms --target=cortex-m55 --output=project --memory=min --ramBudget=32K
  mslite-codegen model.onnx --target=arm64 --output=project --inputShape=image:1,96,96,3
  mslite-codegen int8.tflite --target=cortex-m55 --npu=ethos-u55-128 --output=project
  mslite-codegen model.onnx --target=arm64 --output=project --train --optimizer=Adam --learningRate=0.001
  make -C project test        compares with the recorded runs, under QEMU where the target is another machine
"""


def _parser() -> CommandParser:
    parser = CommandParser(
        "mslite-codegen",
        "Writes a model as a C99 project that needs only a C compiler and its library.",
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
        help="weights of a Caffe model; without: the .caffemodel beside its .prototxt",
    )  # fmt: skip
    group.add_argument(
        "--signature", metavar="NAME", default="",
        help="which signature of a .tflite file or a SavedModel, where it has several (converter_lite --help)",
    )  # fmt: skip
    group.add_argument(
        "--inputShape", metavar="name:1,2,3;...", default="", help="shapes of inputs that the model leaves open"
    )
    group.add_argument(
        "--pluginPath", metavar="a.so;b.py", default="",
        help="plug-ins of the runtime, which compute custom operators when runs are recorded, and of the converter",
    )  # fmt: skip


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--output", metavar="FOLDER", type=_folder, required=True, help="the folder to write; its name is the project's"
    )
    group.add_argument("--target", metavar="NAME", default="x86", help=f"one of {', '.join(TARGETS)} (x86)")
    group.add_argument(
        "--force", action="store_true",
        help="write into a folder that holds other files than an earlier project's, too; that one is replaced whole",
    )  # fmt: skip
    group.add_argument(
        "--name", metavar="NAME", default="",
        help="before every symbol, file and target that others can see, so that several projects fit into one program; "
        "several models are named after their files",
    )  # fmt: skip
    group.add_argument("--cases", metavar="N", type=int, default=2, help="recorded runs for the project's tests (2)")
    group.add_argument(
        "--misra", action="store_true",
        help="check the project's C files with cppcheck's addon for MISRA C:2012, and print how many findings each rule has",
    )  # fmt: skip


def _add_memory(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--memory", metavar="default|min", type=one_of("default", "min"), default="default",
        help="min: layers are run some rows at a time where that needs less memory (default)",
    )  # fmt: skip
    group.add_argument(
        "--fastMemory", metavar="BYTES", type=bytes_of,
        help="bytes of fast memory: where the arena is larger, it comes in two pieces, what is accessed most in the fast one",
    )  # fmt: skip
    group.add_argument(
        "--ramBudget", metavar="BYTES", type=bytes_of, help="working memory; more is an error (4096, 64K, 1M)"
    )
    group.add_argument("--flashBudget", metavar="BYTES", type=bytes_of, help="constants and code; more is an error")
    group.add_argument(
        "--compress", action="store_true",
        help="weights of four bits, or mostly zero, lie in flash compressed and are unpacked when their layer runs",
    )  # fmt: skip


def _add_kernels(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kernelLibrary", metavar=KERNEL_LIBRARY, type=one_of(KERNEL_LIBRARY),
        help="calls of CMSIS-NN, which the project is built with, for the layers in which it computes the same bits",
    )  # fmt: skip
    group.add_argument(
        "--npu", metavar="NAME", default="",
        help="ethos-u55, ethos-u65 or ethos-u85, or with its size, as ethos-u55-64: vela compiles the 8-bit subgraphs for "
        "it (docs/ethosu.md); a .ms file gets it by converter_lite --target",
    )  # fmt: skip
    group.add_argument("--parallel", action="store_true", help="several threads; on x86 and Arm only")
    group.add_argument(
        "--padToMaxOutputSize", action="store_true",
        help="NonMaxSuppression gives as many rows as it can keep boxes, of -1 behind those that it finds; without, a model "
        "with it is refused",
    )  # fmt: skip


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty name is no folder")
    return Path(text)


def _settings(arguments: argparse.Namespace) -> GenerateSettings:
    target = target_named(arguments.target)
    if arguments.parallel and target.is_micro:
        raise UsageError("--parallel: microcontrollers have no threads")
    if arguments.kernelLibrary is not None and not target.is_micro:
        raise UsageError(f"--kernelLibrary={arguments.kernelLibrary} is for Cortex-M; {target.name} is none")
    if not 1 <= arguments.cases <= 1000:
        raise UsageError("--cases must lie in 1 ... 1000")
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
    """A model; the weights of a Caffe model lie beside it where nothing else is said."""
    if model.suffix != ".prototxt":
        options = Options(model, model, signature=signature, weight_file=weights, plugins=plugins, npu=npu)
        return Source(model, shapes, options=options if signature or plugins or npu is not None else None)
    beside = model.with_suffix(".caffemodel")
    if weights is None and not beside.exists():
        raise UsageError(f"{model}: --weightFile must name the model's weights; {beside.name} is not beside it")
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


@ends_quietly("mslite-codegen")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns its exit status. Nothing is raised for anything that a user can cause."""
    return run_program(_parser(), arguments, "the code generator", _run)


if __name__ == "__main__":
    sys.exit(main())
