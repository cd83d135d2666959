"""Runs single operators in LiteRT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flatbuffers import flexbuffers

from tests.parsers.tflite.tflite_build import Field, single
from tests.parsers.tflite.tflite_run import run_source

from .graph import Array


def run_litert(
    operator: str,
    inputs: Sequence[Array],
    outputs: Sequence[str] = ("float32",),
    *,
    constant: Sequence[int] = (),
    options: tuple[str, dict[int, Field]] = ("NONE", {}),
    custom: dict[str, bool | int | float] | None = None,
) -> list[Array]:
    """Returns the outputs, with the given data types; `constant`: indices of the inputs that are stored in the model."""
    flexible = b""
    if custom is not None:
        builder = flexbuffers.Builder()
        builder.MapFromElements(custom)
        flexible = bytes(builder.Finish())
    model = single(operator, inputs, constant, outputs, options[1], options[0], flexible)
    fed = [np.asarray(array) for position, array in enumerate(inputs) if position not in constant]
    return run_source(model, fed)
