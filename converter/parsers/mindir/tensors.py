"""Reads tensors of a `.mindir` file: data types, dimensions, and contents from the file or from its data files."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mslite.converter.encryption import Opener
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Encoding, Shape, Value, numpy_type
from mslite.converter.mindir.ops.enums import DataType, Format, WeightQuantCompressType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.parsers.protobuf import Message

from .messages import LINEAR_QUANTIZATION, QUANTIZATION_LISTS, TENSOR_TYPES

MAX_RANK = 8
MAX_DIMENSION = (1 << 31) - 1
_MAX_BYTES = 1 << 40
_LITTLE_ENDIAN = 1
_PACKED_TYPES = (DataType.INT8, DataType.INT16)
_OF_ANY_TYPE = (WeightQuantCompressType.FSE, WeightQuantCompressType.FSE_INFER)
"""Compressions that decode to float32 whatever type the constant has; the others decode to integers."""


class TensorError(ValueError):
    """A tensor or attribute is damaged or unsupported. `str()` is the second part of a message `'name': ...`."""


def data_type(tensor: Message) -> DataType:
    """Returns the data type. Raises TensorError for an unknown one."""
    if tensor.data_type not in TENSOR_TYPES:
        raise TensorError(f"element type {tensor.data_type} is unknown")
    return TENSOR_TYPES[tensor.data_type]


def dimensions(tensor: Message) -> tuple[int, ...] | None:
    """Returns the dimensions, -1 if unknown; None if the rank is unknown (-2 in the file). Raises TensorError."""
    dims = tuple(tensor.dims)
    if dims == (-2,):
        return None
    if len(dims) > MAX_RANK or any(not -1 <= dim <= MAX_DIMENSION for dim in dims):
        raise TensorError(f"the dimensions {list(dims[:12])} are invalid")
    return dims


class TensorReader:
    """Reads constants. Data files must be in the model's folder; each one is opened once."""

    def __init__(self, folder: Path | None, opener: Opener | None = None) -> None:
        self._folder = folder
        self._opener = opener
        self._files: dict[str, Array] = {}

    def array(self, tensor: Message) -> Array:
        """Returns the contents of an uncompressed constant; bfloat16 becomes float32. Raises TensorError."""
        dtype, shape = self._type_and_shape(tensor)
        if tensor.compression_type:
            raise TensorError("compressed constants are only supported as parameters")
        return self._elements(tensor, dtype, shape, self._bytes(tensor))

    def constant(self, tensor: Message, name: str) -> Value:
        """Returns a constant, which may be compressed or quantized. Raises TensorError."""
        dtype, shape = self._type_and_shape(tensor)
        quant = quantization(tensor)
        if tensor.compression_type:
            try:
                compression = WeightQuantCompressType(tensor.compression_type)
            except ValueError:
                raise TensorError(f"compression {tensor.compression_type} is unknown") from None
            if compression not in _OF_ANY_TYPE and dtype not in _PACKED_TYPES:
                raise TensorError(
                    f"compression {compression.name} is for int8 and int16; the constant is {dtype.name.lower()}"
                )
            raw = bytes(self._bytes(tensor))
            encoding = Encoding(compression)
            return Value(name, dtype, shape, format=Format.NCHW, quant=quant, raw=raw, encoding=encoding)
        array = self._elements(tensor, dtype, shape, self._bytes(tensor))
        stored = DataType.FLOAT32 if dtype is DataType.BFLOAT16 else dtype
        return Value(name, stored, shape, data=array, format=Format.NCHW, quant=quant)

    def _type_and_shape(self, tensor: Message) -> tuple[DataType, Shape]:
        dtype = data_type(tensor)
        if dtype is DataType.STRING:
            raise TensorError("string tensors are not supported")
        shape = dimensions(tensor)
        if shape is None or any(dim < 0 for dim in shape):
            raise TensorError("it is a constant, but its dimensions are unknown")
        return dtype, shape

    def _elements(self, tensor: Message, dtype: DataType, shape: Shape, data: Array) -> Array:
        wide = dtype is DataType.BFLOAT16
        kind = np.dtype(np.uint16) if wide else numpy_type(dtype)
        size = kind.itemsize
        for dim in shape:
            size *= dim
            if size > _MAX_BYTES:
                raise TensorError(f"the dimensions {list(shape)} are invalid")
        if size != data.nbytes:
            raise TensorError(f"the dimensions {list(shape)} need {size} bytes, but it has {data.nbytes}")
        array: Array = np.frombuffer(data.data if data.nbytes else b"", kind).reshape(shape)
        if not array.flags.aligned:
            array = array.copy()
        if dtype is DataType.BOOL:
            array = np.asarray(array.view(np.uint8) != 0)
        if wide:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array

    def _bytes(self, tensor: Message) -> Array:
        if tensor.HasField("raw_data"):
            return np.frombuffer(tensor.raw_data, np.uint8)
        if tensor.HasField("external_data"):
            return self._outside(tensor.external_data)
        for field, kind in _TYPED_FIELDS.items():
            if len(getattr(tensor, field)):
                array = np.asarray(getattr(tensor, field), kind)
                return np.frombuffer(array.astype(_stored_type(tensor)).tobytes(), np.uint8)
        return np.zeros(0, np.uint8)

    def _outside(self, record: Message) -> Array:
        """Returns the bytes of a constant in a data file. Byte 0 of a data file is 1 if it is little-endian."""
        location, offset, length = record.location, record.offset, record.length
        parts = PurePosixPath(location).parts
        if not location or location.startswith(("/", "\\")) or ".." in parts or "\0" in location:
            raise TensorError(f"its data file '{location[:80]}' is not in the model's folder")
        if self._folder is None:
            raise TensorError("it is in a data file, but the model was not read from a file")
        if location not in self._files:
            try:
                self._files[location] = self._data_file(self._folder / location)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise TensorError(f"its data file '{location}' cannot be read: {reason}") from None
        data = self._files[location]
        if data.size == 0 or data[0] != _LITTLE_ENDIAN:
            raise TensorError(f"its data file '{location}' is not little-endian")
        if offset < 0 or length < 0 or offset > len(data) or length > len(data) - offset:
            raise TensorError(f"bytes {offset} to {offset + length} are outside its data file '{location}'")
        return data[offset : offset + length]

    def _data_file(self, path: Path) -> Array:
        data: Array = np.memmap(path, np.uint8, "r")
        if self._opener is None:
            return data
        try:
            return np.frombuffer(self._opener(data.data, str(path)), np.uint8)
        except ConversionError as error:
            raise TensorError(str(error)) from None


