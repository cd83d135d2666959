"""[transform_quant_param] export_precision_mode=FLOAT32: converts a quantized model to an equivalent float model.

Dequantizes constants, and removes the quantization parameters of activations and the casts. If the zero point of an
activation is the smallest integer, its range starts at 0. Exporters then omit a ReLU or ReLU6, so it is inserted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, DataType, QuantType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import NARROW, channel_axis, dequantized_array, is_quantized
from mslite.converter.passes.graph_edit import live_nodes
from mslite.quantizer.precision.operators import is_mac_node

_MAY_BE_NEGATIVE = frozenset({"AddFusion", "SubFusion", "MulFusion"})
_BIAS = 2
_SIX_TOLERANCE = 0.01


def dequantize(module: Module) -> list[str]:
    """Dequantizes all graphs in place; returns notes. Raises ConversionError for encoded constants."""
    count = 0
    for graph in module.graphs:
        for value in graph.values():
            if value.encoding is not None:
                raise ConversionError(
                    f"export_precision_mode=FLOAT32: the constant '{value.name}' is compressed;"
                    " convert the original model",
                    code=ReturnCode.NOT_SUPPORTED,
                )
        for node in list(graph.nodes):
            count += _constants(node)
        for node in list(graph.nodes):
            _rectify(graph, node)
        for value in graph.values():
            if is_quantized(value) and not value.is_constant:
                value.dtype, value.quant = DataType.FLOAT32, ()
        for node in list(graph.nodes):
            if node.op.name == "QuantDTypeCast":
                _bypass(graph, node)
            elif node.quant_type in (QuantType.QUANT_ALL, QuantType.QUANT_WEIGHT):
                node.quant_type = QuantType.QUANT_NONE
        graph.nodes = live_nodes(graph)
    return [f"{count} quantized constants converted to float32"] if count else []


def _constants(node: Node) -> int:
    """Dequantizes the constants of a node; returns how many."""
    inputs = list(node.inputs)
    changed = 0
    for index, value in enumerate(node.inputs):
        records = _records(node, index, value)
        if value.data is None or not records:
            continue
        axis = channel_axis(node.op, index, node.inputs) if len(records) > 1 else 0
        data = dequantized_array(value.data, records, axis)
        inputs[index] = Value(value.name, DataType.FLOAT32, value.shape, data=data, format=value.format)
        changed += 1
    if changed:
        node.set_inputs(inputs)
    return changed


def _records(node: Node, index: int, value: Value) -> Sequence[QuantParam]:
    """Returns the quantization parameters of a constant. If a bias has none, they follow from input and weight."""
    if value.dtype in NARROW:
        return value.quant
    if value.dtype not in (DataType.INT32, DataType.INT64) or node.quant_type is not QuantType.QUANT_ALL:
        return ()
    if index != _BIAS or not is_mac_node(node):
        return ()
    if value.quant and all(record.scale > 0 for record in value.quant):
        return value.quant
    x, weight = node.inputs[0].quant, node.inputs[1].quant
    return tuple(QuantParam(scale=record.scale * x[0].scale) for record in weight) if len(x) == 1 else ()


def _rectify(graph: Graph, node: Node) -> None:
    """Inserts a ReLU after an output whose range starts at 0, or a ReLU6 if it also ends at 6."""
    value = node.outputs[0] if len(node.outputs) == 1 else None
    if value is None or not is_quantized(value) or len(value.quant) != 1:
        return
    if not (is_mac_node(node) or node.op.name in _MAY_BE_NEGATIVE):
        return
    if getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION) is not ActivationType.NO_ACTIVATION:
        return
    record, limits = value.quant[0], np.iinfo(np.int16 if value.dtype is DataType.INT16 else np.int8)
    if record.zeroPoint != int(limits.min):
        return
    is_six = abs(record.scale * (int(limits.max) - record.zeroPoint) - 6.0) < _SIX_TOLERANCE
    kind = ActivationType.RELU6 if is_six else ActivationType.RELU
    rectified = Value(f"{value.name}_relu", value.dtype, value.shape, format=value.format, quant=value.quant)
    graph.replace_uses(value, rectified)
    relu = Node(Activation(activation_type=kind), f"{node.name}_relu", (value,), (rectified,))
    graph.insert_after(node, relu)
    if rectified in graph.outputs:
        value.name, rectified.name = rectified.name, value.name


def _bypass(graph: Graph, cast: Node) -> None:
    """Removes a cast between two values that are both float now."""
    before, after = cast.inputs[0], cast.output
    if before.dtype is not after.dtype:
        return
    if after in graph.outputs:
        if before in graph.inputs or before in graph.outputs or before.is_constant:
            return
        before.name, after.name = after.name, before.name
    graph.replace_uses(after, before)
