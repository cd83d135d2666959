"""What MindSpore Lite's kernels read otherwise than its tables say."""

from __future__ import annotations

import dataclasses

import numpy as np

from .ops.enums import DataType, Format
from .ops.reduction import TopKFusion
from .ops.resize import Resize
from .ops.tables import CNode, MetaGraph, Tensor

_SIZES = 4


def read_top_k(meta: MetaGraph) -> None:
    """Up to 1.5 TopKFusion looks along the last dimension, whatever the file says: in place."""
    for node in meta.nodes or ():
        if isinstance(node.primitive, TopKFusion):
            node.primitive = dataclasses.replace(node.primitive, axis=-1)


def read_resize_operands(meta: MetaGraph) -> None:
    """Up to 1.3, four sizes or scales of Resize stand in the order of the layout that the file states of them: in place."""
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
