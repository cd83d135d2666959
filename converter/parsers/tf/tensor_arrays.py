"""TensorArray operators, the lists of TensorFlow 1's loops. See `lists`.

The *flow* is the list. The *handle* is a constant: whether the array may grow.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value

from . import concatenated_lists, lists
from .call import Call
from .registry import tf_operator


@tf_operator("TensorArrayV3")
def tensor_array(call: Call) -> tuple[Value, Value]:
    shape, dtype = call.shape_attribute("element_shape"), call.type("dtype")
    flow = concatenated_lists.new_concatenated_list(call, 1, shape, dtype)
    if flow is None:
        flow = lists.reserve(call, lists.open_shape(call, shape), call.int32(0), dtype)
    return call.const(np.array(call.flag("dynamic_size"))), flow


@tf_operator("TensorArrayReadV3")
def read(call: Call) -> Value:
    """Converts a read. The inputs are handle, index, flow."""
    return lists.get_item(call, call.input(2), call.int32(1), lists.open_shape(call, None))


@tf_operator("TensorArrayWriteV3")
def write(call: Call) -> Value:
    """Converts a write. The inputs are handle, index, value, flow."""
    flow, index = call.input(3), call.int32(1)
    joined = concatenated_lists.appended(call, flow, call.input(2))
    if joined is not None:
        return joined
    grows = call.constant(0)
    if grows is not None and grows.any():
        flow = lists.grown_to_index(call, flow, index)
    return lists.set_item(call, flow, index, call.input(2))


@tf_operator("TensorArrayGatherV3")
def gather(call: Call) -> Value:
    """Converts a gather. The inputs are handle, indices, flow."""
    shape = lists.open_shape(call, call.shape_attribute("element_shape"))
    return lists.gathered(call, call.input(2), call.int32(1), shape)


@tf_operator("TensorArrayScatterV3")
def scatter(call: Call) -> Value:
    """Converts a scatter. The inputs are handle, indices, value, flow."""
    return lists.scattered_into(call, call.input(3), call.input(2), call.int32(1))


@tf_operator("TensorArrayConcatV3")
def concat(call: Call) -> tuple[Value, ...]:
    """Converts a concatenation. The inputs are handle, flow."""
    if call.node in call.scope.session.joined:
        return (call.input(1),)
    return lists.joined(call, call.input(1))


@tf_operator("TensorArraySplitV3")
def split(call: Call) -> Value:
    """Converts a split. The inputs are handle, value, lengths, flow."""
    return lists.split_to_list(call, call.input(1), 2)


@tf_operator("TensorArraySizeV3")
def size(call: Call) -> Value:
    """Converts the number of elements. The inputs are handle, flow."""
    return lists.length(call, call.input(1))


@tf_operator("TensorArrayCloseV3")
def close(call: Call) -> tuple[Value, ...]:
    return ()
