"""Embedding tables of which only the rows that were read are updated, if that equals a step on the whole table."""

from __future__ import annotations

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Value
from mslite.converter.training.settings import Optimizer, TrainSettings

NAMED = "sparse/"
"""Part of the names of these steps, by which the runtime finds them (training/sparse_descent.cc)."""


def check_settings(settings: TrainSettings, in_files: bool, source: str) -> None:
    """Raises ConversionError with all settings that cannot be combined with sparse_embeddings."""
    if not settings.sparse_embeddings:
        return
    reasons = []
    if settings.optimizer is not Optimizer.SGD:
        reasons.append(f"optimizer={settings.optimizer.value} also changes rows that were not read")
    if settings.weight_decay:
        reasons.append("weight_decay changes all rows")
    if settings.clip_norm is not None:
        reasons.append("clip_norm needs all gradients")
    if settings.lora is not None:
        reasons.append("adapters do not train tables")
    if not in_files:
        reasons.append("generated C updates whole tables")
    if reasons:
        raise ConversionError(
            f"{source}: sparse_embeddings=true updates the rows that were read, with optimizer=SGD: "
            f"{'; '.join(reasons)}. "
            "Leave out one of them",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )


def is_sum_of_rows(gradient: Value) -> bool:
    """Returns whether the gradient of a table consists of the rows that one Gather reads only."""
    made = gradient.producer
    return made is not None and made.op.name == "UnsortedSegmentSum"


def check_tables(settings: TrainSettings, found: int, source: str) -> None:
    """Raises ConversionError if no table supports sparse_embeddings."""
    if settings.sparse_embeddings and not found:
        raise ConversionError(
            f"{source}: sparse_embeddings=true needs a trained table that only one Gather of rows reads, such as an "
            "embedding. "
            "Tables that are also the head, or that several layers read, have full gradients: leave it out",
            code=ReturnCode.NOT_SUPPORTED,
        )
