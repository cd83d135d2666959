"""Upgrades tables of old files for operators that MindSpore Lite's kernels compute differently from the schema."""

from __future__ import annotations

import dataclasses

import numpy as np

from .graph import Array
from .ops import Operator
from .ops.assembly import Split
from .ops.enums import CoordinateTransformMode, DataType, Format, NearestMode, ResizeMethod
from .ops.matmul import MatMulFusion
from .ops.rearrange import Squeeze
from .ops.reduction import TopKFusion
from .ops.resize import Resize
from .ops.tables import CNode, MetaGraph, Tensor

_SIZES = 4
_LONGEST_LIST = 1 << 16
_MAX_COLUMNS = 1 << 24
_INTEGERS: dict[int, np.dtype[np.int32 | np.int64]] = {DataType.INT32: np.dtype("<i4"), DataType.INT64: np.dtype("<i8")}


def read_top_k(meta: MetaGraph) -> None:
    """Sets the axis of TopKFusion to the last dimension, which versions up to 1.5 always use; in place."""
    for node in meta.nodes or ():
        if isinstance(node.primitive, TopKFusion):
            node.primitive = dataclasses.replace(node.primitive, axis=-1)


def read_resize_operands(meta: MetaGraph) -> None:
    """Reorders four sizes or scales of Resize, which are in the order of the declared layout up to version 1.3; in
    place."""
    tensors, nodes = meta.allTensors or [], meta.nodes or []
    elsewhere = {
        index for node in nodes for place, index in enumerate(node.inputIndex or ()) if not _target(node, place)
    }
    for node in nodes:
        if not _target(node, 1):
            continue
        index = (node.inputIndex or ())[1]
        if index < len(tensors) and index not in elsewhere and _is_nchw(tensors[index]):
            tensor = tensors[index]
            data = np.frombuffer(memoryview(tensor.data or b""), np.uint8).reshape(_SIZES, -1)
            tensor.data = data[[0, 2, 3, 1]].tobytes()
            tensor.format = Format.NHWC


def _target(node: CNode, place: int) -> bool:
    return isinstance(node.primitive, Resize) and len(node.inputIndex or ()) == 2 and place == 1


def _is_nchw(tensor: Tensor) -> bool:
    is_number = tensor.dataType in (DataType.INT32, DataType.FLOAT32)
    return is_number and tensor.format is Format.NCHW and len(memoryview(tensor.data or b"").cast("B")) == 4 * _SIZES


def read_nearest(meta: MetaGraph) -> None:
    """Corrects the rounding of NEAREST: with ASYMMETRIC the kernels use the pixel before, but 2.x writes
    ROUND_HALF_DOWN."""
    for node in meta.nodes or ():
        op = node.primitive
        if not isinstance(op, Resize) or op.method is not ResizeMethod.NEAREST:
            continue
        is_plain = op.coordinate_transform_mode is CoordinateTransformMode.ASYMMETRIC
        if is_plain and op.nearest_mode is NearestMode.ROUND_HALF_DOWN:
            node.primitive = dataclasses.replace(op, nearest_mode=NearestMode.FLOOR)


def read_scalar_bias(meta: MetaGraph) -> None:
    """Broadcasts a constant scalar bias, which 2.x writes for Gemm, to all columns; in place."""
    tensors = meta.allTensors or []
    for node in meta.nodes or ():
        operands = node.inputIndex or ()
        if not isinstance(node.primitive, MatMulFusion) or len(operands) != 3 or max(operands) >= len(tensors):
            continue
        bias = tensors[operands[2]]
        data = memoryview(bias.data or b"").cast("B")
        if bias.dataType != DataType.FLOAT32 or len(data) != 4 or len(bias.dims or ()) > 1:
            continue
        columns = _columns(node, node.primitive, tensors)
        if columns:
            row = data.tobytes() * columns
            tensors.append(dataclasses.replace(bias, dims=(columns,), data=memoryview(row), name=f"{bias.name}_row"))
            node.inputIndex = (*operands[:2], len(tensors) - 1)


def _columns(node: CNode, op: MatMulFusion, tensors: list[Tensor]) -> int:
    """Returns the number of columns from the declared shape of the second input or the output; 0 if it is unknown."""
    dims = tensors[(node.inputIndex or ())[1]].dims or ()
    columns = -1
    if len(dims) > 1:
        columns = dims[-2 if op.transpose_b else -1]
    elif node.outputIndex and node.outputIndex[0] < len(tensors):
        columns = (*(tensors[node.outputIndex[0]].dims or (-1,)),)[-1]
    return columns if 0 < columns <= _MAX_COLUMNS else 0


def copy_list_inputs(meta: MetaGraph) -> None:
    """Copies sizes of Split and axes of Squeeze from constant inputs, which override the attribute since 2.0; in
    place."""
    tensors = meta.allTensors or []
    for node in meta.nodes or ():
        operands = node.inputIndex or ()
        if not isinstance(node.primitive, Split | Squeeze) or len(operands) != 2 or operands[1] >= len(tensors):
            continue
        entries = _list(tensors[operands[1]])
        if entries is not None:
            node.primitive = _with_list(node.primitive, entries)
            node.inputIndex = operands[:1]


def _with_list(op: Split | Squeeze, entries: Array) -> Operator:
    numbers = tuple(int(entry) for entry in entries)
    if isinstance(op, Split):
        return dataclasses.replace(op, size_splits=numbers)
    return dataclasses.replace(op, axis=numbers)


def _list(tensor: Tensor) -> Array | None:
    """Returns the integers of a constant list, or None."""
    data = memoryview(tensor.data or b"").cast("B")
    dtype = _INTEGERS.get(tensor.dataType)
    if dtype is None or len(tensor.dims or ()) > 1 or not 0 < len(data) <= _LONGEST_LIST or len(data) % dtype.itemsize:
        return None
    return np.frombuffer(data, dtype)
