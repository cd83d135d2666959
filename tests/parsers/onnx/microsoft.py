"""Nodes of onnxruntime's contrib operators, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto

from .helper import Array, make_model, node

DOMAIN = "com.microsoft"


def foreign(
    op_type: str,
    inputs: Mapping[str, Array | None],
    constants: Mapping[str, Array] | None = None,
    outputs: int | Sequence[str] = 1,
    opset: int = 17,
    domain: str = DOMAIN,
    order: Sequence[str] | None = None,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
    **attributes: Any,
) -> ModelProto:
    """Returns a model with one node that reads the inputs (None: omitted) and then the constants, or all in the given order."""
    constants = constants or {}
    names = [
        name if name in constants or inputs.get(name) is not None else "" for name in order or [*inputs, *constants]
    ]
    results = [f"y{index}" for index in range(outputs)] if isinstance(outputs, int) else list(outputs)
    present = {name: array for name, array in inputs.items() if array is not None}
    entry = node(op_type, names, results, domain=domain, **attributes)
    model = make_model([entry], present, [name for name in results if name], constants, opset, shapes)
    if domain:
        model.opset_import.add(domain=domain, version=1 if domain == DOMAIN else 3)
    return model


def angles(count: int = 16, size: int = 16) -> dict[str, Array]:
    """Returns cosines and sines of `count` positions for heads of `size` elements."""
    angles = np.arange(count)[:, None] / 100.0 ** (np.arange(size // 2) / size)
    return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
