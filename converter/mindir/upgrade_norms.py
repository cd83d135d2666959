"""Finds the channel dimension of InstanceNorm, which depends on the layout of its input in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .ops import Operator
from .ops.enums import DataType, Format
from .ops.normalization import ChannelsLastInstanceNorm, InstanceNorm
from .ops.tables import CNode, MetaGraph, Tensor

_TO_CHANNELS_FIRST, _TO_CHANNELS_LAST, _ROWS = (0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 1)
_IMAGE_RANK = 4


def find_channels_last(meta: MetaGraph, rows_change_layout: bool) -> None:
    """Replaces InstanceNorm of NHWC images by ChannelsLastInstanceNorm, in place; the channels of others are dimension
    1.

    `rows_change_layout`: a Transpose of a 3-D tensor also changes the layout (since version 2).
    """
    tensors, nodes = meta.allTensors or [], meta.nodes or []
    if not any(isinstance(node.primitive, InstanceNorm) for node in nodes):
        return
    layouts = _Layouts(tensors, nodes, rows_change_layout)
    for node in nodes:
        if not isinstance(node.primitive, InstanceNorm) or not node.inputIndex or node.inputIndex[0] >= len(tensors):
            continue
        x = tensors[node.inputIndex[0]]
        may_be_image = x.dims is None or len(x.dims) == _IMAGE_RANK
        if may_be_image and x.format is Format.NHWC and layouts.of(node.inputIndex[0]) is Format.NHWC:
            node.primitive = ChannelsLastInstanceNorm(epsilon=node.primitive.epsilon)


class _Layouts:
    """The layouts that MindSpore Lite determines at run time. Graph inputs have the declared layout; an output has the
    layout of the
    node's input, and Transpose changes it."""

    def __init__(self, tensors: Sequence[Tensor], nodes: Sequence[CNode], rows_change_layout: bool) -> None:
        self.tensors, self.nodes, self.rows_change_layout = tensors, nodes, rows_change_layout
        self.producers = {index: node for node in nodes for index in node.outputIndex or ()}

    def of(self, tensor: int) -> Format:
        swaps, result = False, None
        for _ in self.nodes:
            producer = self.producers.get(tensor)
            source = None if producer is None else self._data(producer)
            if producer is None or source is None:
                break
            order = self._order(producer)
            if order in (_TO_CHANNELS_FIRST, _TO_CHANNELS_LAST):
                result = Format.NCHW if order == _TO_CHANNELS_FIRST else Format.NHWC
                break
            swaps ^= order == _ROWS and self.rows_change_layout
            tensor = source
        if result is None:
            result = self.tensors[tensor].format
        if not swaps:
            return result
        return Format.NHWC if result is Format.NCHW else Format.NCHW

    def _data(self, node: CNode) -> int | None:
        """Returns the input that determines the layout of the outputs; None if the declared layout is used."""
        if _is(node.primitive, "Call"):
            return None
        known = [index for index in node.inputIndex or () if index < len(self.tensors)]
        return next((index for index in known if not self.tensors[index].data), None)

    def _order(self, node: CNode) -> tuple[int, ...]:
        """Returns the permutation of a Transpose; empty for other nodes."""
        operands = node.inputIndex or ()
        if not _is(node.primitive, "Transpose") or len(operands) < 2 or operands[1] >= len(self.tensors):
            return ()
        perm = self.tensors[operands[1]]
        if not perm.data or perm.dataType not in (DataType.INT32, DataType.INT64):
            return ()
        data = memoryview(perm.data).cast("B")
        kind = np.dtype("<i4" if perm.dataType == DataType.INT32 else "<i8")
        return tuple(int(axis) for axis in np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)[:8])


def _is(operator: Operator | None, name: str) -> bool:
    return operator is not None and operator.name == name
