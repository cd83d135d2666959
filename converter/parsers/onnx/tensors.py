"""Reads tensors of an ONNX file as NumPy arrays: element types, inline data, and external data files."""

from __future__ import annotations

from math import prod
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt
from onnx import TensorProto

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.short_types import packed_size
from mslite.converter.text_shortening import quoted

from .constant_only_types import CONSTANT_ONLY_TYPES, ConstantOnlyType

_DATA_TYPES: dict[int, DataType] = {
    TensorProto.FLOAT: DataType.FLOAT32,
    TensorProto.UINT8: DataType.UINT8,
    TensorProto.INT8: DataType.INT8,
    TensorProto.UINT16: DataType.UINT16,
    TensorProto.INT16: DataType.INT16,
    TensorProto.INT32: DataType.INT32,
    TensorProto.INT64: DataType.INT64,
    TensorProto.STRING: DataType.STRING,
    TensorProto.BOOL: DataType.BOOL,
    TensorProto.FLOAT16: DataType.FLOAT16,
    TensorProto.DOUBLE: DataType.FLOAT64,
    TensorProto.UINT32: DataType.UINT32,
    TensorProto.UINT64: DataType.UINT64,
    TensorProto.COMPLEX64: DataType.COMPLEX64,
    TensorProto.COMPLEX128: DataType.COMPLEX128,
}

_INT32_FIELD = (DataType.UINT8, DataType.INT8, DataType.UINT16, DataType.INT16, DataType.INT32, DataType.BOOL)

MAX_DIMENSION = 2**31 - 1
"""Dimensions are 32-bit integers in a `.ms` file."""


class TensorError(Exception):
    """A malformed tensor."""


class UnsupportedTensor(TensorError):
    """A tensor that a `.ms` file cannot store."""


def data_type(element_type: int) -> DataType:
    """Converts an ONNX `elem_type`. Raises UnsupportedTensor for types that MindIR does not have."""
    try:
        return _DATA_TYPES[element_type]
    except KeyError:
        known = element_type in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(element_type) if known else str(element_type)
        raise UnsupportedTensor(f"element type {name} is not supported") from None


_MAX_DIMENSIONS = 32
"""The limit of NumPy in every version; tensors in computations have a lower limit."""


def check_dimensions(name: str, dims: tuple[int, ...]) -> None:
    """Raises TensorError for too many dimensions, or for one that is negative or too large for a `.ms` file."""
    if len(dims) > _MAX_DIMENSIONS:
        raise TensorError(f"tensor '{name}' has {len(dims)} dimensions")
    for dim in dims:
        if dim < 0:
            raise TensorError(f"tensor '{name}' has the negative dimension {dim}")
        if dim > MAX_DIMENSION:
            raise TensorError(f"tensor '{name}' has a dimension of {dim}, which exceeds the limit of the file format")


