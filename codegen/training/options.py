"""Command-line flags for training: `--train`, `--loss`, …"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from mslite.converter.config_file import read_config
from mslite.converter.errors import UsageError
from mslite.converter.training import SPARSE_SECTION, Loss, Optimizer, TrainSettings, settings_of_sections

_FLAGS = {
    "loss": f"loss: {', '.join(one.value for one in Loss)} (default: {Loss.SPARSE_SOFTMAX.value})",
    "optimizer": f"optimizer: {', '.join(one.value for one in Optimizer)} (default: {Optimizer.SGD.value})",
    "learningRate": "initial learning rate; the program can change it between steps (default: 0.01)",
    "momentum": "momentum, for Momentum and Nesterov (default: 0.9)",
    "weightDecay": "weight decay (default: 0)",
    "batchSize": "batch size of a training step (default: that of the model)",
    "sparseUpdate": "configuration file whose [sparse_update] names the layers and channels to train; flags override its "
    "[train_param]",
    "frozen": "constants or layers that are not trained; * matches any characters",
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
    """Adds `--train` and the flags of training."""
    group = parser.add_argument_group("train")
    group.add_argument("--train", action="store_true", help="generate a project that also trains the model")
    for name, text in _FLAGS.items():
        group.add_argument(f"--{name}", metavar=_VALUES[name], help=text)


def settings_of_arguments(arguments: argparse.Namespace) -> TrainSettings | None:
    """Returns the training settings, or None without `--train`. Raises UsageError."""
    given = {name: getattr(arguments, name) for name in _FLAGS if getattr(arguments, name) is not None}
    if not arguments.train:
        if given:
            raise UsageError(f"--{next(iter(given))} needs --train")
        return None
    names = {"learningRate": "learning_rate", "weightDecay": "weight_decay", "batchSize": "batch_size"}
    sections: Mapping[str, Mapping[str, str]] = {}
    if "sparseUpdate" in given:
        file = Path(given.pop("sparseUpdate"))
        sections = read_config(file)
        if SPARSE_SECTION not in sections:
            raise UsageError(f"--sparseUpdate={file}: the file has no [{SPARSE_SECTION}]")
    return settings_of_sections(sections, keys={names.get(name, name): value for name, value in given.items()})
