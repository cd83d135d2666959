"""Writes small TensorFlow Lite models for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
import tflite

Array = npt.NDArray[np.generic]
_TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "complex64": 8,
          "int8": 9, "resource": 13}  # fmt: skip
_INT4 = 17
_STORED_KINDS = {
    "INT4": 17,
    "BFLOAT16": 18,
    "INT2": 19,
    "UINT4": 20,
    "FLOAT8_E4M3FN": 21,
    "FLOAT8_E5M2": 22,
    "NEWER": 99,
}
_VERSIONS = {"BROADCAST_TO": 2}
"""Operators whose version 1 is not supported by LiteRT."""
_CODES = {"bool": "Bool", "byte": "Int8", "int": "Int32", "long": "Int64", "float": "Float32"}
_VECTORS = {"[int]": "<i4", "[long]": "<i8", "[float]": "<f4", "[bool]": "|u1"}
Field = tuple[str, Any]
"""Type and value of a field: a scalar, a sequence for `[int]` and similar types, a str for "text"."""


Level = int | tuple[Sequence[int], Sequence[int]]
"""The size of a dense dimension, or the segments and indices of a compressed one."""


@dataclass
class Tensor:
    """A tensor. `data` makes it a constant; `quant` is (scale, zero point), or lists with one of each per index of dimension `axis`."""

    name: str
    shape: Sequence[int] = ()
    dtype: str = "float32"
    data: Array | None = None
    quant: tuple[float | Sequence[float], int | Sequence[int]] | None = None
    variable: bool = False
    sparsity: tuple[Sequence[int], Sequence[int], Sequence[Level]] | None = None
    """order of the dimensions, block map, levels; `data` has the stored values, `shape` is the dense shape"""
    axis: int = 0
    packed: bool = False
    """`data` has 4-bit integers as int8; the file stores two per byte"""
    kind: str = ""
    """a data type that NumPy does not have; `data` has the bytes of the file"""
    blocks: tuple[int, int, int, Sequence[int]] | None = None
    """per-block scales: the indices of the tensors with scales and zero points, the elements per block, its shape"""
    signature: Sequence[int] = ()
    """the shape with -1 for dynamic dimensions"""


@dataclass
class Operator:
    """A node. `options`: slot -> field; `inputs` may contain -1. StableHLO's options are in the second union."""

    name: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: dict[int, Field] = field(default_factory=dict)
    options_type: str = "NONE"
    custom: bytes = b""
    intermediates: Sequence[int] = ()


@dataclass
class Graph:
    tensors: list[Tensor]
    inputs: Sequence[int]
    outputs: Sequence[int]
    operators: list[Operator]


@dataclass
class Signature:
    """Names of the inputs and outputs of graph `graph`: pairs of a name and a tensor index."""

    key: str
    graph: int
    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, int]]


def _numbers(builder: flatbuffers.Builder, values: Sequence[float], dtype: str) -> int:
    return int(builder.CreateNumpyVector(np.array(values, dtype)))


