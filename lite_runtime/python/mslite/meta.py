"""What is known of a tensor without its contents."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mslite.types import DataType, Format, numpy_type

Meta = tuple[str, int, Sequence[int], int]
"""How the native module tells of a tensor: name, element type, shape, format."""

_IMAGE_RANK = 4


def element_num(shape: Sequence[int]) -> int:
    """Number of elements, -1 when a size is not known."""
    return -1 if any(size < 0 for size in shape) else math.prod(shape)


def data_size(shape: Sequence[int], dtype: DataType) -> int:
    """Size in bytes, 0 when it is not known."""
    if dtype in (DataType.UNKNOWN, DataType.INVALID):
        return 0
    return max(element_num(shape), 0) * numpy_type(dtype).itemsize


class TensorMeta:
    """What is known of a tensor without its contents: `name`, `dtype`, `shape` (-1: unknown size), `format`."""

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
        """Number of elements, -1 when the shape is not known."""
        return element_num(self.shape)

    @property
    def data_size(self) -> int:
        """Size in bytes, 0 when the shape or the element type is not known."""
        return data_size(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({text_of(self)})"


def text_of(meta: TensorMeta) -> str:
    """For people who debug; the format where it says something: of images."""
    text = f"name={meta.name!r}, shape={meta.shape}, dtype={meta.dtype.name}"
    is_image = len(meta.shape) == _IMAGE_RANK and meta.format != Format.DEFAULT
    return f"{text}, format={meta.format.name}" if is_image else text


def meta_of(meta: Meta) -> TensorMeta:
    """The Python form of what the native module tells."""
    name, dtype, shape, layout = meta
    return TensorMeta(name, DataType(dtype), shape, Format(layout))


def fits(shape: Sequence[int], given: Sequence[int]) -> bool:
    """Whether an array of shape `given` has the sizes of `shape` that are known."""
    return len(given) == len(shape) and all(wanted in (-1, size) for wanted, size in zip(shape, given, strict=True))


def layout_hint(shape: Sequence[int], given: Sequence[int]) -> str:
    """What helps where an array has the channels in the other place."""
    if len(shape) != _IMAGE_RANK or len(given) != _IMAGE_RANK:
        return ""
    if not fits(shape, (given[0], given[2], given[3], given[1])):
        return ""
    return ": transpose(0, 2, 3, 1) makes NHWC of NCHW, or convert with --inputDataFormat=NCHW, which keeps the layout"
