"""Adds fields to files that MindSpore Lite's readers need, but mslite's do not."""

from __future__ import annotations

import dataclasses

from .graph import Module, Node, Value
from .ops import Operator
from .ops.enums import DataType, Format
from .ops.pooling import AvgPoolFusion, MaxPoolFusion
from .ops.tables import QuantParam
from .quantized import NARROW

PACKS_CONSTANTS = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "MatMulFusion"})
"""Operators that pack their constants when a model is built. MindSpore Lite 1.x then frees the stored constants, even
if other nodes
read them (`FreePackOpWeight`)."""

_IMAGE_RANK = 4
_INTEGERS = NARROW | {DataType.INT32}
"""Types of quantized values, including int32 biases."""


_CLOSURES = frozenset({"PartialFusion", "Switch", "SwitchLayer"})


_WEIGHTED = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "AdderFusion"})
_NO_BORDER = (0, 0, 0, 0)
_SPELLED: dict[str, dict[str, tuple[int, ...]]] = {
    "Conv2DFusion": {"stride": (1, 1), "dilation": (1, 1), "pad_list": _NO_BORDER},
    "Conv2dTransposeFusion": {"stride": (1, 1), "dilation": (1, 1), "pad_list": _NO_BORDER, "output_paddings": (0, 0)},
    "AdderFusion": {"stride": (1, 1), "dilation": (1, 1), "pad_list": _NO_BORDER},
    "AvgPoolFusion": {"strides": (1, 1), "pad": _NO_BORDER},
    "MaxPoolFusion": {"strides": (1, 1), "pad": _NO_BORDER},
    "Softmax": {"axis": (-1,)},
}
"""Operator -> vectors that readers require, and their defaults."""


def stored_type(value: Value) -> DataType:
    """Returns the element type for the file. Closures get one, by which MindSpore Lite selects the kernel of Call."""
    return DataType.FLOAT32 if value.producer is not None and value.producer.op.name in _CLOSURES else value.dtype


def with_required_fields(node: Node) -> Operator:
    """Returns the node's operator with all fields that readers require, even if they have no effect: global pooling
    needs strides, and
    before version 1.5 a window and padding."""
    op = node.op
    absent: dict[str, object] = {
        name: value for name, value in _SPELLED.get(op.name, {}).items() if getattr(op, name) is None
    }
    if op.name in _WEIGHTED and getattr(op, "kernel_size", ()) is None and len(node.inputs) > 1:
        weight = node.inputs[1].shape
        if weight is not None and len(weight) == _IMAGE_RANK:
            absent["kernel_size"] = weight[1:3]
    if op.name in _WEIGHTED and getattr(op, "group", 1) == 0:
        absent["group"] = 1
    if isinstance(op, AvgPoolFusion | MaxPoolFusion) and op.global_ and op.kernel_size is None:
        absent["kernel_size"] = _image_of(node)
    return dataclasses.replace(op, **absent) if absent else op  # type: ignore[type-var]


def _image_of(node: Node) -> tuple[int, int]:
    """Returns height and width of the node's input; 1 for dynamic dimensions."""
    shape = node.inputs[0].shape if node.inputs else None
    if shape is None or len(shape) != _IMAGE_RANK or shape[1] <= 0 or shape[2] <= 0:
        return (1, 1)
    return (shape[1], shape[2])


def valid_quant_params(value: Value) -> list[QuantParam] | None:
    """Returns the value's quantization parameters, or None. Those of quantized values are marked as valid, because
    MindSpore Lite
    ignores others."""
    return [
        dataclasses.replace(record, inited=record.inited or value.dtype in _INTEGERS) for record in value.quant
    ] or None


_CHANNELS_FIRST = frozenset({"InstanceNorm", "GroupNormFusion"})


def stored_format(value: Value, is_graph_input: bool) -> Format:
    """Returns the layout for the file.

    MindSpore Lite 1.3 supports graph inputs in NHWC only, of any rank. Convolutions read the dimensions of their
    weights, which are [out, height, width, in] in MindIR, by the layout. mslite finds the channel dimension of
    InstanceNorm by it."""
    made = value.producer is not None and value.producer.op.name in _CHANNELS_FIRST
    read = any(user.op.name in _CHANNELS_FIRST and value is user.inputs[0] for user in value.users)
    if (made or read) and value.rank in (_IMAGE_RANK, None):
        return Format.NCHW
    if is_graph_input and value.rank != _IMAGE_RANK:
        return Format.NHWC
    is_weight = any(hasattr(user.op, "format") and value is not user.inputs[0] for user in value.users)
    if value.is_constant and value.rank == _IMAGE_RANK and value.format is Format.NCHW and is_weight:
        return Format.NHWC
    return value.format


def shared_with_packers(module: Module) -> set[int]:
    """Returns the ids of constants that an operator of PACKS_CONSTANTS reads, and that another operator also reads or
    a graph returns.

    The packing operators need their own copies. Training graphs are excluded: their weights change in place and are
    not freed."""
    if any(node.op.declaration.training for graph in module.graphs for node in graph.nodes):
        return set()
    packed: set[int] = set()
    kept: set[int] = set()
    for graph in module.graphs:
        kept.update(id(value) for value in graph.outputs if value.is_constant)
        for node in graph.nodes:
            (packed if node.op.name in PACKS_CONSTANTS else kept).update(id(v) for v in node.inputs if v.is_constant)
    return packed & kept