def _references(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _table(builder: flatbuffers.Builder, fields: dict[int, Field]) -> int:
    """Writes fields by slot; the type "ref" is an offset."""
    for slot, (kind, value) in list(fields.items()):
        if kind in _VECTORS:
            fields = fields | {slot: ("ref", _numbers(builder, value, _VECTORS[kind]))}
        elif kind == "text":
            fields = fields | {slot: ("ref", int(builder.CreateString(value)))}
    builder.StartObject(max(fields, default=-1) + 1)
    for slot, (kind, value) in fields.items():
        if kind == "ref":
            builder.PrependUOffsetTRelativeSlot(slot, value, 0)
            continue
        getattr(builder, f"Prepend{_CODES.get(kind, kind)}")(value if kind == "float" else int(value))
        builder.Slot(slot)
    return int(builder.EndObject())


def _sparsity(
    builder: flatbuffers.Builder, order: Sequence[int], block_map: Sequence[int], levels: Sequence[Level]
) -> int:
    tables = []
    for level in levels:
        if isinstance(level, int):
            tables.append(_table(builder, {1: ("int", level)}))
            continue
        segments, indices = (_table(builder, {0: ("[int]", values)}) for values in level)
        union: dict[int, Field] = {2: ("Uint8", 1), 3: ("ref", segments), 4: ("Uint8", 1), 5: ("ref", indices)}
        tables.append(_table(builder, {0: ("byte", 1)} | union))
    metadata = _references(builder, tables)
    return _table(builder, {0: ("[int]", order), 1: ("[int]", block_map), 2: ("ref", metadata)})


def _type_number(tensor: Tensor) -> int:
    if tensor.kind:
        return _STORED_KINDS[tensor.kind]
    return _INT4 if tensor.packed else _TYPES[tensor.dtype]


def _stored(data: Array, packed: bool) -> bytes:
    if not packed:
        return np.ascontiguousarray(data).tobytes()
    flat = data.astype(np.int8).view(np.uint8).reshape(-1) & 15
    flat = np.append(flat, np.zeros(flat.size % 2, np.uint8))
    return bytes(flat[::2] | (flat[1::2] << 4))


def _signature(builder: flatbuffers.Builder, signature: Signature) -> int:
    sides = []
    for names in (signature.inputs, signature.outputs):
        maps = [_table(builder, {0: ("text", name), 1: ("Uint32", index)}) for name, index in names]
        sides.append(_references(builder, maps))
    fields: dict[int, Field] = {0: ("ref", sides[0]), 1: ("ref", sides[1]), 2: ("text", signature.key)}
    return _table(builder, fields | {4: ("Uint32", signature.graph)})


def build(*graphs: Graph, signatures: Sequence[Signature] = ()) -> bytes:
    """Returns the bytes of a model."""
    builder = flatbuffers.Builder(1024)
    names = list(dict.fromkeys(operator.name for graph in graphs for operator in graph.operators))
    buffers = [_table(builder, {})]
    graph_tables = []
    for graph in graphs:
        tensors = []
        for tensor in graph.tensors:
            buffer = 0
            if tensor.data is not None:
                data = builder.CreateByteVector(_stored(tensor.data, tensor.packed))
                buffer = len(buffers)
                buffers.append(_table(builder, {0: ("ref", data)}))
                tensor.dtype = tensor.data.dtype.name
                if tensor.sparsity is None and not tensor.kind:
                    tensor.shape = tensor.data.shape
            fields: dict[int, Field] = {
                0: ("ref", _numbers(builder, tensor.shape, "<i4")),
                1: ("byte", _type_number(tensor)),
                2: ("Uint32", buffer),
                3: ("ref", int(builder.CreateString(tensor.name))),
            }
            if tensor.quant:
                scale = _numbers(builder, np.atleast_1d(tensor.quant[0]).tolist(), "<f4")
                point = _numbers(builder, np.atleast_1d(tensor.quant[1]).tolist(), "<i8")
                quantization: dict[int, Field] = {2: ("ref", scale), 3: ("ref", point), 6: ("int", tensor.axis)}
                fields[4] = ("ref", _table(builder, quantization))
            if tensor.blocks is not None:
                scales, zeros, size, shape = tensor.blocks
                details: dict[int, Field] = {0: ("int", scales), 1: ("int", zeros), 2: ("int", size)}
                if shape:
                    details[3] = ("[int]", shape)
                union = {4: ("Uint8", 2), 5: ("ref", _table(builder, details))}
                fields[4] = ("ref", _table(builder, union))
            if tensor.variable:
                fields[5] = ("bool", 1)
            if tensor.signature:
                fields[7] = ("ref", _numbers(builder, tensor.signature, "<i4"))
            if tensor.sparsity is not None:
                fields[6] = ("ref", _sparsity(builder, *tensor.sparsity))
            tensors.append(_table(builder, fields))
        operators = []
        for operator in graph.operators:
            fields = {
                0: ("Uint32", names.index(operator.name)),
                1: ("ref", _numbers(builder, operator.inputs, "<i4")),
                2: ("ref", _numbers(builder, operator.outputs, "<i4")),
            }
            if operator.options_type != "NONE":
                second = hasattr(tflite.BuiltinOptions2, operator.options_type)
                union = tflite.BuiltinOptions2 if second else tflite.BuiltinOptions
                slot = 11 if second else 3
                fields[slot] = ("Uint8", getattr(union, operator.options_type))
                fields[slot + 1] = ("ref", _table(builder, operator.options))
            if operator.custom:
                fields[5] = ("ref", int(builder.CreateByteVector(operator.custom)))
            if operator.intermediates:
                fields[8] = ("ref", _numbers(builder, operator.intermediates, "<i4"))
            operators.append(_table(builder, fields))
        graph_tables.append(
            _table(
                builder,
                {
                    0: ("ref", _references(builder, tensors)),
                    1: ("ref", _numbers(builder, graph.inputs, "<i4")),
                    2: ("ref", _numbers(builder, graph.outputs, "<i4")),
                    3: ("ref", _references(builder, operators)),
                    4: ("ref", int(builder.CreateString("graph"))),
                },
            )
        )
    codes = []
    for name in names:
        fields = {2: ("int", _VERSIONS.get(name, 1))}
        if name.startswith("CUSTOM:"):
            fields[1] = ("ref", int(builder.CreateString(name.removeprefix("CUSTOM:"))))
            name = "CUSTOM"
        number = getattr(tflite.BuiltinOperator, name)
        codes.append(_table(builder, fields | {0: ("byte", min(number, 127)), 3: ("int", number)}))
    fields = {
        0: ("Uint32", 3),
        1: ("ref", _references(builder, codes)),
        2: ("ref", _references(builder, graph_tables)),
        4: ("ref", _references(builder, buffers)),
    }
    if signatures:
        tables = [_signature(builder, signature) for signature in signatures]
        fields[7] = ("ref", _references(builder, tables))
    model = _table(builder, fields)
    builder.Finish(model, b"TFL3")
    return bytes(builder.Output())


def single(
    name: str,
    inputs: Sequence[Array | Tensor | None],
    constant: Sequence[int] = (),
    outputs: Sequence[str] = ("float32",),
    options: dict[int, Field] | None = None,
    options_type: str = "NONE",
    custom: bytes = b"",
) -> bytes:
    """Returns a model of one node; inputs with an index in `constant` are stored, None is omitted."""
    tensors: list[Tensor] = []
    indices = []
    for position, item in enumerate(inputs):
        if item is None:
            indices.append(-1)
            continue
        indices.append(len(tensors))
        if isinstance(item, Tensor):
            tensors.append(item)
        else:
            data = item if position in constant else None
            tensors.append(Tensor(f"in{position}", item.shape, item.dtype.name, data))
    entering = [i for i, t in enumerate(tensors) if t.data is None and not t.variable]
    results = range(len(tensors), len(tensors) + len(outputs))
    tensors += [Tensor(f"out{index}", (), dtype) for index, dtype in enumerate(outputs)]
    operator = Operator(name, indices, list(results), options or {}, options_type, custom)
    return build(Graph(tensors, entering, list(results), [operator]))
