"""Data types of TensorFlow Lite tensors: names, storage, and the MindIR types that they become.

2-bit and 4-bit integers are unpacked to int8 or uint8. bfloat16 and float8 constants become float32, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.short_types import (
    Decoder,
    from_bfloat16,
    from_float8_e4m3fn,
    from_float8_e5m2,
    packed_size,
    unpacked,
)


@dataclass(frozen=True)
class ElementType:
    """A data type of the schema. `dtype` is the MindIR type; with `decode`, constants become float32 instead."""

    name: str
    dtype: DataType
    bits: int = 0
    """Bits of an element if several share a byte, the first one in the low bits; else 0."""
    stored: npt.DTypeLike = np.uint8
    decode: Decoder | None = None

    @property
    def constant_dtype(self) -> DataType:
        return self.dtype if self.decode is None else DataType.FLOAT32

    def elements(self, data: memoryview, count: int | None, name: str) -> Array:
        """Returns the elements of tensor `name`. Raises FlatBufferError if there are not `count` (None: any number)."""
        if self.bits:
            return self._unpacked(data, count, name)
        dtype = numpy_type(self.dtype) if self.decode is None else np.dtype(self.stored)
        wanted = len(data) if count is None else count * dtype.itemsize
        if wanted != len(data) or wanted % dtype.itemsize:
            raise FlatBufferError(f"tensor '{name}' has {len(data)} bytes; its shape needs {wanted}")
        array: Array = np.frombuffer(data, dtype)
        array = array if array.flags.aligned else array.copy()
        return array if self.decode is None else self.decode(array)

    def _unpacked(self, data: memoryview, count: int | None, name: str) -> Array:
        if count is None:
            raise FlatBufferError(f"tensor '{name}' is sparse and has elements of less than 8 bits")
        wanted = packed_size(count, self.bits)
        if wanted != len(data):
            raise FlatBufferError(f"tensor '{name}' has {len(data)} bytes; its shape needs {wanted}")
        return unpacked(np.frombuffer(data, numpy_type(self.dtype)), self.bits, count)


_TYPES = {
    0: ElementType("FLOAT32", DataType.FLOAT32),
    1: ElementType("FLOAT16", DataType.FLOAT16),
    2: ElementType("INT32", DataType.INT32),
    3: ElementType("UINT8", DataType.UINT8),
    4: ElementType("INT64", DataType.INT64),
    5: ElementType("STRING", DataType.STRING),
    6: ElementType("BOOL", DataType.BOOL),
    7: ElementType("INT16", DataType.INT16),
    8: ElementType("COMPLEX64", DataType.COMPLEX64),
    9: ElementType("INT8", DataType.INT8),
    10: ElementType("FLOAT64", DataType.FLOAT64),
    11: ElementType("COMPLEX128", DataType.COMPLEX128),
    12: ElementType("UINT64", DataType.UINT64),
    13: ElementType("RESOURCE", DataType.UNKNOWN),
    14: ElementType("VARIANT", DataType.UNKNOWN),
    15: ElementType("UINT32", DataType.UINT32),
    16: ElementType("UINT16", DataType.UINT16),
    17: ElementType("INT4", DataType.INT8, bits=4),
    18: ElementType("BFLOAT16", DataType.BFLOAT16, stored=np.uint16, decode=from_bfloat16),
    19: ElementType("INT2", DataType.INT8, bits=2),
    20: ElementType("UINT4", DataType.UINT8, bits=4),
    21: ElementType("FLOAT8_E4M3FN", DataType.UNKNOWN, stored=np.uint8, decode=from_float8_e4m3fn),
    22: ElementType("FLOAT8_E5M2", DataType.UNKNOWN, stored=np.uint8, decode=from_float8_e5m2),
}


def element_type(number: int) -> ElementType:
    """Returns the type with this number in the schema; an unknown one is named after its number."""
    return _TYPES.get(number) or ElementType(f"TYPE_{number}", DataType.UNKNOWN)
