"""Tensors that enter and leave models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.types import DataType, Format, data_type_of, numpy_type

Array = npt.NDArray[Any]
Meta = tuple[str, int, Sequence[int], int]
"""How the native module tells of a tensor: name, element type, shape, format."""


_IMAGE_RANK = 4


def _element_num(shape: Sequence[int]) -> int:
    return -1 if any(size < 0 for size in shape) else math.prod(shape)


class TensorMeta:
    """What is known of a tensor without its contents: `name`, `dtype`, `shape` (-1: unknown size), `format`."""

    def __init__(self, name: str, dtype: DataType, shape: Sequence[int], format: Format) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = list(shape)
        self.format = format

    @property
    def element_num(self) -> int:
        """Number of elements, -1 when the shape is not known."""
        return _element_num(self.shape)

    @property
    def data_size(self) -> int:
        """Size in bytes, 0 when the shape is not known."""
        return max(self.element_num, 0) * numpy_type(self.dtype).itemsize

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, dtype={self.dtype.name}, shape={self.shape})"


def meta_of(meta: Meta) -> TensorMeta:
    """The Python form of what the native module tells."""
    name, dtype, shape, layout = meta
    return TensorMeta(name, DataType(dtype), shape, Format(layout))


class Tensor:
    """A tensor of host memory.

    `tensor` is another Tensor (described again, its contents shared), a TensorMeta, or a NumPy array (shared, not
    copied). `shape` and `dtype` describe it where `tensor` does not. `device` can only be None or "cpu".

    Raises TypeError and ValueError for what does not fit.
    """

    def __init__(
        self,
        tensor: Tensor | TensorMeta | Array | None = None,
        shape: Sequence[int] | None = None,
        dtype: DataType | None = None,
        device: str | None = None,
    ) -> None:
        if device not in (None, "", "cpu"):
            raise ValueError(f"device must be 'cpu', not {device!r}: tensors live in host memory")
        self.name = ""
        self._dtype = DataType.FLOAT32 if dtype is None else _checked(dtype, DataType, "dtype")
        self._shape: list[int] = []
        self._format = Format.DEFAULT
        self._array: Array | None = None
        if isinstance(tensor, Tensor | TensorMeta):
            self.name, self._dtype, self._shape = tensor.name, tensor.dtype, list(tensor.shape)
            self._format = tensor.format
            self._array = tensor._array if isinstance(tensor, Tensor) else None
        elif isinstance(tensor, np.ndarray):
            self._dtype, self._shape = data_type_of(tensor), list(tensor.shape)
            self.set_data_from_numpy(tensor)
        elif tensor is not None:
            raise TypeError(f"tensor must be a Tensor or a NumPy array, not {type(tensor).__name__}")
        if shape is not None:
            self.shape = list(shape)
        if dtype is not None:
            self.dtype = dtype

    @property
    def dtype(self) -> DataType:
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: DataType) -> None:
        if _checked(dtype, DataType, "dtype") != self._dtype:
            self._dtype, self._array = dtype, None

    @property
    def shape(self) -> list[int]:
        """The sizes; -1 for one that is not known. Setting another shape drops the contents."""
        return list(self._shape)

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        sizes = [int(size) for size in shape]
        if any(size < -1 for size in sizes):
            raise ValueError(f"shape {sizes} has a negative size")
        if sizes != self._shape:
            self._shape, self._array = sizes, None

    @property
    def format(self) -> Format:
        return self._format

    @format.setter
    def format(self, format: Format) -> None:
        self._format = _checked(format, Format, "format")

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def element_num(self) -> int:
        """Number of elements, -1 when the shape is not known."""
        return _element_num(self._shape)

    @property
    def data_size(self) -> int:
        """Size in bytes, 0 when the shape is not known."""
        return max(self.element_num, 0) * numpy_type(self._dtype).itemsize

    def get_data_to_numpy(self) -> Array:
        """The contents, not copied; zeros where none were set. Strings are their packed bytes, bfloat16 its bits.

        Raises RuntimeError while the shape is not known."""
        if self._array is None:
            if self.element_num < 0:
                raise RuntimeError(f"tensor '{self.name}' has the unknown shape {self._shape} and no data")
            self._array = np.zeros(self._shape, numpy_type(self._dtype))
        return self._array

    def set_data_from_numpy(self, numpy_obj: Array) -> None:
        """Takes the array as contents, without a copy where it is C-contiguous.

        Raises TypeError when its dtype, and ValueError when its shape is not the tensor's."""
        if not isinstance(numpy_obj, np.ndarray):
            raise TypeError(f"numpy_obj must be a NumPy array, not {type(numpy_obj).__name__}")
        if numpy_obj.dtype != numpy_type(self._dtype):
            raise TypeError(f"tensor '{self.name}' holds {self._dtype.name}, not {numpy_obj.dtype}")
        if self._dtype != DataType.STRING:
            fits = numpy_obj.ndim == len(self._shape) and all(
                wanted in (-1, size) for wanted, size in zip(self._shape, numpy_obj.shape, strict=True)
            )
            if not fits:
                raise ValueError(
                    f"tensor '{self.name}' has shape {self._shape}, the array {list(numpy_obj.shape)}"
                    + _layout_hint(self._shape, numpy_obj.shape)
                )
            self._shape = list(numpy_obj.shape)
        self._array = numpy_obj if numpy_obj.flags.c_contiguous else np.ascontiguousarray(numpy_obj)

    def __repr__(self) -> str:
        return f"Tensor(name={self.name!r}, dtype={self._dtype.name}, shape={self._shape})"


def _layout_hint(shape: Sequence[int], given: Sequence[int]) -> str:
    """What helps where an array has the channels in the other place."""
    if len(shape) != _IMAGE_RANK or len(given) != _IMAGE_RANK:
        return ""
    turned = (given[0], given[2], given[3], given[1])
    if not all(wanted in (-1, size) for wanted, size in zip(shape, turned, strict=True)):
        return ""
    return ": transpose(0, 2, 3, 1) makes NHWC of NCHW, or convert with --inputDataFormat=NCHW, which keeps the layout"


def _checked(value: Any, kind: type[Any], name: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    return value


def native_input(tensor: Tensor, name: str = "") -> tuple[Meta, Array]:
    """A tensor as the native module takes it, under `name` where it has none."""
    array = tensor.get_data_to_numpy()
    return (tensor.name or name, tensor.dtype.value, tensor.shape, tensor.format.value), array


def tensor_of(meta: Meta, array: Any) -> Tensor:
    """A tensor that the native module has made."""
    tensor = Tensor(meta_of(meta))
    tensor._array = array
    return tensor


__all__ = ["Tensor", "TensorMeta"]
