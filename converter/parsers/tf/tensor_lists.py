"""TensorList operators, the lists of TensorFlow 2's loops. See `lists`."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType

from . import concatenated_lists, lists
from .call import Call
from .registry import tf_operator


def _shape(call: Call, index: int) -> Value:
    """Returns an operand `element_shape`."""
    return call.int32(index)


@tf_operator("TensorListReserve")
def reserve(call: Call) -> Value:
    joined = concatenated_lists.new_concatenated_list(call, 0, call.known_integers(0), call.type("element_dtype"))
    if joined is not None:
        return joined
    return lists.reserve(call, _shape(call, 0), call.int32(1), call.type("element_dtype"))


@tf_operator("EmptyTensorList")
def empty(call: Call) -> Value:
    """Converts EmptyTensorList. Its second input, the largest number of elements, is ignored."""
    return lists.reserve(call, _shape(call, 0), call.ints(0), call.type("element_dtype"))


@tf_operator("TensorListFromTensor")
def from_tensor(call: Call) -> Value:
    return lists.from_tensor(call, call.input(0), _shape(call, 1))


@tf_operator("TensorListGetItem")
def get_item(call: Call) -> Value:
    return lists.get_item(call, call.input(0), call.int32(1), _shape(call, 2))


@tf_operator("TensorListSetItem")
def set_item(call: Call) -> Value:
    elements, index = call.input(0), call.int32(1)
    joined = concatenated_lists.appended(call, elements, call.input(2))
    if joined is not None:
        return joined
    if call.flag("resize_if_index_out_of_bounds"):
        elements = lists.grown_to_index(call, elements, index)
    return lists.set_item(call, elements, index, call.input(2))


@tf_operator("TensorListStack")
def stack(call: Call) -> Value:
    return lists.stack(call, call.input(0), _shape(call, 1))


@tf_operator("TensorListPushBack")
def push_back(call: Call) -> Value:
    return lists.pushed(call, call.input(0), call.input(1))


@tf_operator("TensorListPopBack")
def pop_back(call: Call) -> tuple[Value, Value]:
    return lists.popped(call, call.input(0), _shape(call, 1))


@tf_operator("TensorListLength")
def length(call: Call) -> Value:
    return lists.length(call, call.input(0))


@tf_operator("TensorListElementShape")
def element_shape(call: Call) -> Value:
    return call.as_type(lists.element_shape(call, call.input(0)), call.type("shape_type", DataType.INT32))


@tf_operator("TensorListResize")
def resize(call: Call) -> Value:
    return lists.resized(call, call.input(0), call.int32(1))


@tf_operator("TensorListGather")
def gather(call: Call) -> Value:
    return lists.gathered(call, call.input(0), call.int32(1), _shape(call, 2))


@tf_operator("TensorListScatter", "TensorListScatterV2")
def scatter(call: Call) -> Value:
    """Converts TensorListScatter. Its inputs are tensor, indices, element shape, and in version 2 the number of
    elements (-1: from the tensor)."""
    count = None
    if call.has_input(3):
        known = call.constant(3)
        count = None if known is not None and known.size == 1 and known.item() < 0 else call.int32(3)
    return lists.scattered(call, call.input(0), call.int32(1), count, _shape(call, 2))


@tf_operator("TensorListScatterIntoExistingList")
def scatter_into(call: Call) -> Value:
    return lists.scattered_into(call, call.input(0), call.input(1), call.int32(2))


@tf_operator("TensorListConcat", "TensorListConcatV2")
def concat(call: Call) -> tuple[Value, ...]:
    if call.node in call.scope.session.joined:
        return (call.input(0),)
    return lists.joined(call, call.input(0))


@tf_operator("TensorListConcatLists")
def concat_lists(call: Call) -> Value:
    return call.emit(Concat(axis=0), call.input(0), call.input(1))


@tf_operator("TensorListSplit")
def split(call: Call) -> Value:
    return lists.split_to_list(call, call.input(0), 2)
