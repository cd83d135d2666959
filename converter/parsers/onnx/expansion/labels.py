"""LabelEncoder with numeric labels: a table of keys and values."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from mslite.converter.mindir.graph import Array

from .ai_onnx_ml import MACHINE_LEARNING
from .body import Body
from .registry import expands

_AGAIN = "Export the model again"


@expands("LabelEncoder", domain=MACHINE_LEARNING)
def label_encoder(body: Body) -> None:
    """Returns values[i] if x is keys[i], else the default."""
    for name in ("keys_strings", "values_strings", "classes_strings"):
        if body.has_attribute(name):
            raise body.block("labels that are strings are not supported", "Encode them outside of the model", name)
    body.ignore("default_string")
    keys, values = _table(body, "keys"), _table(body, "values")
    if len(keys) != len(values) or not len(keys):
        raise body.block(f"{len(keys)} keys do not fit {len(values)} values", _AGAIN, "keys")
    x, rank = body.input(0), body.rank(body.input(0))
    is_key = body.op("Equal", body.unsqueeze(x, rank), body.const(keys))
    if np.isnan(keys).any():  # Equal is false for NaN
        is_nan = body.op("And", body.op("IsNaN", body.unsqueeze(x, rank)), body.const(np.isnan(keys)))
        is_key = body.op("Or", is_key, is_nan)
    hits = body.cast(is_key, TensorProto.INT32)
    number = body.op("ArgMax", hits, axis=rank, keepdims=0)
    found = body.cast(body.total(hits, rank, keep=False), TensorProto.BOOL)
    body.result(0, body.op("Where", found, body.op("Gather", body.const(values), number), _default(body, values)))


def _table(body: Body, what: str) -> Array:
    stored = body.tensor(f"{what}_tensor")
    if stored is not None:
        array = stored.ravel()
        if array.dtype.kind not in "fi":
            raise body.block(
                "only numeric tables are supported", "Encode labels outside of the model", f"{what}_tensor"
            )
        return array
    integers, reals = body.integers(f"{what}_int64s"), body.reals(f"{what}_floats")
    return np.array(reals or (), np.float32) if integers is None else np.array(integers, np.int64)


def _default(body: Body, values: Array) -> str:
    """Returns the default attribute of the values' type; if missing, -1 or -0.0."""
    real, integer = body.real("default_float", -0.0), body.integer("default_int64", -1)
    stored = body.tensor("default_tensor")
    if stored is not None and stored.size == 1 and stored.dtype.kind in "fi":
        return body.const(stored.astype(values.dtype).reshape(()))
    return body.const(real if values.dtype.kind == "f" else integer, values.dtype)
