"""References of tensor lists: a list of N elements of one shape is a tensor [N, shape...]."""

from __future__ import annotations

import numpy as np

from ..graph import numpy_type
from ..ops import control_flow as ops
from ..ops.enums import DataType
from ._declare import Array, Inputs, case, int32, int64, integers, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [array for array in inputs if array is not None]


def _open_is_zero(shape: Array | tuple[int, ...]) -> list[int]:
    """Returns an element shape with 0 for unknown dimensions (-1)."""
    return [max(int(size), 0) for size in np.ravel(shape)]


@reference("TensorListReserve")
def reserve(op: ops.TensorListReserve, inputs: Inputs) -> list[Array]:
    """Zeros."""
    shape, count = _given(inputs)
    return [np.zeros((int(count.item()), *_open_is_zero(shape)), numpy_type(DataType(op.element_dtype)))]


@reference("TensorArray")
def array(op: ops.TensorArray, inputs: Inputs) -> list[Array]:
    """Zeros; without an element shape, elements may have any shape."""
    (size,) = _given(inputs)
    shape = (0,) if op.element_shape is None else op.element_shape
    return [np.zeros((int(size.item()), *_open_is_zero(shape)), numpy_type(DataType(op.data_type)))]


@reference("TensorListFromTensor")
def from_tensor(op: ops.TensorListFromTensor, inputs: Inputs) -> list[Array]:
    """Element i is tensor[i]."""
    tensor, _ = _given(inputs)
    return [tensor]


def _shaped(elements: Array, element_shape: list[Array]) -> Array:
    """Returns the elements, or zeros of the element shape if they have no shape yet."""
    if elements.size or not element_shape or -1 in np.ravel(element_shape[0]):
        return elements
    return np.zeros((elements.shape[0], *_open_is_zero(element_shape[0])), elements.dtype)


@reference("TensorListGetItem")
def get_item(op: ops.TensorListGetItem, inputs: Inputs) -> list[Array]:
    """Element `index`."""
    elements, index, *element_shape = _given(inputs)
    return [_shaped(elements, element_shape)[int(index.item())]]


@reference("TensorListStack")
def stack(op: ops.TensorListStack, inputs: Inputs) -> list[Array]:
    """All elements along a new first dimension."""
    elements, *element_shape = _given(inputs)
    return [_shaped(elements, element_shape)]


def _with_item(elements: Array, index: Array, value: Array) -> Array:
    """Returns a copy with `value` as element `index`; elements without a shape become zeros."""
    shape = (elements.shape[0], *value.shape)
    result = elements.copy() if elements.shape == shape else np.zeros(shape, value.dtype)
    result[int(index.item())] = value
    return result


@reference("TensorListSetItem")
def set_item(op: ops.TensorListSetItem, inputs: Inputs) -> list[Array]:
    """The list with `value` as element `index`."""
    elements, index, value = _given(inputs)
    return [_with_item(elements, index, value)]


@reference("TensorListResize")
def resize(op: ops.TensorListResize, inputs: Inputs) -> list[Array]:
    """The first `size` elements, padded with zeros."""
    elements, size = _given(inputs)
    count = int(size.item())
    missing = np.zeros((max(count - elements.shape[0], 0), *elements.shape[1:]), elements.dtype)
    return [np.concatenate([elements[:count], missing])]


@reference("TensorArrayRead")
def array_read(op: ops.TensorArrayRead, inputs: Inputs) -> list[Array]:
    """Element `index` of the last written array: the flow, or the handle if the flow is a scalar."""
    handle, index, flow = _given(inputs)
    return [(flow if flow.ndim else handle)[int(index.item())]]


@reference("TensorArrayWrite")
def array_write(op: ops.TensorArrayWrite, inputs: Inputs) -> list[Array]:
    """The flow with `value` as element `index`."""
    handle, index, value, flow = _given(inputs)
    return [_with_item(flow if flow.ndim else handle, index, value)]


_FLOAT, _INT64 = int(DataType.FLOAT32), int(DataType.INT64)
_FLOW = np.array(0, np.float32)
case("known", ops.TensorListReserve(element_dtype=_FLOAT), [int32([4, 5]), int32(3)], (0, 1))
case("open", ops.TensorListReserve(element_dtype=_INT64), [int32([-1, 5]), int32([3])], (0, 1))
case("scalars", ops.TensorListReserve(element_dtype=_FLOAT), [int32([]), int32(6)], (0, 1))
case("known", ops.TensorArray(data_type=_FLOAT, element_shape=(2, 3)), [int32(4)], (0,))
case("open", ops.TensorArray(data_type=_INT64), [int32(4)], (0,))
case("rows", ops.TensorListFromTensor(element_dtype=_FLOAT), [normal(4, 3), int32([3])])
case("big", ops.TensorListFromTensor(element_dtype=_FLOAT), [normal(7, 30011), int32([-1])])
case("row", ops.TensorListGetItem(element_dtype=_FLOAT), [normal(4, 3, 2), int32(3), int32([3, 2])])
case("big", ops.TensorListGetItem(element_dtype=_FLOAT), [normal(3, 70001), int64([1])])
case("scalar", ops.TensorListGetItem(element_dtype=_INT64), [integers(0, 9, 5, dtype=np.int64), int32(0)])
case("unset", ops.TensorListGetItem(element_dtype=_FLOAT), [normal(4, 0, 2), int32(1), int32([3, 2])], (2,))
case("rows", ops.TensorListStack(element_dtype=_FLOAT, num_elements=-1), [normal(4, 3), int32([-1])])
case("unset", ops.TensorListStack(element_dtype=_FLOAT, num_elements=4), [normal(4, 0), int32([5, 2])], (1,))
for _index in (0, 4):
    case(f"row{_index}", ops.TensorListSetItem(element_dtype=_FLOAT), [normal(5, 3), int32(_index), normal(3)])
case("big", ops.TensorListSetItem(element_dtype=_FLOAT), [normal(4, 40009), int64([2]), normal(40009)])
case("first", ops.TensorListSetItem(element_dtype=_FLOAT), [normal(3, 0, 2), int32(2), normal(4, 2)])
case("rank", ops.TensorListSetItem(element_dtype=_FLOAT), [normal(3, 0), int32(1), normal(4, 2)])
case("scalar", ops.TensorListSetItem(element_dtype=_INT64), [int64([3, 4]), int32(1), int64(9)])
for _size in (0, 3, 4, 9):
    case(f"to{_size}", ops.TensorListResize(), [normal(4, 5, 2), int32(_size)], (1,))
case("handle", ops.TensorArrayRead(), [normal(4, 3), int32(2), _FLOW])
case("flow", ops.TensorArrayRead(), [normal(4, 0), int32(3), normal(4, 3)])
case("handle", ops.TensorArrayWrite(), [normal(4, 0), int32(2), normal(3), _FLOW])
case("flow", ops.TensorArrayWrite(), [normal(4, 0), int32(0), normal(3), normal(4, 3)])


@reference("Depend")
def depend(op: ops.Depend, inputs: Inputs) -> list[Array]:
    """Returns x."""
    return [_given(inputs)[0]]


case("order", ops.Depend(), [normal(2, 3), int32([1])])


@reference("Assert")
def holds(op: ops.Assert, inputs: Inputs) -> list[Array]:
    """One element, which is not read."""
    return [np.ones(1, np.bool_)]


case("true", ops.Assert(), [np.ones((2, 2), np.bool_), normal(3)])
case("nothing", ops.Assert(), [np.ones(0, np.bool_)])
