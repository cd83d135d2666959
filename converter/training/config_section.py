"""Reads the training settings from [train_param] of a configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeVar

import numpy as np

from mslite.converter.errors import UsageError
from mslite.converter.memory_limit import parse_memory
from mslite.converter.spelling import check_keys
from mslite.converter.training.settings import BatchNorm, Lora, Loss, Optimizer, Schedule, TrainSettings
from mslite.converter.training.sparse_update import SECTION as SPARSE_SECTION
from mslite.converter.training.sparse_update import layer_updates

SECTION = "train_param"
_KEYS = (
    "loss", "optimizer", "learning_rate", "momentum", "weight_decay", "beta1", "beta2", "epsilon", "alpha", "clip_norm", "batch_size", "frozen",
    "trained", "batch_norm", "dropout", "output", "memory", "lora_rank", "lora_alpha", "lora_layers", "lora_trained",
    "sparse_embeddings", "schedule", "warmup_steps", "decay_steps", "decay_rate", "power",
)  # fmt: skip


class _Switch(Enum):
    ON = "true"
    OFF = "false"


_Choice = TypeVar("_Choice", bound=Enum)


_PLAIN = TrainSettings()
_FROM_0 = ("momentum", "weight_decay", "beta1", "beta2", "warmup_steps")
_LARGEST = float(np.finfo(np.float32).max)
_MAX_STEPS = 1 << 24
"""Steps are counted in float32."""
_RISE = 0.3
"""Default share of the steps in which OneCycle rises."""


def settings_of_sections(
    sections: Mapping[str, Mapping[str, str]], defaults: TrainSettings = _PLAIN, keys: Mapping[str, str] | None = None
) -> TrainSettings:
    """Returns the settings of [train_param] and [sparse_update]; `keys` override those of the file. Raises
    UsageError."""
    own = {**sections.get(SECTION, {}), **(keys or {})}
    if SPARSE_SECTION not in sections:
        return train_settings(own, defaults)
    # To train single channels, batch normalization must be folded into the weights: its statistics would change all
    # channels.
    settings = train_settings(own, replace(defaults, batch_norm=BatchNorm.FROZEN))
    for key, contradicts in (("frozen", bool(settings.frozen)), ("batch_norm", settings.batch_norm is BatchNorm.TRAIN)):
        if contradicts:
            raise UsageError(
                f"INPUT ILLEGAL: {key}={own[key]} in [{SECTION}] cannot be combined with [{SPARSE_SECTION}], which "
                "names all trained "
                "layers: leave out one of them"
            )
    return replace(settings, sparse=layer_updates(sections[SPARSE_SECTION]))


def train_settings(keys: Mapping[str, str], defaults: TrainSettings = _PLAIN) -> TrainSettings:
    """Returns the settings of [train_param], with `defaults` for missing keys. Raises UsageError for an invalid
    value."""
    check_keys(keys, SECTION, _KEYS)

    def number(key: str, otherwise: float, below: float = math.inf) -> float:
        return _number(key, keys[key], below) if key in keys else otherwise

    def whole(key: str, otherwise: int, most: int) -> int:
        return _whole(key, keys[key], most) if key in keys else otherwise

    schedule = _choice("schedule", keys["schedule"], Schedule) if "schedule" in keys else defaults.schedule
    _check_schedule(keys, schedule)
    decay_steps = whole("decay_steps", defaults.decay_steps, _MAX_STEPS)
    rises = int(_RISE * decay_steps) if schedule is Schedule.ONE_CYCLE else defaults.warmup_steps
    warmup_steps = whole("warmup_steps", rises, _MAX_STEPS)
    if schedule is Schedule.ONE_CYCLE and not 0 < warmup_steps < decay_steps:
        raise UsageError(
            "INPUT ILLEGAL: OneCycle needs warmup_steps between 1 and decay_steps - 1, not "
            f"warmup_steps={warmup_steps} with "
            f"decay_steps={decay_steps}"
        )
    return TrainSettings(
        loss=_choice("loss", keys["loss"], Loss) if "loss" in keys else defaults.loss,
        optimizer=_choice("optimizer", keys["optimizer"], Optimizer) if "optimizer" in keys else defaults.optimizer,
        learning_rate=number("learning_rate", defaults.learning_rate),
        momentum=number("momentum", defaults.momentum, 1),
        weight_decay=number("weight_decay", defaults.weight_decay, 1),
        beta1=number("beta1", defaults.beta1, 1),
        beta2=number("beta2", defaults.beta2, 1),
        epsilon=number("epsilon", defaults.epsilon, 1),
        alpha=number("alpha", defaults.alpha, 1),
        clip_norm=_number("clip_norm", keys["clip_norm"], math.inf) if "clip_norm" in keys else defaults.clip_norm,
        batch_norm=_choice("batch_norm", keys["batch_norm"], BatchNorm)
        if "batch_norm" in keys
        else defaults.batch_norm,
        dropout=_choice("dropout", keys["dropout"], _Switch) is _Switch.ON if "dropout" in keys else defaults.dropout,
        output=keys.get("output", ""),
        batch=_whole("batch_size", keys["batch_size"], 1 << 20) if "batch_size" in keys else None,
        schedule=schedule,
        warmup_steps=warmup_steps,
        decay_steps=decay_steps,
        decay_rate=number("decay_rate", defaults.decay_rate),
        power=number("power", defaults.power),
        memory=parse_memory(keys["memory"], "memory") if "memory" in keys else defaults.memory,
        frozen=_names(keys, "frozen"),
        trained=_names(keys, "trained"),
        sparse_embeddings=_choice("sparse_embeddings", keys["sparse_embeddings"], _Switch) is _Switch.ON
        if "sparse_embeddings" in keys
        else defaults.sparse_embeddings,
        lora=_lora(keys),
        stated=frozenset(keys) - {"frozen"},  # frozen may be extended
    )


def _names(keys: Mapping[str, str], key: str) -> frozenset[str]:
    return frozenset(filter(None, keys.get(key, "").split(",")))


def _lora(keys: Mapping[str, str]) -> Lora | None:
    if "lora_rank" not in keys:
        alone = next((key for key in keys if key.startswith("lora_")), None)
        if alone is not None:
            raise UsageError(f"INPUT ILLEGAL: {alone} needs lora_rank, the rank of the adapters")
        return None
    alpha = _number("lora_alpha", keys["lora_alpha"], math.inf) if "lora_alpha" in keys else None
    rank = _whole("lora_rank", keys["lora_rank"], 1 << 16)
    return Lora(rank, alpha, _names(keys, "lora_layers"), _names(keys, "lora_trained"))


_NEEDS = {
    "decay_steps": (Schedule.COSINE, Schedule.STEP, Schedule.EXPONENTIAL, Schedule.POLYNOMIAL, Schedule.ONE_CYCLE),
    "decay_rate": (Schedule.STEP, Schedule.EXPONENTIAL),
    "power": (Schedule.POLYNOMIAL,),
}
"""Key -> schedules that read it."""


def _check_schedule(keys: Mapping[str, str], schedule: Schedule) -> None:
    """Raises UsageError for a key that the schedule does not read, or a missing key."""
    for key, readers in _NEEDS.items():
        if key in keys and schedule not in readers:
            names = "|".join(one.value for one in readers)
            raise UsageError(f"INPUT ILLEGAL: {key} applies to schedule={names}, not to {schedule.value}")
    if schedule in _NEEDS["decay_steps"] and "decay_steps" not in keys:
        raise UsageError(
            f"INPUT ILLEGAL: schedule={schedule.value} needs decay_steps, the number of steps of its decay"
        )


def _choice(key: str, text: str, kind: type[_Choice]) -> _Choice:
    for one in kind:
        if text.lower() == str(one.value).lower():
            return one
    raise UsageError(f"INPUT ILLEGAL: {key} must be {'|'.join(str(one.value) for one in kind)}, not '{text}'")


def _number(key: str, text: str, below: float) -> float:
    """Returns a float32 above 0 (or from 0, for some keys) and below a limit. Raises UsageError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    from_0 = key in _FROM_0
    is_there = value <= _LARGEST and np.float32(value) > 0  # in float32
    if value < below and (is_there or (value == 0 and from_0)):
        return value
    limit = " in the range of float32" if math.isinf(below) else f" and below {below:g}"
    raise UsageError(f"INPUT ILLEGAL: {key} must be a number {'from 0' if from_0 else 'above 0'}{limit}, not '{text}'")


def _whole(key: str, text: str, most: int) -> int:
    """Returns an integer from 1, or from 0 for some keys. Raises UsageError."""
    least = 0 if key in _FROM_0 else 1
    if text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    raise UsageError(f"INPUT ILLEGAL: {key} must be an integer from {least} to {most}, not '{text}'")
