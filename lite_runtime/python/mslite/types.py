"""The enumerations of the API. The values are those of the C++ API and of model files."""

from __future__ import annotations

from enum import Enum, IntEnum

import numpy as np
import numpy.typing as npt


class ModelType(IntEnum):
    """The type of a model file. Both values mean `.ms` files."""

    MINDIR = 0
    MINDIR_LITE = 4


class ModelGroupFlag(IntEnum):
    """The memory that models of a ModelGroup share."""

    SHARE_WEIGHT = 1
    SHARE_WORKSPACE = 2
    SHARE_WEIGHT_WORKSPACE = 3


class QuantizationType(IntEnum):
    """How `Model.export_model` stores weights."""

    NO_QUANT = 0
    WEIGHT_QUANT = 1


class OptimizationLevel(IntEnum):
    """The precision of training."""

    O0 = 0
    O2 = 2
    O3 = 3
    AUTO = 4


class DataType(Enum):
    """The data type of a tensor."""

    UNKNOWN = 0
    STRING = 12
    BOOL = 30
    INT8 = 32
    INT16 = 33
    INT32 = 34
    INT64 = 35
    UINT8 = 37
    UINT16 = 38
    UINT32 = 39
    UINT64 = 40
    FLOAT16 = 42
    FLOAT32 = 43
    FLOAT64 = 44
    BFLOAT16 = 45
    COMPLEX64 = 51
    COMPLEX128 = 52
    INVALID = 2**31 - 1


class Format(Enum):
    """The layout of a tensor."""

    DEFAULT = -1
    NCHW = 0
    NHWC = 1
    NHWC4 = 2
    HWKC = 3
    HWCK = 4
    KCHW = 5
    CKHW = 6
    KHWC = 7
    CHWK = 8
    HW = 9
    HW4 = 10
    NC = 11
    NC4 = 12
    NC4HW4 = 13
    NCDHW = 15
    NWC = 16
    NCW = 17
    NDHWC = 18
    NC8HW8 = 19


_NUMPY_TYPES: dict[DataType, npt.DTypeLike] = {
    DataType.STRING: np.uint8,
    DataType.BOOL: np.bool_,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.UINT8: np.uint8,
    DataType.UINT16: np.uint16,
    DataType.UINT32: np.uint32,
    DataType.UINT64: np.uint64,
    DataType.FLOAT16: np.float16,
    DataType.FLOAT32: np.float32,
    DataType.FLOAT64: np.float64,
    DataType.BFLOAT16: np.uint16,
    DataType.COMPLEX64: np.complex64,
    DataType.COMPLEX128: np.complex128,
}
_PLAIN_TYPES = {
    np.dtype(dtype): data_type
    for data_type, dtype in _NUMPY_TYPES.items()
    if data_type not in (DataType.STRING, DataType.BFLOAT16)
}


def numpy_type(data_type: DataType) -> np.dtype[np.generic]:
    """Returns the dtype of the array for a tensor: packed bytes for strings, bit patterns (uint16) for bfloat16.

    Raises TypeError for UNKNOWN and INVALID."""
    try:
        return np.dtype(_NUMPY_TYPES[data_type])
    except KeyError:
        raise TypeError(f"tensors of type {data_type.name} have no data") from None


def cast_to(wanted: DataType) -> str:
    """Returns a hint with the call that converts an array to a type; "" for types that NumPy does not have."""
    name = str(numpy_type(wanted))
    if name != wanted.name.lower():
        return ""
    return f"; array.astype({'bool' if name == 'bool' else f'np.{name}'}) converts it"


def data_type_of(array: npt.NDArray[np.generic]) -> DataType:
    """Returns the data type of an array. Raises TypeError for unsupported dtypes."""
    try:
        return _PLAIN_TYPES[array.dtype]
    except KeyError:
        raise TypeError(f"tensors do not support NumPy arrays of {array.dtype}; convert the array first") from None


__all__ = ["DataType", "Format", "ModelGroupFlag", "ModelType"]
