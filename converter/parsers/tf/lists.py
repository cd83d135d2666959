"""Operations on tensor lists and tensor arrays. A list of N elements is a value [N, element shape...]; unknown sizes of
elements are 0 until the first element is written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, StridedSlice
from mslite.converter.mindir.ops.control_flow import (
    TensorListFromTensor,
    TensorListGetItem,
    TensorListReserve,
    TensorListResize,
    TensorListSetItem,
    TensorListStack,
)
from mslite.converter.mindir.ops.creation import Fill, Range
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather, ScatterNd, ScatterNdUpdate
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Shape

from .call import Call


def open_shape(call: Call, dims: Sequence[int] | None) -> Value:
    """Returns the operand `element_shape`: -1 for an unknown size, a scalar -1 for an unknown rank."""
    return call.ints(-1 if dims is None else dims)


def reserve(call: Call, element_shape: Value, count: Value, dtype: DataType) -> Value:
    """Returns a list of `count` elements of zeros. Raises Blocked for unsupported data types."""
    if dtype in (DataType.UNKNOWN, DataType.STRING, DataType.TENSOR_LIST):
        raise call.block(f"lists of {dtype.name.lower()} are unsupported", "Use lists of numbers")
    op = TensorListReserve(element_dtype=int(dtype), shape_type=int(DataType.INT32))
    return call.emit(op, element_shape, count)


def from_tensor(call: Call, tensor: Value, element_shape: Value) -> Value:
    op = TensorListFromTensor(element_dtype=int(tensor.dtype), shape_type=int(DataType.INT32))
    return call.emit(op, tensor, element_shape)


def get_item(call: Call, elements: Value, index: Value, element_shape: Value) -> Value:
    return call.emit(TensorListGetItem(element_dtype=int(elements.dtype)), elements, index, element_shape)


def set_item(call: Call, elements: Value, index: Value, item: Value) -> Value:
    if item.dtype is not elements.dtype:
        raise call.block(
            f"the element has the type {item.dtype.name.lower()}, but the list {elements.dtype.name.lower()}"
        )
    return call.emit(TensorListSetItem(element_dtype=int(elements.dtype)), elements, index, item)


def stack(call: Call, elements: Value, element_shape: Value) -> Value:
    """Returns all elements as one tensor."""
    op = TensorListStack(num_elements=-1, element_dtype=int(elements.dtype))
    return call.emit(op, elements, element_shape)


def length(call: Call, elements: Value) -> Value:
    """Returns the number of elements, an int32 scalar."""
    known = _rows(elements)
    if known is not None:
        return call.ints(known)
    return call.emit(Gather(), call.emit(Shape(), elements), call.ints(0), call.ints(0))


def element_shape(call: Call, elements: Value) -> Value:
    """Returns the shape of the elements, an int32 vector."""
    op = StridedSlice(end_mask=1)
    return call.emit(op, call.emit(Shape(), elements), call.ints([1]), call.ints([1]), call.ints([0]), call.ints([1]))


def resized(call: Call, elements: Value, size: Value) -> Value:
    return call.emit(TensorListResize(), elements, size)


def grown_to_index(call: Call, elements: Value, index: Value) -> Value:
    """Returns the list, padded with zeros so that it has an element `index`."""
    least = call.emit(AddFusion(), index, call.ints(1))
    return resized(call, elements, call.emit(Maximum(), length(call, elements), least))


def pushed(call: Call, elements: Value, item: Value) -> Value:
    """Returns the list with `item` appended."""
    count = length(call, elements)
    longer = resized(call, elements, call.emit(AddFusion(), count, call.ints(1)))
    return set_item(call, longer, count, item)


def popped(call: Call, elements: Value, shape: Value) -> tuple[Value, Value]:
    """Returns the list without its last element, and that element."""
    last = call.emit(SubFusion(), length(call, elements), call.ints(1))
    return resized(call, elements, last), get_item(call, elements, last, shape)


def gathered(call: Call, elements: Value, indices: Value, shape: Value) -> Value:
    """Returns the elements at `indices` as one tensor."""
    every = stack(call, elements, shape)
    return every if selects_all(call, indices, elements) else call.emit(Gather(), every, indices, call.ints(0))


def scattered(call: Call, tensor: Value, indices: Value, count: Value | None, shape: Value) -> Value:
    """Returns a list with element indices[i] = tensor[i], of `count` elements (default: the rows of the tensor)."""
    if is_index_range(indices, call) and (count is None or _same_count(call, count, tensor)):
        return from_tensor(call, tensor, shape)
    if count is None:
        raise call.block("the length of the list is unknown", "Export the model with TensorListScatterV2")
    (size,) = (call.emit(Reshape(), count, call.ints([1])),)
    whole = call.emit(Concat(axis=0), size, element_shape(call, tensor))
    return call.emit(ScatterNd(), call.emit(ExpandDims(), indices, call.ints(-1)), tensor, whole)


def scattered_into(call: Call, elements: Value, tensor: Value, indices: Value) -> Value:
    """Returns the list with elements indices[i] replaced by tensor[i]."""
    if _is_new(elements):
        return scattered(call, tensor, indices, length(call, elements), call.ints(-1))
    return call.emit(ScatterNdUpdate(), elements, call.emit(ExpandDims(), indices, call.ints(-1)), tensor)


def joined(call: Call, elements: Value) -> tuple[Value, Value]:
    """Returns the elements, concatenated along their first dimension, and their sizes in this dimension (int64)."""
    if elements.shape is None or len(elements.shape) < 2:
        raise call.block("the rank of the list's elements is unknown", "Set --inputShape")
    rest = elements.shape[2:]
    size = call.emit(Gather(), call.emit(Shape(), elements), call.ints(1), call.ints(0))
    if all(dim >= 0 for dim in rest):
        target = call.ints((-1, *rest))
    else:
        op = StridedSlice(end_mask=1)
        dims = call.emit(Shape(), elements)
        tail = call.emit(op, dims, call.ints([2]), call.ints([2]), call.ints([0]), call.ints([1]))
        target = call.emit(Concat(axis=0), call.ints([-1]), tail)
    count = call.emit(Reshape(), length(call, elements), call.ints([1]))
    lengths = call.emit(Fill(), call.as_type(size, DataType.INT64), count)
    return call.emit(Reshape(), elements, target), lengths


def split_to_list(call: Call, tensor: Value, lengths_input: int) -> Value:
    """Returns a list of the parts of a tensor, split along its first dimension. Raises Blocked unless all lengths are
    equal."""
    lengths = call.require_integers(lengths_input, "the lengths of the parts")
    if not lengths or len(set(lengths)) != 1 or not tensor.shape:
        raise call.block("a split into different lengths is unsupported", "Pad the parts to the same length")
    dims = call.emit(Shape(), tensor)
    op = StridedSlice(end_mask=1)
    tail = call.emit(op, dims, call.ints([1]), call.ints([1]), call.ints([0]), call.ints([1]))
    target = call.emit(Concat(axis=0), call.ints([len(lengths), lengths[0]]), tail)
    return call.emit(Reshape(), tensor, target)


# ---- known indices ----


def is_index_range(indices: Value, call: Call) -> bool:
    """Returns whether the indices are known to be 0, 1, 2, ..."""
    known = call.contents(indices)
    if known is not None:
        return bool(np.array_equal(known.ravel(), np.arange(known.size)))
    node = indices.producer
    if node is None or not isinstance(node.op, Range):
        return False
    if len(node.inputs) < 3:
        return len(node.inputs) == 0 and node.op.start == 0 and node.op.delta == 1
    start, delta = call.contents(node.inputs[0]), call.contents(node.inputs[2])
    return start is not None and delta is not None and start.tolist() == 0 and delta.tolist() == 1


def selects_all(call: Call, indices: Value, elements: Value) -> bool:
    """Returns whether the indices are known to be those of all elements, in order."""
    if not is_index_range(indices, call) or not indices.shape or not elements.shape:
        return False
    return len(indices.shape) == 1 and indices.shape[0] == elements.shape[0]


def _rows(value: Value) -> int | None:
    """Returns the first size, or None if unknown."""
    return value.shape[0] if value.shape and value.shape[0] >= 0 else None


def _same_count(call: Call, count: Value, tensor: Value) -> bool:
    """Returns whether count may be the number of rows; True if unknown, because TensorFlow requires it."""
    known = call.contents(count)
    rows = _rows(tensor)
    if known is None or known.size != 1 or rows is None:
        return True
    return int(known.item()) == rows


def _is_new(elements: Value) -> bool:
    """Returns whether no element has been written to the list."""
    return elements.producer is not None and isinstance(elements.producer.op, TensorListReserve)
