"""Reads tensors, shapes and data types of a GraphDef as NumPy arrays, tuples and MindIR types."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.protobuf import Message

MAX_DIMENSION = 2**31 - 1
"""Dimensions are 32-bit integers in a `.ms` file."""

MAX_RANK = 8
_MAX_BYTES = 1 << 40
_MAX_REPEATED_BYTES = 1 << 26
"""Largest size of a constant that repeats its last element, so that a small file cannot use up the memory."""

_DATA_TYPES: dict[int, DataType] = {
    1: DataType.FLOAT32,
    2: DataType.FLOAT64,
    3: DataType.INT32,
    4: DataType.UINT8,
    5: DataType.INT16,
    6: DataType.INT8,
    7: DataType.STRING,
    8: DataType.COMPLEX64,
    9: DataType.INT64,
    10: DataType.BOOL,
    14: DataType.BFLOAT16,
    17: DataType.UINT16,
    18: DataType.COMPLEX128,
    19: DataType.FLOAT16,
    21: DataType.TENSOR_LIST,  # variant; inference graphs only use it for tensor lists
    22: DataType.UINT32,
    23: DataType.UINT64,
}

_OTHER_NAMES = {11: "qint8", 12: "quint8", 13: "qint32", 15: "qint16", 16: "quint16", 20: "resource"}

STRING = 7
"""TensorFlow's number of the string type."""

_FIELDS: dict[DataType, str] = {
    DataType.FLOAT32: "float_val",
    DataType.FLOAT64: "double_val",
    DataType.FLOAT16: "half_val",
    DataType.INT64: "int64_val",
    DataType.BOOL: "bool_val",
    DataType.UINT32: "uint32_val",
    DataType.UINT64: "uint64_val",
    DataType.COMPLEX64: "scomplex_val",
    DataType.COMPLEX128: "dcomplex_val",
}
"""Data type -> field with the elements; smaller integers use `int_val`."""


class TensorError(Exception):
    """A tensor is damaged or unsupported."""


def type_name(number: int) -> str:
    """Returns the name of a data type for messages."""
    number = number - 100 if number > 100 else number
    return _DATA_TYPES[number].name.lower() if number in _DATA_TYPES else _OTHER_NAMES.get(number, f"number {number}")


def data_type(number: int) -> DataType:
    """Returns the data type of a TensorFlow DataType; reference types (number + 100) are resolved. Raises
    TensorError."""
    try:
        return _DATA_TYPES[number - 100 if number > 100 else number]
    except KeyError:
        raise TensorError(f"the data type {type_name(number)} is unsupported") from None


def dimensions(shape: Message) -> tuple[int, ...] | None:
    """Returns the dimensions of a TensorShapeProto, -1 if unknown; None if the rank is unknown. Raises TensorError."""
    if shape.unknown_rank:
        return None
    dims = tuple(int(dim.size) for dim in shape.dim)
    if len(dims) > MAX_RANK:
        raise TensorError(f"{len(dims)} dimensions are given; {MAX_RANK} are supported")
    for dim in dims:
        if not -1 <= dim <= MAX_DIMENSION:
            raise TensorError(f"{dim} is not a valid dimension")
    return dims


def read_tensor(tensor: Message) -> Array:
    """Returns the contents of a numeric TensorProto. Raises TensorError.

    If a `*_val` field has fewer elements than the tensor, its last one is repeated.
    """
    kind = data_type(tensor.dtype)
    if kind in (DataType.STRING, DataType.TENSOR_LIST, DataType.BFLOAT16):
        raise TensorError(f"constants of type {type_name(tensor.dtype)} are unsupported")
    dims = dimensions(tensor.tensor_shape)
    if dims is None or any(dim < 0 for dim in dims):
        raise TensorError("a constant has an unknown shape")
    dtype = numpy_type(kind)
    count = prod(dims)
    if count * dtype.itemsize > _MAX_BYTES:
        raise TensorError(f"a constant of shape {list(dims)} is too large")
    content = tensor.tensor_content
    if content:
        if len(content) != count * dtype.itemsize:
            raise TensorError(f"a constant of shape {list(dims)} has {len(content)} bytes")
        return np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(dims)
    values = _values(tensor, kind, dtype)
    if values.size > count:
        raise TensorError(f"a constant of shape {list(dims)} has {values.size} elements")
    if values.size == count:
        return values.reshape(dims)
    if count * dtype.itemsize > _MAX_REPEATED_BYTES:
        raise TensorError(f"a constant of shape {list(dims)} has only {values.size} elements")
    last = values[-1] if values.size else dtype.type(0)
    if values.size <= 1:
        return np.broadcast_to(last, dims)
    full = np.full(count, last, dtype)
    full[: values.size] = values
    return full.reshape(dims)


def _values(tensor: Message, kind: DataType, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    stored = getattr(tensor, _FIELDS.get(kind, "int_val"))
    if kind is DataType.FLOAT16:
        return np.array([number & 0xFFFF for number in stored], np.uint16).view(np.float16)
    if kind in (DataType.COMPLEX64, DataType.COMPLEX128):
        if len(stored) % 2:
            raise TensorError("a complex constant has no imaginary part")
        parts = np.array(stored, np.float32 if kind is DataType.COMPLEX64 else np.float64)
        return parts.view(dtype)
    if _FIELDS.get(kind) is None:
        return np.array(stored, np.int64).astype(dtype)
    return np.array(stored, dtype)
