"""DYNAMIC_QUANT: int8 weights, and activations that are quantized at run time with the range of their values.

Quantizes matmuls with constant weights, and constant tables of Gather. A DynamicQuant node before a matmul quantizes
its input. Matmuls with the same input share it. ALWC: one asymmetric scale for the activation, one symmetric scale per
channel of the weight. ACWL: one symmetric scale per channel of the activation, one scale for the weight.
"""

from __future__ import annotations

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.quantizer.metrics import relative_error
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.precision.schemes import INT8_WEIGHT
from mslite.quantizer.results import LayerRecord, QuantizeReport
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.stored_weight import constant_of, quantize_weight

_Casts = dict[tuple[int, tuple[bool, bool, tuple[int, ...], bool]], Value]
"""Outputs of DynamicQuant nodes, by input value and attributes."""


def quantize_dynamically(module: Module, settings: QuantizerSettings) -> QuantizeReport:
    """Quantizes all graphs of the fused float module in place."""
    layers: list[LayerRecord] = []
    skipped = frozenset(settings.common.skip_quant_node)
    for graph in module.graphs:
        casts: _Casts = {}
        for node in list(graph.nodes):
            if node.name in skipped or not _is_wanted(node):
                layers.append(LayerRecord(node.name, node.op.name, Precision.FLOAT, macs(node)))
                continue
            layers.append(_quantize(graph, node, settings.dynamic.quant_strategy == "ALWC", casts))
    return QuantizeReport(tuple(layers))


def _is_wanted(node: Node) -> bool:
    """Whether the node is a matmul with constant float weights of rank 2 or more, or a Gather from such a table."""
    if node.quant_type != 0:
        return False
    if node.op.name == "Gather":
        return _is_real(node.inputs[0]) and node.inputs[0].array().ndim >= 2
    if node.op.name not in ("MatMulFusion", "FullConnection") or len(node.inputs) < 2:
        return False
    x, weight = node.inputs[:2]
    return _is_real(weight) and weight.array().ndim >= 2 and not x.is_constant and x.dtype is DataType.FLOAT32


def _is_real(value: Value) -> bool:
    return value.data is not None and value.dtype is DataType.FLOAT32 and not value.quant


def _quantize(graph: Graph, node: Node, activation_layer: bool, casts: _Casts) -> LayerRecord:
    count = macs(node)
    index = 0 if node.op.name == "Gather" else 1
    source = node.inputs[index]
    weight = quantize_weight(node, index, INT8_WEIGHT, per_channel=activation_layer)
    inputs = list(node.inputs)
    inputs[index] = constant_of(weight, source, source.name)
    if index == 0:
        node.set_inputs(inputs)
        node.quant_type = QuantType.QUANT_WEIGHT
    else:
        inputs[0] = _dynamic(graph, node, activation_layer, casts)
        node.set_inputs(inputs)
        node.quant_type = QuantType.QUANT_DYNAMIC
    scales = tuple(record.scale for record in weight.records)
    error = relative_error(weight.real(), source.array())
    return LayerRecord(node.name, node.op.name, Precision.INT8, count, None, scales, error)


def _dynamic(graph: Graph, node: Node, activation_layer: bool, casts: _Casts) -> Value:
    """Returns the node's input as quantized at run time; inserts the DynamicQuant node if it does not exist yet."""
    x = node.inputs[0]
    op = _operator(node, activation_layer)
    key = (id(x), (op.symmetric, op.activation_channel, tuple(op.prefer_axes or ()), op.transpose))
    if key not in casts:
        result = Value(f"{x.name}_dynamic", DataType.INT8, x.shape, format=x.format)
        graph.insert_before(node, Node(op, f"{node.name}_dynamic_cast_node_0", (x,), (result,)))
        casts[key] = result
    return casts[key]


def _operator(node: Node, activation_layer: bool) -> DynamicQuant:
    target = int(DataType.INT8)
    if activation_layer:
        return DynamicQuant(symmetric=False, dst_type=target, activation_channel=False)
    rank = node.inputs[0].rank or 2
    transposed = isinstance(node.op, MatMulFusion) and node.op.transpose_a
    axis = -1 if transposed else -2
    axes = (*range(rank - 2), rank + axis)
    return DynamicQuant(
        symmetric=True,
        dst_type=target,
        activation_channel=True,
        prefer_axis=axis,
        transpose=transposed,
        prefer_axes=axes,
    )
