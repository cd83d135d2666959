"""Reads a TensorFlow Lite file (schema version 3) into dataclasses, and checks all offsets and indices."""

from __future__ import annotations

import dataclasses
import math
import mmap
from dataclasses import dataclass, field
from pathlib import Path

import tflite

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.flatbuffer import FlatBufferError, Source, Table
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops.enums import DataType

from .element_types import ElementType, element_type
from .options import Options
from .scales import Blocks, Quantization, read_blocks, read_quantization
from .signatures import Signature, read_signatures
from .sparsity import Sparsity, read_sparsity

_SCHEMA_VERSION = 3
_MAX_RANK = 8
_BLOCKWISE, _MULTI_AXIS = 2, 3
"""Kinds of quantization details: per-block scales, and scales along several dimensions."""
_OPERATOR_NAMES = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}


@dataclass(frozen=True)
class SourceTensor:
    name: str
    dtype: DataType
    type_name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    """`shape` with -1 for dynamic sizes; empty if all sizes are fixed."""
    data: memoryview | None
    quantization: Quantization | None
    is_variable: bool
    sparsity: Sparsity | None
    element: ElementType
    """Data type as stored in the file."""
    blocks: Blocks | None = None
    """Per-block quantization of a constant; `dtype` is then the dequantized type."""

    @property
    def is_decoded(self) -> bool:
        """Whether `dtype` is the float type that the constant is decoded to when it is read."""
        return self.data is not None and self.dtype is not self.element.dtype

    def array(self) -> Array | None:
        """Returns the contents of a constant, if possible as a view of the file; None if the tensor is computed.
        Per-block quantized contents are not dequantized. Raises FlatBufferError if the contents do not match the
        shape."""
        if self.data is None:
            return None
        if self.sparsity is not None:
            return self.sparsity.dense(self.element.elements(self.data, None, self.name), self.shape, self.name)
        return self.element.elements(self.data, math.prod(self.shape), self.name).reshape(self.shape)


@dataclass(frozen=True)
class SourceOperator:
    name: str
    """Operator, as `CONV_2D` or `CUSTOM:TFLite_Detection_PostProcess`."""
    inputs: tuple[int, ...]
    """Tensor indices; -1 for a missing optional input."""
    outputs: tuple[int, ...]
    options: Options
    custom_options: memoryview
    intermediates: tuple[int, ...] = ()
    """Tensors with the quantization parameters of intermediate values of the operator; they have no data."""


@dataclass
class SourceGraph:
    name: str
    tensors: list[SourceTensor]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: list[SourceOperator] = field(default_factory=list)
    output_names: tuple[str, ...] = ()
    """Names of `outputs` in a signature; empty: the names of the tensors."""


@dataclass(frozen=True)
class SourceModel:
    name: str
    graphs: list[SourceGraph]
    signatures: tuple[Signature, ...] = ()


def load(path: Path) -> SourceModel:
    """Reads a `.tflite` file. Raises ConversionError."""
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
        f"{name}: the file is not a valid TensorFlow Lite model: {error}. Export the model again",
        code=ReturnCode.GRAPH_FILE_ERROR,
    )


def _model(source: Source, name: str) -> SourceModel:
    if source.identifier != b"TFL3":
        raise FlatBufferError("the identifier TFL3 is missing")
    root = source.root()
    version = int(root.scalar(0, "uint"))
    if version != _SCHEMA_VERSION:
        raise FlatBufferError(f"its schema version is {version}; version {_SCHEMA_VERSION} is supported")
    buffers = [_buffer(table, source) for table in root.tables(4) or ()]
    codes = [_operator_name(table) for table in root.tables(1) or ()]
    graphs = [_graph(table, index, buffers, codes, source) for index, table in enumerate(root.tables(2) or ())]
    if not graphs:
        raise FlatBufferError("it has no graph")
    return SourceModel(name, graphs, read_signatures(root.tables(7) or (), len(graphs)))


def _buffer(table: Table, source: Source) -> memoryview:
    data = table.bytes(0)
    offset, size = int(table.scalar(1, "ulong")), int(table.scalar(2, "ulong"))
    if offset <= 1:
        return data if data is not None else source.bytes[:0]
    return _outside(source, offset, size)


def _outside(source: Source, offset: int, size: int) -> memoryview:
    """Returns bytes after the FlatBuffer, where models over 2 GiB store their data. Raises FlatBufferError."""
    if offset + size > source.size:
        raise FlatBufferError(f"it refers to bytes {offset} to {offset + size}, but has {source.size} bytes")
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
            raise FlatBufferError(f"a node has operator code {opcode}, but there are {len(codes)}")
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
    _complete_shapes(graph)
    return graph


def _complete_shapes(graph: SourceGraph) -> None:
    """Sets missing shapes of results of QUANTIZE and DEQUANTIZE to the shape of the operand. Models from
    quantization-aware training without `Optimize.DEFAULT` lack these shapes; in the file, that looks like a scalar."""
    for node in graph.operators:
        if (
            node.name in ("QUANTIZE", "DEQUANTIZE")
            and len(node.inputs) == len(node.outputs) == 1
            and node.inputs[0] >= 0
        ):
            given, result = graph.tensors[node.inputs[0]], graph.tensors[node.outputs[0]]
            if given.shape and not result.shape and result.data is None:
                shaped = dataclasses.replace(result, shape=given.shape, signature=given.signature)
                graph.tensors[node.outputs[0]] = shaped


def _indices(table: Table, slot: int, count: int, optional: bool) -> tuple[int, ...]:
    indices = tuple(int(index) for index in table.numbers(slot, "int") or ())
    for index in indices:
        if not (0 <= index < count or (optional and index == -1)):
            raise FlatBufferError(f"it refers to tensor {index}, but has {count} tensors")
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
            raise FlatBufferError(f"tensor '{name}' has the invalid shape {shape}")
    buffer = int(table.scalar(2, "uint"))
    if buffer >= max(len(buffers), 1):
        raise FlatBufferError(f"tensor '{name}' refers to buffer {buffer}, but there are {len(buffers)}")
    data = buffers[buffer] if buffers else memoryview(b"")
    element = element_type(int(table.scalar(1, "byte")))
    dtype, type_name = element.constant_dtype if len(data) else element.dtype, element.name
    quantization, blocks = table.table(4), None
    records = read_quantization(quantization, name)
    details = 0 if quantization is None else int(quantization.scalar(4, "ubyte"))
    if quantization is not None and details == _BLOCKWISE:
        blocks = read_blocks(described) if (described := quantization.table(5)) is not None else None
        dtype = DataType.FLOAT32 if blocks is not None and len(data) else DataType.UNKNOWN
        type_name = f"{type_name} with per-block scales"
    elif details == _MULTI_AXIS:
        dtype, type_name = DataType.UNKNOWN, f"{type_name} with scales along several dimensions"
    return SourceTensor(
        name,
        dtype,
        type_name,
        shape,
        tuple(int(dim) for dim in table.numbers(7, "int") or ()),
        data if len(data) else None,
        records,
        bool(table.scalar(5, "bool")),
        read_sparsity(table.table(6), len(shape), name),
        element,
        blocks,
    )
