"""Reads a TensorFlow Lite file (schema version 3) into plain records, every offset and index checked."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tflite

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.flatbuffer import FlatBufferError, Source, Table
from mslite.converter.mindir.graph import Array, numpy_type
from mslite.converter.mindir.ops.enums import DataType

from .options import Options
from .sparsity import Sparsity, read_sparsity

_SCHEMA_VERSION = 3
_MAX_RANK = 8
_LARGEST_ZERO_POINT = 1 << 16
"""Quantised integers have 16 bits at most, but for biases, whose zero point is 0."""
_DATA_TYPES = {
    0: DataType.FLOAT32,
    1: DataType.FLOAT16,
    2: DataType.INT32,
    3: DataType.UINT8,
    4: DataType.INT64,
    5: DataType.STRING,
    6: DataType.BOOL,
    7: DataType.INT16,
    8: DataType.COMPLEX64,
    9: DataType.INT8,
    10: DataType.FLOAT64,
    11: DataType.COMPLEX128,
    12: DataType.UINT64,
    15: DataType.UINT32,
    16: DataType.UINT16,
    17: DataType.INT8,
    18: DataType.BFLOAT16,
}
_BLOCKWISE = 2
"""The kind of quantisation details that gives scales per block of elements."""
_INT4 = 17
"""Stored two to a byte, the first one low."""
_TYPE_NAMES = {number: name for name, number in vars(tflite.TensorType).items() if isinstance(number, int)}
_OPERATOR_NAMES = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}


@dataclass(frozen=True)
class Quantization:
    """real = scale * (q - zero_point), one pair or one per index of dimension `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class SourceTensor:
    name: str
    dtype: DataType
    type_name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    """as `shape`, with -1 where the size may vary; empty when it is the same"""
    data: memoryview | None
    quantization: Quantization | None
    is_variable: bool
    sparsity: Sparsity | None
    bits: int = 8
    """of an element, where that is not the size of `dtype`: 4-bit integers are read into INT8"""

    def array(self) -> Array | None:
        """The contents of a constant, a view where possible. Raises FlatBufferError when they do not fit the shape."""
        if self.data is None:
            return None
        dtype = numpy_type(self.dtype)
        if self.sparsity is not None:
            if self.bits != 8 or len(self.data) % dtype.itemsize:
                raise FlatBufferError(f"tensor '{self.name}' is sparse and has elements of parts of bytes")
            return self.sparsity.dense(np.frombuffer(bytes(self.data), dtype), self.shape, self.name)
        count = 1
        for dim in self.shape:
            count *= dim
        if self.bits == 4:
            return self._nibbles(count)
        if count * dtype.itemsize != len(self.data):
            raise FlatBufferError(
                f"tensor '{self.name}' has {len(self.data)} bytes, its shape asks for {count * dtype.itemsize}"
            )
        array: Array = np.frombuffer(self.data, dtype).reshape(self.shape)
        return array if array.flags.aligned else array.copy()

    def _nibbles(self, count: int) -> Array:
        assert self.data is not None
        if (count + 1) // 2 != len(self.data):
            raise FlatBufferError(
                f"tensor '{self.name}' has {len(self.data)} bytes, its shape asks for {(count + 1) // 2}"
            )
        pairs = np.frombuffer(self.data, np.int8)
        both = np.stack([np.left_shift(pairs, 4) >> 4, pairs >> 4], axis=1)
        return both.reshape(-1)[:count].reshape(self.shape)


@dataclass(frozen=True)
class SourceOperator:
    name: str
    """`CONV_2D`, or `CUSTOM:TFLite_Detection_PostProcess`"""
    inputs: tuple[int, ...]
    """tensor indices, -1 for an optional input that is left out"""
    outputs: tuple[int, ...]
    options: Options
    custom_options: memoryview
    intermediates: tuple[int, ...] = ()
    """tensors that hold nothing but the records of values inside of the operator"""


@dataclass
class SourceGraph:
    name: str
    tensors: list[SourceTensor]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: list[SourceOperator] = field(default_factory=list)


@dataclass(frozen=True)
class SourceModel:
    name: str
    graphs: list[SourceGraph]


def load(path: Path) -> SourceModel:
    """Reads a file. Raises ConversionError."""
    try:
        with path.open("rb") as file:
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError:
        raise ConversionError(f"{path}: the file is empty", code=ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        raise ConversionError(f"{path}: {error.strerror or error}", code=ReturnCode.FILE_ERROR) from None
    try:
        return _model(Source(view), str(path))
    except FlatBufferError as error:
        raise damaged(str(path), error) from None


def damaged(name: str, error: FlatBufferError) -> ConversionError:
    return ConversionError(
        f"{name}: the file is not a sound TensorFlow Lite model: {error}. Export the model again",
        code=ReturnCode.GRAPH_FILE_ERROR,
    )


def _model(source: Source, name: str) -> SourceModel:
    if source.identifier != b"TFL3":
        raise FlatBufferError("the identifier TFL3 is missing")
    root = source.root()
    version = int(root.scalar(0, "uint"))
    if version != _SCHEMA_VERSION:
        raise FlatBufferError(f"its schema has version {version}; {_SCHEMA_VERSION} is supported")
    buffers = [_buffer(table, source) for table in root.tables(4) or ()]
    codes = [_operator_name(table) for table in root.tables(1) or ()]
    graphs = [_graph(table, index, buffers, codes, source) for index, table in enumerate(root.tables(2) or ())]
    if not graphs:
        raise FlatBufferError("it has no graph")
    return SourceModel(name, graphs)


def _buffer(table: Table, source: Source) -> memoryview:
    data = table.bytes(0)
    offset, size = int(table.scalar(1, "ulong")), int(table.scalar(2, "ulong"))
    if offset <= 1:
        return data if data is not None else source.bytes[:0]
    return _outside(source, offset, size)


def _outside(source: Source, offset: int, size: int) -> memoryview:
    """Bytes behind the FlatBuffer, as models over 2 GiB have them."""
    if offset + size > source.size:
        raise FlatBufferError(f"bytes {offset} to {offset + size} lie outside its {source.size} bytes")
    return source.bytes[offset : offset + size]


def _operator_name(table: Table) -> str:
    code = max(int(table.scalar(0, "byte")), int(table.scalar(3, "int")))
    name = _OPERATOR_NAMES.get(code, f"BUILTIN_{code}")
    return f"CUSTOM:{table.text(1) or ''}" if name == "CUSTOM" else name


def _graph(table: Table, number: int, buffers: list[memoryview], codes: list[str], source: Source) -> SourceGraph:
    tensors = [_tensor(item, index, buffers) for index, item in enumerate(table.tables(0) or ())]
    graph = SourceGraph(
        table.text(4) or f"graph_{number}",
        tensors,
        _indices(table, 1, len(tensors), False),
        _indices(table, 2, len(tensors), False),
    )
    for item in table.tables(3) or ():
        opcode = int(item.scalar(0, "uint"))
        if opcode >= len(codes):
            raise FlatBufferError(f"a node has operator code {opcode}; there are {len(codes)}")
        custom = item.bytes(5) or source.bytes[:0]
        offset = int(item.scalar(9, "ulong"))
        if offset > 1:
            custom = _outside(source, offset, int(item.scalar(10, "ulong")))
        options = item.table(4)
        graph.operators.append(
            SourceOperator(
                codes[opcode],
                _indices(item, 1, len(tensors), True),
                _indices(item, 2, len(tensors), False),
                Options(codes[opcode], options if options is not None else item.table(12)),
                custom,
                _indices(item, 8, len(tensors), False),
            )
        )
    return graph


def _indices(table: Table, slot: int, count: int, optional: bool) -> tuple[int, ...]:
    indices = tuple(int(index) for index in table.numbers(slot, "int") or ())
    for index in indices:
        if not (0 <= index < count or (optional and index == -1)):
            raise FlatBufferError(f"tensor {index} is asked for; there are {count}")
    return indices


def _tensor(table: Table, index: int, buffers: list[memoryview]) -> SourceTensor:
    name = table.text(3) or f"tensor_{index}"
    shape = tuple(int(dim) for dim in table.numbers(0, "int") or ())
    if len(shape) > _MAX_RANK:
        raise FlatBufferError(f"tensor '{name}' has {len(shape)} dimensions; {_MAX_RANK} are supported")
    size = 16
    for dim in shape:
        size *= max(dim, 1)
        if dim < 0 or size >= 1 << 63:
            raise FlatBufferError(f"tensor '{name}' has the impossible shape {shape}")
    buffer = int(table.scalar(2, "uint"))
    if buffer >= max(len(buffers), 1):
        raise FlatBufferError(f"tensor '{name}' asks for buffer {buffer}; there are {len(buffers)}")
    data = buffers[buffer] if buffers else memoryview(b"")
    number = int(table.scalar(1, "byte"))
    dtype, type_name = _DATA_TYPES.get(number, DataType.UNKNOWN), _TYPE_NAMES.get(number, f"type {number}")
    quantization = table.table(4)
    if quantization is not None and int(quantization.scalar(4, "ubyte")) == _BLOCKWISE:
        dtype, type_name = DataType.UNKNOWN, f"{type_name} with scales per block"
    return SourceTensor(
        name,
        dtype,
        type_name,
        shape,
        tuple(int(dim) for dim in table.numbers(7, "int") or ()),
        data if len(data) else None,
        _quantization(quantization, name),
        bool(table.scalar(5, "bool")),
        read_sparsity(table.table(6), len(shape), name),
        4 if number == _INT4 else 8,
    )


def _quantization(table: Table | None, name: str) -> Quantization | None:
    if table is None:
        return None
    scales = table.numbers(2, "float")
    if not scales:
        return None
    points = tuple(int(point) for point in table.numbers(3, "long") or (0,) * len(scales))
    if not all(-_LARGEST_ZERO_POINT <= point <= _LARGEST_ZERO_POINT for point in points):
        raise FlatBufferError(f"tensor '{name}' has an impossible zero point")
    if len(points) == 1:
        points *= len(scales)
    if len(points) != len(scales):
        raise FlatBufferError(f"tensor '{name}' has {len(scales)} scales and {len(points)} zero points")
    return Quantization(tuple(float(scale) for scale in scales), points, int(table.scalar(6, "int")))
