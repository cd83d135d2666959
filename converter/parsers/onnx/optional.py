"""Optionals that contain a tensor; they are converted to this tensor."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value

from .call import Call
from .registry import onnx_operator


@onnx_operator("Optional")
def optional(call: Call) -> Value:
    """Returns the element of the optional."""
    if not call.has_input(0):
        raise call.block("an optional without an element is not supported", "Export the model without optionals")
    call.ignore("type")
    return call.tensor_or_sequence(0)


@onnx_operator("OptionalHasElement")
def optional_has_element(call: Call) -> Value:
    """Since version 18 the input may be a tensor or missing."""
    call.ignore_inputs(0)
    return call.const(np.array(call.has_input(0)))


@onnx_operator("OptionalGetElement")
def optional_get_element(call: Call) -> Value:
    return call.tensor_or_sequence(0)
