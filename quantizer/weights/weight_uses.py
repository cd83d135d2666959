"""Finds the constants of a graph that are weights, and replaces them by quantized ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.quantized import channel_axis
from mslite.quantizer.metrics import relative_error
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.results import LayerRecord
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.encoding import entropy_constant, packed_constant
from mslite.quantizer.weights.stored_weight import constant_of

_WEIGHTS = {
    "Conv2DFusion": (1,),
    "Conv2dTransposeFusion": (1,),
    "MatMulFusion": (0, 1),
    "FullConnection": (1,),
    "LSTM": (1, 2),
    "GRU": (1, 2),
    "LSTMSequence": (1, 2),
    "GRUSequence": (1, 2),
    "RNNSequence": (1, 2),
    "Gather": (0,),
}
"""Operator -> indices of the inputs that are weights."""
_CONVOLUTIONS = frozenset({"Conv2DFusion", "Conv2dTransposeFusion"})


@dataclass(frozen=True)
class WeightUse:
    """A float constant that is a weight, the first node that reads it, and the dimension of its channels."""

    value: Value
    node: Node
    index: int
    axis: int
    is_shared: bool
    """Whether nodes use different dimensions as channels. Such a weight has a per-tensor scale."""


def weight_uses(graph: Graph, settings: QuantizerSettings) -> Iterator[WeightUse]:
    """Yields the weights of a graph that [common_quant_param] selects. Constants that nodes also read in other roles
    are skipped."""
    common = settings.common
    skipped = frozenset(common.skip_quant_node)
    seen: set[int] = set()
    for node in graph.nodes:
        for index in _WEIGHTS.get(node.op.name, ()):
            if index >= len(node.inputs) or id(node.inputs[index]) in seen:
                continue
            value = node.inputs[index]
            seen.add(id(value))
            data = value.data
            if data is None or value.dtype is not DataType.FLOAT32 or value.quant or data.ndim < 2:
                continue
            uses = [(user, place) for user in value.users for place, v in enumerate(user.inputs) if v is value]
            if any(place not in _WEIGHTS.get(user.op.name, ()) or user.name in skipped for user, place in uses):
                continue
            if data.size <= common.min_quant_weight_size and common.min_quant_weight_size:
                continue
            if node.op.name in _CONVOLUTIONS and data.shape[0] <= common.min_quant_weight_channel:
                continue
            axes = {channel_axis(user.op, place, user.inputs) for user, place in uses}
            yield WeightUse(value, node, index, min(axes), len(axes) > 1)


def replace_weight(use: WeightUse, weight: StoredWeight, settings: QuantizerSettings) -> LayerRecord:
    """Replaces a float weight by a quantized one for all nodes that read it, and returns the record for the report."""
    value = use.value
    on_the_fly = None
    if settings.weight.dequant_strategy == "ON_THE_FLY" and len(weight.records) == 1 and weight.records[0].numBits < 8:
        record = weight.records[0]
        on_the_fly = entropy_constant(
            weight.data, record.scale, value, value.name, zero_point=record.zeroPoint, entry_points=True
        )
    if on_the_fly is not None:
        constant = on_the_fly
    elif settings.common.enable_encode:
        huffman = settings.weight.compression == "huffman"
        constant = packed_constant(weight, value, value.name, use_huffman=huffman)
    else:
        constant = constant_of(weight, value, value.name)
    replace_constant(value, constant, stays=settings.methods.keep_integers and _can_stay(use, constant))
    error = relative_error(weight.real(), value.array())
    scales = tuple(record.scale for record in weight.records)
    return LayerRecord(use.node.name, use.node.op.name, Precision.FLOAT, macs(use.node), None, scales, error)


def _can_stay(use: WeightUse, constant: Value) -> bool:
    """Whether the runtime can keep the matrix as integers and dequantize it during the matmul."""
    is_matrix = use.node.op.name in ("MatMulFusion", "FullConnection") and use.index == 1 and use.value.rank == 2
    return is_matrix and constant.dtype is DataType.INT8 and len(use.value.users) == 1


def replace_constant(value: Value, constant: Value, *, stays: bool = False) -> None:
    """Replaces `value` by the quantized `constant` in all nodes. With `stays`, the runtime keeps the integers in
    memory."""
    for node in list(dict.fromkeys(value.users)):
        node.replace_input(value, constant)
        node.quant_type = QuantType.QUANT_NONE if stays else QuantType.QUANT_WEIGHT
