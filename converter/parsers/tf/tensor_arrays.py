"""The arrays of TensorFlow 1's loops: TensorArray operators. See `lists`.

The list travels in the *flow*. The *handle* is a constant that says whether the array grows.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value

from . import lists
from .call import Call
from .registry import tf_operator


@tf_operator("TensorArrayV3")
def tensor_array(call: Call) -> tuple[Value, Value]:
    shape = lists.open_shape(call, call.shape_attribute("element_shape"))
    flow = lists.reserve(call, shape, call.int32(0), call.type("dtype"))
    return call.const(np.array(call.flag("dynamic_size"))), flow


@tf_operator("TensorArrayReadV3")
def read(call: Call) -> Value:
    """Inputs handle, index, flow."""
    return lists.get_item(call, call.input(2), call.int32(1), lists.open_shape(call, None))


@tf_operator("TensorArrayWriteV3")
def write(call: Call) -> Value:
    """Inputs handle, index, value, flow."""
    flow, index = call.input(3), call.int32(1)
    grows = call.constant(0)
    if grows is not None and grows.any():
        flow = lists.grown_to_hold(call, flow, index)
    return lists.set_item(call, flow, index, call.input(2))


@tf_operator("TensorArrayGatherV3")
def gather(call: Call) -> Value:
    """Inputs handle, indices, flow."""
    shape = lists.open_shape(call, call.shape_attribute("element_shape"))
    return lists.gathered(call, call.input(2), call.int32(1), shape)


@tf_operator("TensorArrayScatterV3")
def scatter(call: Call) -> Value:
    """Inputs handle, indices, value, flow."""
    return lists.scattered_into(call, call.input(3), call.input(2), call.int32(1))


@tf_operator("TensorArrayConcatV3")
def concat(call: Call) -> tuple[Value, Value]:
    """Inputs handle, flow."""
    return lists.joined(call, call.input(1))


@tf_operator("TensorArraySplitV3")
def split(call: Call) -> Value:
    """Inputs handle, value, lengths, flow."""
    return lists.cut_apart(call, call.input(1), 2)


@tf_operator("TensorArraySizeV3")
def size(call: Call) -> Value:
    """Inputs handle, flow."""
    return lists.length(call, call.input(1))


@tf_operator("TensorArrayCloseV3")
def close(call: Call) -> tuple[Value, ...]:
    return ()