_TYPED_FIELDS = {
    "float_data": np.float32,
    "int32_data": np.int32,
    "int64_data": np.int64,
    "double_data": np.float64,
    "uint64_data": np.uint64,
}


def _stored_type(tensor: Message) -> np.dtype[np.generic]:
    try:
        return numpy_type(data_type(tensor))
    except ValueError:
        raise TensorError(f"{data_type(tensor).name} constants need raw data") from None


def quantization(tensor: Message) -> tuple[QuantParam, ...]:
    """Returns scales and zero points. Raises TensorError for other kinds of quantization."""
    for record in tensor.quant_params:
        if record.quant_algo_name != LINEAR_QUANTIZATION:
            raise TensorError(f"quantization '{record.quant_algo_name[:40]}' is unsupported")
        lists: dict[str, list[float]] = {}
        for attribute in record.attribute:
            field = QUANTIZATION_LISTS.get(attribute.name)
            if field is not None:
                lists[field] = [_number(item) for item in attribute.values]
        count = len(lists.get("scale", ()))
        if any(len(values) != count for values in lists.values()):
            raise TensorError("its lists of scales and zero points differ in length")
        return tuple(
            QuantParam(**{field: _typed(field, values[index]) for field, values in lists.items()})
            for index in range(count)
        )
    return ()


def _number(item: Message) -> float:
    for field in ("floats", "doubles", "ints"):
        if len(getattr(item, field)):
            return float(getattr(item, field)[0])
    return float(item.f if item.HasField("f") else item.d if item.HasField("d") else item.i)


_INTEGERS = ("zeroPoint", "numBits", "dstDtype", "roundType", "multiplier")


def _typed(field: str, number: float) -> Any:
    if field == "narrowRange":
        return bool(number)
    return int(number) if field in _INTEGERS else number
