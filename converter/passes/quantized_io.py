"""Changes the types of quantized inputs and outputs of the model to float32, int8 or uint8."""

from __future__ import annotations

import dataclasses

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import SHIFTS, SIGNED, is_quantized
from mslite.converter.passes.graph_edit import live_nodes

BYTES = frozenset({DataType.INT8, DataType.UINT8})


def can_have_type(value: Value, wanted: DataType) -> bool:
    """Returns whether a quantized input or output can have the type `wanted`."""
    if not is_quantized(value) or len(value.quant) != 1 or value.dtype is wanted:
        return False
    return wanted is DataType.FLOAT32 or (wanted in BYTES and value.dtype in BYTES)


def remove_input_quantization(graph: Graph, value: Value) -> None:
    """Replaces a float input by the quantized tensor, if all of its readers quantize it with the same parameters."""
    roundings = [node for node in value.users if node.op.name == "QuantDTypeCast"]
    results = [node.output for node in roundings]
    if value.dtype is not DataType.FLOAT32 or value in graph.outputs or not results:
        return
    first = results[0]
    if len(set(roundings)) != len(value.users) or not all(_is_byte(result) for result in results):
        return
    if any((one.dtype, one.quant) != (first.dtype, first.quant) or one in graph.outputs for one in results):
        return
    value.dtype, value.quant = first.dtype, first.quant
    for node in roundings:
        graph.replace_uses(node.output, value)
        graph.remove(node)


def remove_output_dequantization(graph: Graph, value: Value) -> None:
    """Replaces a float output by the quantized tensor that it was dequantized from."""
    node = value.producer
    if node is None or node.op.name != "QuantDTypeCast" or value.dtype is not DataType.FLOAT32 or value.users:
        return
    stored = node.inputs[0]
    if not _is_byte(stored) or stored.producer is None or stored in graph.outputs or graph.outputs.count(value) != 1:
        return
    graph.outputs = [stored if output is value else output for output in graph.outputs]
    graph.remove(node)
    stored.name = value.name


def _is_byte(value: Value) -> bool:
    """Returns whether a tensor is quantized to 8 bits per tensor."""
    return is_quantized(value) and len(value.quant) == 1 and value.dtype in BYTES


def cast_quantized_input(graph: Graph, value: Value, wanted: DataType) -> None:
    """Gives an input the type `wanted`; inside, the graph reads signed integers."""
    signed = SIGNED.get(value.dtype, value.dtype)
    inside = Value(f"{value.name}_cast", signed, value.shape, format=value.format, quant=_records(value, signed))
    if value.dtype in SHIFTS:
        for node in value.users:
            if _is_cast(node, signed):
                graph.replace_uses(node.output, inside)
        graph.nodes = live_nodes(graph)
        if value.users or value in graph.outputs:  # some readers need it unsigned
            before = Value(f"{value.name}_unsigned", value.dtype, value.shape, format=value.format, quant=value.quant)
            graph.replace_uses(value, before)
            graph.nodes.insert(0, _cast(inside, before))
    else:
        graph.replace_uses(value, inside)
    value.quant, value.dtype = _records(value, wanted), wanted
    if wanted is signed:
        graph.replace_uses(inside, value)
    else:
        graph.nodes.insert(0, _cast(value, inside))


def cast_quantized_output(graph: Graph, value: Value, wanted: DataType) -> Value:
    """Returns an output with the type `wanted` that replaces `value`."""
    inner = value
    if value.producer is not None and value.dtype in SHIFTS and is_quantized(value.producer.inputs[0]):
        inner = value.producer.inputs[0]
    name = value.name
    if value not in graph.inputs:
        value.name = f"{name}_uncast"
    if inner.dtype is wanted:
        if inner in graph.inputs or inner in graph.outputs or inner.is_constant:
            value.name = name
            return value
        inner.name = name
        return inner
    outside = Value(name, wanted, value.shape, format=value.format, quant=_records(value, wanted))
    graph.nodes.append(_cast(inner, outside))
    return outside


def _is_cast(node: Node, dtype: DataType) -> bool:
    return node.op.name == "QuantDTypeCast" and node.output.dtype is dtype


def _cast(before: Value, after: Value) -> Node:
    op = QuantDTypeCast(src_t=int(before.dtype), dst_t=int(after.dtype))
    return Node(op, f"{after.name}_dtype_cast", (before,), (after,))


def _records(value: Value, dtype: DataType) -> tuple[QuantParam, ...]:
    """Returns the quantization parameters for the same float values stored as `dtype`."""
    if dtype is DataType.FLOAT32:
        return ()
    shift = SHIFTS.get(dtype, 0) - SHIFTS.get(value.dtype, 0)
    return tuple(dataclasses.replace(record, zeroPoint=record.zeroPoint + shift) for record in value.quant)