class TensorReader:
    """Reads tensors of one model. External data files are memory-mapped once; they must be in `folder`."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, npt.NDArray[np.uint8]] = {}

    def read(self, tensor: TensorProto) -> Array:
        """Returns the contents, without a copy if possible. Raises TensorError."""
        name = tensor.name or "(unnamed)"
        dims = tuple(tensor.dims)
        check_dimensions(name, dims)
        short = CONSTANT_ONLY_TYPES.get(tensor.data_type)
        if short is not None:
            return self._short(tensor, short, name, dims)
        kind = data_type(tensor.data_type)
        if kind is DataType.STRING:
            raise UnsupportedTensor(f"tensor '{name}' holds strings, which are not supported")
        if tensor.HasField("segment"):
            raise UnsupportedTensor(f"tensor '{name}' is stored in segments, which are not supported")
        dtype = numpy_type(kind).newbyteorder("<")
        count = prod(dims)
        if tensor.data_location == TensorProto.EXTERNAL:
            flat: Array = self._external(tensor, name, count * dtype.itemsize).view(dtype)
        elif tensor.HasField("raw_data"):
            raw = tensor.raw_data
            if len(raw) != count * dtype.itemsize:
                raise TensorError(f"tensor '{name}' of shape {list(dims)} contains {len(raw)} bytes")
            flat = np.frombuffer(raw, dtype)
        else:
            flat = self._typed_field(tensor, kind)
        if flat.size != count:
            raise TensorError(f"tensor '{name}' of shape {list(dims)} contains {flat.size} elements")
        return flat.reshape(dims)

    def _short(self, tensor: TensorProto, short: ConstantOnlyType, name: str, dims: tuple[int, ...]) -> Array:
        """Decodes integers of less than 8 bits to 8 bits, and short floats to float32."""
        if tensor.HasField("segment"):
            raise UnsupportedTensor(f"tensor '{name}' is stored in segments, which are not supported")
        count = prod(dims)
        size = packed_size(count, short.bits)
        has_whole_codes = False
        if tensor.data_location == TensorProto.EXTERNAL:
            data: Array = self._external(tensor, name, size)
        elif tensor.HasField("raw_data"):
            data = np.frombuffer(tensor.raw_data, np.uint8)
        else:
            codes = np.array(tensor.int32_data, np.int32)
            data = codes.astype("<u2").view(np.uint8) if short.bits == 16 else codes.astype(np.uint8)
            if short.bits == 6:
                has_whole_codes, size = True, count
        if data.size != size:
            raise TensorError(f"tensor '{name}' of shape {list(dims)} contains {data.size} bytes")
        if short.decode is not None:
            spend(4 * count, f"the constant {quoted(name)}, decoded to float32,")
        return short.elements(data, count, has_whole_codes).reshape(dims)

    @staticmethod
    def _typed_field(tensor: TensorProto, kind: DataType) -> Array:
        dtype = numpy_type(kind)
        if kind is DataType.FLOAT32:
            return np.array(tensor.float_data, np.float32)
        if kind is DataType.INT64:
            return np.array(tensor.int64_data, np.int64)
        if kind is DataType.FLOAT64:
            return np.array(tensor.double_data, np.float64)
        if kind in (DataType.UINT32, DataType.UINT64):
            return np.array(tensor.uint64_data, np.uint64).astype(dtype)
        if kind is DataType.FLOAT16:
            return np.array(tensor.int32_data, np.int32).astype(np.uint16).view(np.float16)
        if kind in _INT32_FIELD:
            return np.array(tensor.int32_data, np.int32).astype(dtype)
        if kind is DataType.COMPLEX64:
            return np.array(tensor.float_data, np.float32).view(np.complex64)
        return np.array(tensor.double_data, np.float64).view(np.complex128)

    def _external(self, tensor: TensorProto, name: str, size: int) -> npt.NDArray[np.uint8]:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        try:
            offset = int(entries.get("offset", "0"))
            length = int(entries.get("length", size))
        except ValueError:
            raise TensorError(f"tensor '{name}' has an external offset or length that is not a number") from None
        if length != size:
            raise TensorError(f"tensor '{name}' needs {size} bytes, but its external data has {length}")
        if size == 0:
            return np.empty(0, np.uint8)
        mapped = self._map(location, name)
        if offset < 0 or offset + length > mapped.size:
            raise TensorError(f"tensor '{name}' extends past the end of the external data file '{location}'")
        return mapped[offset : offset + length]

    def _map(self, location: str, name: str) -> npt.NDArray[np.uint8]:
        if location in self._files:
            return self._files[location]
        if self._folder is None:
            raise TensorError(f"tensor '{name}' is in the external file '{location}', but the model is not a file")
        path = PurePosixPath(location.replace("\\", "/"))
        folder = self._folder.resolve()
        if not location or "\0" in location or path.is_absolute() or ".." in path.parts:
            raise TensorError(f"tensor '{name}' has the external location '{location}', outside the model's folder")
        try:
            file = (folder / path).resolve()
            if not file.is_relative_to(folder):
                raise TensorError(f"tensor '{name}' has the external location '{location}', outside the model's folder")
            if not file.is_file() or file.stat().st_size == 0:
                raise TensorError(
                    f"tensor '{name}' needs the external data file '{location}', which is missing or empty"
                )
            self._files[location] = np.memmap(file, np.uint8, mode="r")
        except (OSError, RuntimeError) as error:
            raise TensorError(
                f"the external data file '{location}' of tensor '{name}' cannot be read: {error}"
            ) from None
        return self._files[location]
