"""TensorMeta: name, type and shape of a tensor without its data."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mslite.types import DataType, Format, numpy_type

Meta = tuple[str, int, Sequence[int], int]
"""A tensor without its data in the native module: name, data type, shape, format."""

_IMAGE_RANK = 4


def element_num(shape: Sequence[int]) -> int:
    """Returns the number of elements; -1 if a size is unknown."""
    return -1 if any(size < 0 for size in shape) else math.prod(shape)


def data_size(shape: Sequence[int], dtype: DataType) -> int:
    """Returns the size in bytes; 0 if it is unknown."""
    if dtype in (DataType.UNKNOWN, DataType.INVALID):
        return 0
    return max(element_num(shape), 0) * numpy_type(dtype).itemsize


class TensorMeta:
    """A tensor without its data: `name`, `dtype`, `shape` (-1: unknown size) and `format`."""

    def __init__(
        self,
        name: str = "",
        dtype: DataType = DataType.UNKNOWN,
        shape: Sequence[int] = (),
        format: Format = Format.DEFAULT,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = list(shape)
        self.format = format

    @property
    def element_num(self) -> int:
        """Number of elements; -1 if the shape is unknown."""
        return element_num(self.shape)

    @property
    def data_size(self) -> int:
        """Size in bytes; 0 if the shape or the data type is unknown."""
        return data_size(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({text_of(self)})"


def text_of(meta: TensorMeta) -> str:
    """Returns a text for debugging. The format is only included for images."""
    text = f"name={meta.name!r}, shape={meta.shape}, dtype={meta.dtype.name}"
    is_image = len(meta.shape) == _IMAGE_RANK and meta.format != Format.DEFAULT
    return f"{text}, format={meta.format.name}" if is_image else text


def meta_of(meta: Meta) -> TensorMeta:
    """Converts a description of the native module to a TensorMeta."""
    name, dtype, shape, layout = meta
    return TensorMeta(name, DataType(dtype), shape, Format(layout))


def fits(shape: Sequence[int], given: Sequence[int]) -> bool:
    """Returns True if `given` is equal to `shape`, in which -1 matches any size."""
    return len(given) == len(shape) and all(wanted in (-1, size) for wanted, size in zip(shape, given, strict=True))


def layout_hint(shape: Sequence[int], given: Sequence[int]) -> str:
    """Returns a hint if an array has the layout NCHW and the tensor NHWC, else ""."""
    if len(shape) != _IMAGE_RANK or len(given) != _IMAGE_RANK:
        return ""
    if not fits(shape, (given[0], given[2], given[3], given[1])):
        return ""
    return "; convert NCHW to NHWC with transpose(0, 2, 3, 1), or keep NCHW: convert with --inputDataFormat=NCHW"
