"""How a model is trained, as the command line (`--train`, `--loss`, …) and [train_param] of a configuration say it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from mslite.converter.errors import UsageError
from mslite.converter.spelling import check_keys
from mslite.converter.training import Loss, Optimizer, TrainSettings

SECTION = "train_param"
_KEYS = (
    "loss", "optimizer", "learning_rate", "momentum", "weight_decay", "beta1", "beta2", "epsilon", "batch_size", "frozen",
)  # fmt: skip
_Choice = TypeVar("_Choice", bound=Enum)


def train_settings(keys: Mapping[str, str]) -> TrainSettings:
    """The settings of [train_param]. Raises UsageError for an impossible value."""
    check_keys(keys, SECTION, _KEYS)
    defaults = TrainSettings()

    def number(key: str, otherwise: float, low: float, high: float) -> float:
        return _number(key, keys[key], low, high) if key in keys else otherwise

    return TrainSettings(
        loss=_choice("loss", keys["loss"], Loss) if "loss" in keys else defaults.loss,
        optimizer=_choice("optimizer", keys["optimizer"], Optimizer) if "optimizer" in keys else defaults.optimizer,
        learning_rate=number("learning_rate", defaults.learning_rate, 0, math.inf),
        momentum=number("momentum", defaults.momentum, 0, 1),
        weight_decay=number("weight_decay", defaults.weight_decay, 0, 1),
        beta1=number("beta1", defaults.beta1, 0, 1),
        beta2=number("beta2", defaults.beta2, 0, 1),
        epsilon=number("epsilon", defaults.epsilon, 0, 1),
        batch=int(number("batch_size", 1, 0, 1 << 20)) if "batch_size" in keys else None,
        frozen=frozenset(filter(None, keys.get("frozen", "").split(","))),
    )


def _choice(key: str, text: str, kind: type[_Choice]) -> _Choice:
    for one in kind:
        if text.lower() == str(one.value).lower():
            return one
    raise UsageError(f"INPUT ILLEGAL: {key} must be {'|'.join(str(one.value) for one in kind)}, not '{text}'")


def _number(key: str, text: str, low: float, high: float) -> float:
    """In (low, high), or [0, high) where 0 is allowed."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    whole = key != "batch_size" or value == int(value) if math.isfinite(value) else False
    zero = value == 0 and key in ("momentum", "weight_decay", "beta1", "beta2")
    if not whole or not (zero or low < value < high):
        raise UsageError(f"INPUT ILLEGAL: {key} must be a number in {low} ... {high}, not '{text}'")
    return value


_FLAGS = {
    "loss": f"what is made small: {', '.join(one.value for one in Loss)} ({Loss.SPARSE_SOFTMAX.value})",
    "optimizer": f"{', '.join(one.value for one in Optimizer)} ({Optimizer.SGD.value})",
    "learningRate": "of each step; it may be changed in between (0.01)",
    "momentum": "of Momentum and Nesterov (0.9)",
    "weightDecay": "(0)",
    "batchSize": "rows of a step, where the model was made for another number",
    "frozen": "constants that are not trained: name,name",
}


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    """`--train` and what belongs to it."""
    group = parser.add_argument_group("training (x86 and Arm)")
    group.add_argument(
        "--train", action="store_true", help="the project also trains: a step is forward, backward, update"
    )
    for name, text in _FLAGS.items():
        group.add_argument(f"--{name}", help=text)


def settings_of_arguments(arguments: argparse.Namespace) -> TrainSettings | None:
    """None without `--train`. Raises UsageError."""
    given = {name: getattr(arguments, name) for name in _FLAGS if getattr(arguments, name) is not None}
    if not arguments.train:
        if given:
            raise UsageError(f"--{next(iter(given))} is for training: give --train, too")
        return None
    names = {"learningRate": "learning_rate", "weightDecay": "weight_decay", "batchSize": "batch_size"}
    return train_settings({names.get(name, name): value for name, value in given.items()})
