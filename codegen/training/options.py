"""How a model is trained, as the command line says it: `--train`, `--loss`, …"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from mslite.converter.config_file import read_config
from mslite.converter.errors import UsageError
from mslite.converter.training import SPARSE_SECTION, Loss, Optimizer, TrainSettings, settings_of_sections

_FLAGS = {
    "loss": f"what is made small: {', '.join(one.value for one in Loss)} ({Loss.SPARSE_SOFTMAX.value})",
    "optimizer": f"{', '.join(one.value for one in Optimizer)} ({Optimizer.SGD.value})",
    "learningRate": "of each step; it may be changed in between (0.01)",
    "momentum": "of Momentum and Nesterov (0.9)",
    "weightDecay": "how far each step draws weights to 0 (0)",
    "batchSize": "rows of a step, where the model was made for another number",
    "sparseUpdate": "a configuration whose [sparse_update] names the layers and channels that are trained; its [train_param] "
    "counts where no flag says otherwise",
    "frozen": "constants, or layers, that are not trained; * stands for any characters",
}

_VALUES = {
    "loss": "NAME",
    "optimizer": "NAME",
    "learningRate": "X",
    "momentum": "X",
    "weightDecay": "X",
    "batchSize": "N",
    "sparseUpdate": "FILE",
    "frozen": "NAME,...",
}


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    """`--train` and what belongs to it."""
    group = parser.add_argument_group("train")
    group.add_argument(
        "--train", action="store_true", help="the project also trains: a step is forward, backward, update"
    )
    for name, text in _FLAGS.items():
        group.add_argument(f"--{name}", metavar=_VALUES[name], help=text)


def settings_of_arguments(arguments: argparse.Namespace) -> TrainSettings | None:
    """None without `--train`. Raises UsageError."""
    given = {name: getattr(arguments, name) for name in _FLAGS if getattr(arguments, name) is not None}
    if not arguments.train:
        if given:
            raise UsageError(f"--{next(iter(given))} is for training: give --train, too")
        return None
    names = {"learningRate": "learning_rate", "weightDecay": "weight_decay", "batchSize": "batch_size"}
    sections: Mapping[str, Mapping[str, str]] = {}
    if "sparseUpdate" in given:
        file = Path(given.pop("sparseUpdate"))
        sections = read_config(file)
        if SPARSE_SECTION not in sections:
            raise UsageError(f"--sparseUpdate={file}: the file has no [{SPARSE_SECTION}]")
    return settings_of_sections(sections, keys={names.get(name, name): value for name, value in given.items()})
