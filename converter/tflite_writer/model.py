"""Serializes a TensorFlow Lite model. The fields are those that the parser reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import flatbuffers
import numpy as np
import tflite

from mslite.converter.mindir.graph import Array, Shape
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.serialization import write_numbers, write_offsets
from mslite.converter.parsers.tflite.options import OPTIONS

_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_ALIGNMENT = 16
"""Alignment of constants: readers use them in place."""
_TENSOR_TYPES = {DataType.INT32: 2, DataType.UINT8: 3, DataType.INT8: 9}
_LARGEST_OLD_CODE = 127
"""Old readers only support operator codes of one byte; newer ones read both fields."""
_OPTION_TABLES = {
    "ADD": "AddOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "CONCATENATION": "ConcatenationOptions",
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "GELU": "GeluOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MIRROR_PAD": "MirrorPadOptions",
    "MUL": "MulOptions",
    "PACK": "PackOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "SUB": "SubOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "UNPACK": "UnpackOptions",
}
"""Operators with options -> member of the options union."""
_VERSIONS = {
    "ABS": 2,
    "ADD": 2,
    "AVERAGE_POOL_2D": 2,
    "BATCH_MATMUL": 2,
    "CONCATENATION": 2,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "EXP": 2,
    "FULLY_CONNECTED": 4,
    "LEAKY_RELU": 2,
    "LOG": 2,
    "LOGISTIC": 2,
    "MAXIMUM": 2,
    "MAX_POOL_2D": 2,
    "MEAN": 2,
    "MINIMUM": 2,
    "MIRROR_PAD": 2,
    "MUL": 2,
    "PACK": 2,
    "PAD": 2,
    "PADV2": 2,
    "QUANTIZE": 2,
    "REDUCE_MAX": 2,
    "REDUCE_MIN": 2,
    "RELU": 2,
    "RELU6": 2,
    "RESIZE_BILINEAR": 3,
    "RESIZE_NEAREST_NEIGHBOR": 3,
    "REVERSE_V2": 2,
    "RSQRT": 2,
    "SLICE": 2,
    "SOFTMAX": 2,
    "SPLIT": 2,
    "SPLIT_V": 2,
    "SQUARED_DIFFERENCE": 2,
    "STRIDED_SLICE": 2,
    "SUB": 2,
    "TANH": 2,
    "TILE": 2,
    "TRANSPOSE": 2,
    "TRANSPOSE_CONV": 3,
    "UNPACK": 2,
}
"""The first version of each operator that supports int8; the default is 1."""


@dataclass(eq=False)
class Tensor:
    """A tensor; with `data`, a constant. Per-channel quantization parameters are for dimension `axis`."""

    name: str
    dtype: DataType
    shape: Shape
    data: Array | None = None
    records: tuple[QuantParam, ...] = ()
    axis: int = 0


@dataclass(frozen=True)
class Operation:
    name: str
    """Operator, such as `CONV_2D`."""
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    options: Mapping[str, float] = field(default_factory=dict)
    """Options by their names in `parsers/tflite/options.py`."""


def model_bytes(
    operations: Sequence[Operation], inputs: Sequence[Tensor], outputs: Sequence[Tensor], name: str = "main"
) -> bytes:
    """Returns the bytes of the file; they only depend on the arguments."""
    builder = flatbuffers.Builder(1 << 16)
    tensors = list(
        dict.fromkeys([*inputs, *(one for call in operations for one in (*call.inputs, *call.outputs)), *outputs])
    )
    places = {tensor: place for place, tensor in enumerate(tensors)}
    codes = {one: place for place, one in enumerate(dict.fromkeys(call.name for call in operations))}
    buffers = [_table(builder, 1, {})]
    tensor_tables = []
    for tensor in tensors:
        number = 0
        if tensor.data is not None:
            number = len(buffers)
            buffers.append(_table(builder, 1, {0: _bytes(builder, tensor.data)}))
        tensor_tables.append(_tensor(builder, tensor, number))

    def indices(items: Sequence[Tensor]) -> int:
        return write_numbers(builder, "int", [places[item] for item in items])

    calls = write_offsets(
        builder,
        [
            _operation(builder, call, codes[call.name], indices(call.inputs), indices(call.outputs))
            for call in operations
        ],
    )
    graph = _table(
        builder,
        5,
        {
            0: write_offsets(builder, tensor_tables),
            1: indices(inputs),
            2: indices(outputs),
            3: calls,
            4: int(builder.CreateString(name)),
        },
    )
    root = {
        1: write_offsets(builder, [_code(builder, one) for one in codes]),
        2: write_offsets(builder, [graph]),
        4: write_offsets(builder, buffers),
    }
    builder.Finish(_table(builder, 5, root, {0: ("uint", _SCHEMA_VERSION)}), _IDENTIFIER)
    return bytes(builder.Output())


_PREPEND = {
    "bool": "PrependBool",
    "byte": "PrependInt8",
    "ubyte": "PrependUint8",
    "int": "PrependInt32",
    "uint": "PrependUint32",
    "float": "PrependFloat32",
}


def _table(
    builder: flatbuffers.Builder,
    size: int,
    references: Mapping[int, int],
    scalars: Mapping[int, tuple[str, float]] | None = None,
) -> int:
    builder.StartObject(size)
    for slot, offset in references.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    for slot, (kind, number) in (scalars or {}).items():
        getattr(builder, _PREPEND[kind])(number if kind == "float" else int(number))
        builder.Slot(slot)
    return int(builder.EndObject())


def _bytes(builder: flatbuffers.Builder, data: Array) -> int:
    stored = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    builder.StartVector(1, stored.size, _ALIGNMENT)
    head = builder.Head() - stored.size
    builder.head = head
    builder.Bytes[head : head + stored.size] = stored.tobytes()
    return int(builder.EndVector())


def _tensor(builder: flatbuffers.Builder, tensor: Tensor, buffer: int) -> int:
    references = {
        0: write_numbers(builder, "int", tensor.shape),
        3: int(builder.CreateString(tensor.name)),
    }
    if tensor.records:
        scales = write_numbers(builder, "float", [record.scale for record in tensor.records])
        points = write_numbers(builder, "long", [record.zeroPoint for record in tensor.records])
        references[4] = _table(builder, 7, {2: scales, 3: points}, {6: ("int", tensor.axis)})
    return _table(builder, 9, references, {1: ("byte", _TENSOR_TYPES[tensor.dtype]), 2: ("uint", buffer)})


def _code(builder: flatbuffers.Builder, name: str) -> int:
    code = int(getattr(tflite.BuiltinOperator, name))
    scalars: dict[int, tuple[str, float]] = {
        0: ("byte", min(code, _LARGEST_OLD_CODE)),
        2: ("int", _VERSIONS.get(name, 1)),
        3: ("int", code),
    }
    return _table(builder, 4, {}, scalars)


def _operation(builder: flatbuffers.Builder, call: Operation, code: int, inputs: int, outputs: int) -> int:
    references = {1: inputs, 2: outputs}
    scalars: dict[int, tuple[str, float]] = {0: ("uint", code)}
    if call.name in _OPTION_TABLES:
        fields = OPTIONS[call.name]
        given: dict[int, tuple[str, float]] = {
            fields[name].slot: (fields[name].kind, number) for name, number in call.options.items()
        }
        size = max(one.slot for one in fields.values()) + 1
        references[4] = _table(builder, size, {}, given)
        scalars[3] = ("ubyte", int(getattr(tflite.BuiltinOptions, _OPTION_TABLES[call.name])))
    return _table(builder, 9, references, scalars)
