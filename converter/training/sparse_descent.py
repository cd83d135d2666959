"""Tables of which single rows are changed: where that is the same as a step on the whole table."""

from __future__ import annotations

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Value
from mslite.converter.training.settings import Optimizer, TrainSettings

NAMED = "sparse/"
"""Part of the names of such steps, by which the runtime knows them (training/sparse_descent.cc)."""


def check_settings(settings: TrainSettings, in_files: bool, source: str) -> None:
    """Raises ConversionError, with all that does not go with sparse_embeddings."""
    if not settings.sparse_embeddings:
        return
    reasons = []
    if settings.optimizer is not Optimizer.SGD:
        reasons.append(f"optimizer={settings.optimizer.value} moves rows that were not read, too")
    if settings.weight_decay:
        reasons.append("weight_decay makes all rows smaller")
    if settings.clip_norm is not None:
        reasons.append("clip_norm needs whole gradients, all at once")
    if settings.lora is not None:
        reasons.append("adapters leave tables as they are")
    if not in_files:
        reasons.append("generated C changes whole tables")
    if reasons:
        raise ConversionError(
            f"{source}: sparse_embeddings=true is a step of optimizer=SGD on the rows that were read: {'; '.join(reasons)}. "
            "Leave one of them out",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )


def is_sum_of_rows(gradient: Value) -> bool:
    """Whether the gradient of a table is that of the rows that one node takes, and nothing else."""
    made = gradient.producer
    return made is not None and made.op.name == "UnsortedSegmentSum"


def check_tables(settings: TrainSettings, found: int, source: str) -> None:
    """Raises ConversionError where a model has no table that sparse_embeddings is for."""
    if settings.sparse_embeddings and not found:
        raise ConversionError(
            f"{source}: sparse_embeddings=true, but no trained table is read by one Gather of rows alone, as an embedding is. "
            "Tables that are the head, too, or that several layers read, get whole gradients: leave it out",
            code=ReturnCode.NOT_SUPPORTED,
        )
