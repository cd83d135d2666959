"""Tensor: inputs and outputs of models."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from mslite.meta import Meta, TensorMeta, data_size, element_num, fits, layout_hint, text_of
from mslite.settings import checked
from mslite.types import DataType, Format, cast_to, data_type_of, numpy_type

Array = npt.NDArray[Any]


class SupportsDLPack(Protocol):
    """A tensor of another library that shares its memory with DLPack."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


_BIT_PATTERNS = (DataType.STRING, DataType.BFLOAT16)


def sizes_of(name: str, shape: Any) -> list[int]:
    """Returns the sizes of a shape; -1 is an unknown size. Raises TypeError if it is not a list of int, ValueError for
    other negative sizes."""
    if not isinstance(shape, list | tuple):
        raise TypeError(f"{name} must be a list of int, not {type(shape).__name__}")
    try:
        sizes = [operator.index(size) for size in shape]
    except TypeError:
        raise TypeError(f"{name} must be a list of int, not {shape}") from None
    if any(size < -1 for size in sizes):
        raise ValueError(f"{name} {sizes} has a negative size")
    return sizes


class Tensor:
    """A tensor in host memory.

    `tensor` is another Tensor, whose data is shared, a TensorMeta, or a NumPy array. A C-contiguous array is shared,
    others are copied. Without `tensor`, `shape` and `dtype` describe the tensor. `device` is None or "cpu".
    `np.asarray(tensor)` and libraries with DLPack (`torch.from_dlpack(tensor)`) share the memory of the tensor.

    Raises TypeError and ValueError for wrong arguments.
    """

    # With slots, setting a misspelled attribute is an error. A `__setattr__` would be slower.
    __slots__ = ("__weakref__", "_array", "_dtype", "_format", "_name", "_shape")

    def __init__(
        self,
        tensor: Tensor | TensorMeta | Array | None = None,
        shape: Sequence[int] | None = None,
        dtype: DataType | None = None,
        device: str | None = None,
    ) -> None:
        if device not in (None, "", "cpu"):
            raise ValueError(f"device must be 'cpu', not {device!r}: tensors are in host memory")
        self._name = ""
        self._dtype: DataType = DataType.FLOAT32 if dtype is None else checked("dtype", dtype, DataType)
        self._shape: list[int] = [] if shape is None else sizes_of("shape", shape)
        self._format = Format.DEFAULT
        self._array: Array | None = None
        if tensor is None:
            return
        if isinstance(tensor, Tensor | TensorMeta):
            self._name, self._dtype, self._shape = tensor.name, tensor.dtype, list(tensor.shape)
            self._format = tensor.format
            self._array = tensor._array if isinstance(tensor, Tensor) else None
        elif isinstance(tensor, np.ndarray):
            self._dtype, self._shape = data_type_of(tensor), list(tensor.shape)
            self.set_data_from_numpy(tensor)
        else:
            raise TypeError(f"tensor must be a Tensor or a NumPy array, not {type(tensor).__name__}")
        if dtype is not None and dtype != self._dtype:
            raise TypeError(f"dtype is {dtype.name}, but the tensor has {self._dtype.name}")
        if shape is not None and not fits(self._shape, shape):
            raise TypeError(f"shape is {list(shape)}, but the tensor has {self._shape}")
        if shape is not None:
            self._shape = list(shape)

    @classmethod
    def from_numpy(cls, array: Array, name: str = "") -> Tensor:
        """Returns a tensor that shares the memory of an array.

        Raises TypeError for an unsupported dtype, ValueError for an array that is not C-contiguous and aligned."""
        if not isinstance(array, np.ndarray):
            raise TypeError(f"array must be a NumPy array, not {type(array).__name__}")
        if not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError("the array is not C-contiguous and aligned; np.ascontiguousarray(array) copies it")
        tensor = cls(array)
        tensor.name = name
        return tensor

    @classmethod
    def from_dlpack(cls, other: SupportsDLPack, name: str = "") -> Tensor:
        """Returns a tensor that shares the memory of another library's tensor, which has `__dlpack__` and is on the CPU.

        Raises TypeError, ValueError or BufferError if the memory cannot be shared."""
        return cls.from_numpy(np.from_dlpack(cast(Any, other)), name)

    @property
    def name(self) -> str:
        """The name, by which `Model.resize` finds inputs."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = checked("name", name, str)

    @property
    def dtype(self) -> DataType:
        """The data type. Setting another one drops the data."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: DataType) -> None:
        if checked("dtype", dtype, DataType) != self._dtype:
            self._dtype, self._array = dtype, None

    @property
    def shape(self) -> list[int]:
        """The shape; -1 is an unknown size. Setting another shape drops the data."""
        return list(self._shape)

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        sizes = sizes_of("shape", shape)
        if sizes != self._shape:
            self._shape, self._array = sizes, None

    @property
    def format(self) -> Format:
        """The layout of the dimensions."""
        return self._format

    @format.setter
    def format(self, format: Format) -> None:
        self._format = checked("format", format, Format)

    @property
    def device(self) -> str:
        """The device of the memory: "cpu"."""
        return "cpu"

    @property
    def element_num(self) -> int:
        """Number of elements; -1 if the shape is unknown."""
        return element_num(self._shape)

    @property
    def data_size(self) -> int:
        """Size in bytes; 0 if the shape is unknown."""
        return data_size(self._shape, self._dtype)

    def get_data_to_numpy(self) -> Array:
        """Returns the data without a copy; zeros if none were set. Strings are returned as packed bytes, bfloat16 as bit
        patterns (uint16).

        Raises RuntimeError if the shape is unknown."""
        if self._array is None:
            if self.element_num < 0:
                raise RuntimeError(f"tensor '{self.name}' has no data and an unknown shape {self._shape}")
            self._array = np.zeros(self._shape, numpy_type(self._dtype))
        return self._array

    def set_data_from_numpy(self, numpy_obj: Array) -> None:
        """Sets the data to an array, without a copy if it is C-contiguous and aligned. An array of another rank with the same
        number of elements, such as a flat one, is reshaped.

        Raises TypeError for another dtype, ValueError for another shape."""
        if not isinstance(numpy_obj, np.ndarray):
            raise TypeError(f"numpy_obj must be a NumPy array, not {type(numpy_obj).__name__}")
        if numpy_obj.dtype != numpy_type(self._dtype):
            raise TypeError(
                f"tensor '{self.name}' has type {self._dtype.name}, not {numpy_obj.dtype}{cast_to(self._dtype)}"
            )
        array = contiguous(numpy_obj)
        if self._dtype != DataType.STRING:
            if array.ndim != len(self._shape) and array.size == self.element_num:
                array = array.reshape(self._shape)
            if not fits(self._shape, array.shape):
                raise ValueError(
                    f"tensor '{self.name}' has shape {self._shape}, the array has {list(array.shape)}"
                    + layout_hint(self._shape, array.shape)
                )
            self._shape = list(array.shape)
        self._array = array

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        array = self.get_data_to_numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"converting {array.dtype} to {np.dtype(dtype)} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        """Returns a capsule that shares the memory. The options are those of NumPy's `__dlpack__`.

        Raises BufferError for strings and bfloat16, which are stored as bit patterns."""
        if self._dtype in _BIT_PATTERNS:
            raise BufferError(f"tensor '{self.name}' has type {self._dtype.name}, which DLPack does not support here")
        return self.get_data_to_numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the device in DLPack's form: CPU 0."""
        return (1, 0)

    def __repr__(self) -> str:
        contents = "" if self._array is not None else ", no data"
        return f"Tensor({text_of(TensorMeta(self._name, self._dtype, self._shape, self._format))}{contents})"


Input = Tensor | Array | SupportsDLPack
"""An input of `Model.predict`."""


def contiguous(array: Array) -> Array:
    """Returns the array if it is C-contiguous and aligned, else a copy that is."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, requirements=["C", "A"])


def native_input(tensor: Tensor, name: str = "") -> tuple[Meta, Array]:
    """Converts a tensor to the form of the native module. `name` is used if the tensor has no name."""
    array = tensor.get_data_to_numpy()
    return (tensor.name or name, tensor.dtype.value, tensor.shape, tensor.format.value), array


def tensor_of(meta: TensorMeta, array: Any) -> Tensor:
    """Converts an output of the native module to a tensor, without checks."""
    tensor = Tensor.__new__(Tensor)
    tensor._name, tensor._dtype, tensor._shape, tensor._format = meta.name, meta.dtype, list(meta.shape), meta.format
    tensor._array = array
    return tensor


__all__ = ["Tensor"]
