"""`mslite-sparse`: selects the layers and channels of a model to train within a memory budget."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from rich.progress import Progress

from mslite.benchmark.page import grouped, write_page
from mslite.codegen.command import run_program
from mslite.codegen.flag_values import bytes_of
from mslite.codegen.sparse.page import report_page
from mslite.codegen.sparse.select_updates import Result, select_updates
from mslite.codegen.sparse.trials import read_samples
from mslite.codegen.targets import TARGETS, target_named
from mslite.converter.argument_parser import CommandParser
from mslite.converter.config_file import read_config
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.atomic import write_files_atomically
from mslite.converter.program_exit import handle_output_errors
from mslite.converter.training import SECTION, SPARSE_SECTION, TrainSettings, as_text, train_settings

_EXAMPLES = """\
examples:
  mslite-sparse model.onnx --data=samples.npz --budget=256K --target=cortex-m4 --configFile=train.cfg --output=sparse.cfg
  mslite-codegen model.onnx --target=cortex-m4 --train --sparseUpdate=sparse.cfg --ramBudget=256K --output=project
  converter_lite --modelFile=model.onnx --outputFile=model --trainModel=true --configFile=sparse.cfg

samples.npz has an array for each input of the model, with the input's name, and an array `label`; as for --trainModel.
"""


def _parser() -> CommandParser:
    parser = CommandParser(
        "mslite-sparse",
        "Selects the layers and channels of a model to train within a memory budget, by short trainings on your data.",
        _EXAMPLES,
    )
    parser.add_argument(
        "model", type=Path, help=".ms, .tflite, .onnx or any other float model that converter_lite reads"
    )
    given = parser.add_argument_group("input")
    given.add_argument("--data", metavar="FILE.npz", type=Path, required=True, help="samples and labels")
    given.add_argument(
        "--configFile", metavar="FILE", type=Path,
        help="configuration file with [train_param], the training settings of the device (default: batch_size=1)",
    )  # fmt: skip
    search = parser.add_argument_group("search")
    search.add_argument(
        "--budget", metavar="BYTES", type=bytes_of, required=True,
        help="largest allowed size of the arena for inference and training (262144, 256K, 1M)",
    )  # fmt: skip
    search.add_argument(
        "--target", metavar="NAME", default="cortex-m4", help=f"one of {', '.join(TARGETS)} (default: cortex-m4)"
    )
    search.add_argument(
        "--trialSteps", metavar="N", type=_count, default=200, help="training steps of each trial (default: 200)"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE", type=Path, required=True, help="configuration file to write")
    output.add_argument(
        "--report", metavar="FILE", type=Path, help="report page to write (default: the name of --output with .html)"
    )
    parser.add_own()
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {1 << 20}")
    return int(text)


def _train_section(file: Path | None) -> Mapping[str, str]:
    """Returns the keys of [train_param] in a configuration file, none without a file.

    Raises ConversionError, or UsageError if the file has a section [sparse_update]."""
    sections = {} if file is None else read_config(file)
    if SPARSE_SECTION in sections:
        raise UsageError(f"--configFile={file}: leave out [{SPARSE_SECTION}]: mslite-sparse writes it")
    return sections.get(SECTION, {})


def _settings(keys: Mapping[str, str]) -> TrainSettings:
    settings = train_settings(keys)
    for key in ("frozen", "batch_norm", "dropout"):
        if key in keys:
            raise UsageError(f"{key} in [{SECTION}] is unsupported with a sparse update: leave it out")
    return replace(settings, batch=settings.batch or 1)


def configuration(keys: Mapping[str, str], result: Result) -> str:
    """Returns the text of the configuration file: the given [train_param], and [sparse_update] with the result."""
    given = [f"{key}={value}" for key, value in keys.items()]
    if "batch_size" not in keys:
        given.append("batch_size=1")
    layers = [f"{name}={as_text(update)}" for name, update in result.updates]
    return "\n".join([f"[{SECTION}]", *given, f"[{SPARSE_SECTION}]", *layers, ""])


def _write(path: Path, text: str) -> None:
    def write(file: IO[bytes]) -> None:
        file.write(text.encode())

    try:
        write_files_atomically({path: write})
    except OSError as error:
        raise ConversionError(
            f"{path}: the configuration cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None


def _run(given: argparse.Namespace) -> None:
    target = target_named(given.target)
    keys = _train_section(given.configFile)
    settings = _settings(keys)
    samples = read_samples(given.data)
    with Progress(transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        try:
            result = select_updates(
                given.model, settings, samples, target, given.budget, given.trialSteps,
                lambda text: bar.update(task, description=text),
            )  # fmt: skip
        except RuntimeError as error:  # a trial failed
            raise ConversionError(f"{given.model}: {error}", code=ReturnCode.GRAPH_FILE_ERROR) from error
    _write(given.output, configuration(keys, result))
    report = given.report or given.output.with_suffix(".html")
    write_page(report, report_page(result, given.model, given.data, given.output, target.name))
    print(f"trained    {', '.join(f'{name} ({as_text(update)})' for name, update in result.updates)}")
    print(
        f"arena      {grouped(result.needed.arena)} B of {grouped(result.budget)} B; training everything: {grouped(result.everything.arena)} B"
    )
    before, alone = result.candidates[:2]
    compared = "" if result.chosen is alone else f", {result.chosen.outcome.text} with the selected layers"
    print(
        f"{result.quantity:10} {before.outcome.text} before training; after {result.longer} steps {alone.outcome.text} with the "
        f"last layer only{compared or ' (selected)'}"
    )
    print(f"written    {given.output}, {report}")


@handle_output_errors("mslite-sparse")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs mslite-sparse and returns its exit status. User errors are printed, not raised."""
    return run_program(_parser(), arguments, "the search for layers to train", _run)


if __name__ == "__main__":
    sys.exit(main())
