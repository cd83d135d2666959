"""`mslite-sparse`: what to train of a model in so much memory."""

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
from mslite.codegen.sparse.run import Result, choose_updates
from mslite.codegen.sparse.trials import read_samples
from mslite.codegen.targets import TARGETS, target_named
from mslite.converter.argument_parser import CommandParser
from mslite.converter.config_file import read_config
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.atomic import write_together
from mslite.converter.program import ends_quietly
from mslite.converter.training import SECTION, SPARSE_SECTION, TrainSettings, as_text, train_settings

_EXAMPLES = """\
examples:
  mslite-sparse model.onnx --data=samples.npz --budget=256K --target=cortex-m4 --configFile=train.cfg --output=sparse.cfg
  mslite-codegen model.onnx --target=cortex-m4 --train --sparseUpdate=sparse.cfg --ramBudget=256K --output=project
  converter_lite --modelFile=model.onnx --outputFile=model --trainModel=true --configFile=sparse.cfg

samples.npz has an array for each input of the model, by its name, and one for the labels, `label`; as they are for --trainModel.
"""


def _parser() -> CommandParser:
    parser = CommandParser(
        "mslite-sparse",
        "Chooses which layers and channels of a model to train within a memory budget, by what they contribute on your data.",
        _EXAMPLES,
    )
    parser.add_argument(
        "model", type=Path, help=".ms, .tflite, .onnx or any other float model that converter_lite reads"
    )
    given = parser.add_argument_group("input")
    given.add_argument("--data", metavar="FILE.npz", type=Path, required=True, help="samples with their labels")
    given.add_argument(
        "--configFile", metavar="FILE", type=Path,
        help="a configuration whose [train_param] says how the device trains; batch_size is 1 without",
    )  # fmt: skip
    search = parser.add_argument_group("search")
    search.add_argument(
        "--budget", metavar="BYTES", type=bytes_of, required=True,
        help="bytes of the arena in which the model infers and trains (262144, 256K, 1M)",
    )  # fmt: skip
    search.add_argument(
        "--target", metavar="NAME", default="cortex-m4", help=f"one of {', '.join(TARGETS)} (cortex-m4)"
    )
    search.add_argument("--trialSteps", metavar="N", type=_count, default=200, help="steps of each trial (200)")
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FILE", type=Path, required=True, help="the configuration file to write")
    output.add_argument(
        "--report", metavar="FILE", type=Path, help="the page to write; without: beside the configuration, with .html"
    )
    parser.add_own()
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {1 << 20}")
    return int(text)


def _train_section(file: Path | None) -> Mapping[str, str]:
    """Raises ConversionError, UsageError."""
    sections = {} if file is None else read_config(file)
    if SPARSE_SECTION in sections:
        raise UsageError(f"--configFile={file}: [{SPARSE_SECTION}] is what is looked for: leave it out")
    return sections.get(SECTION, {})


def _settings(keys: Mapping[str, str]) -> TrainSettings:
    settings = train_settings(keys)
    for key in ("frozen", "batch_norm", "dropout"):
        if key in keys:
            raise UsageError(f"{key} in [{SECTION}] does not go with a choice of layers: leave it out")
    return replace(settings, batch=settings.batch or 1)


def configuration(keys: Mapping[str, str], result: Result) -> str:
    """[train_param] as it was given, and [sparse_update]."""
    given = [f"{key}={value}" for key, value in keys.items()]
    if "batch_size" not in keys:
        given.append("batch_size=1")
    layers = [f"{name}={as_text(update)}" for name, update in result.updates]
    return "\n".join([f"[{SECTION}]", *given, f"[{SPARSE_SECTION}]", *layers, ""])


def _write(path: Path, text: str) -> None:
    def write(file: IO[bytes]) -> None:
        file.write(text.encode())

    try:
        write_together({path: write})
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
            result = choose_updates(
                given.model, settings, samples, target, given.budget, given.trialSteps,
                lambda text: bar.update(task, description=text),
            )  # fmt: skip
        except RuntimeError as error:  # of a run of the model
            raise ConversionError(f"{given.model}: {error}", code=ReturnCode.GRAPH_FILE_ERROR) from error
    _write(given.output, configuration(keys, result))
    report = given.report or given.output.with_suffix(".html")
    write_page(report, report_page(result, given.model, given.data, given.output, target.name))
    print(f"trained    {', '.join(f'{name} ({as_text(update)})' for name, update in result.updates)}")
    print(
        f"arena      {grouped(result.needed.arena)} B of {grouped(result.budget)} B; training everything: {grouped(result.everything.arena)} B"
    )
    before, alone = result.candidates[:2]
    compared = "" if result.chosen is alone else f", {result.chosen.outcome.text} with what is chosen"
    print(
        f"{result.quantity:10} {before.outcome.text} as it is; after {result.longer} steps {alone.outcome.text} with the last layer "
        f"alone{compared or ', which is chosen'}"
    )
    print(f"written    {given.output}, {report}")


@ends_quietly("mslite-sparse")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns its exit status. Nothing is raised for anything that a user can cause."""
    return run_program(_parser(), arguments, "the choice of what to train", _run)


if __name__ == "__main__":
    sys.exit(main())
