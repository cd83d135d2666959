"""Converts float operators between casts to quantized nodes.

ONNX expresses a quantized operator as dequantize → operator → quantize (QDQ). MindIR has one node with quantization
parameters on inputs and outputs. Operators that only move elements do not need float values, so casts are first moved
across them. Other sources intend the float operators between casts: there only operators that move elements become
quantized, which keeps all bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import (
    MOVES,
    ON_INTEGERS,
    ROUND_HALF_TO_EVEN,
    is_quantized,
    only_moves_elements,
    same_quant_params,
)
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.quantized_constants import quantized_exactly, quantized_like

_SUMS = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "FullConnection", "MatMulFusion"})
"""Operators with a bias as the third input."""

_SEVERAL = frozenset({"Concat", "Stack"})
"""Operators that move elements of all inputs; the others move those of the first input."""

_CHOOSES = _SEVERAL | {"Where"}
"""Operators that select elements of several inputs."""

_ELEMENTWISE = frozenset({"AddFusion", "SubFusion", "MulFusion", "DivFusion", "Maximum", "Minimum"})
"""Operators with an integer kernel that supports constants."""


def fuse_qdq_nodes(module: Module, context: Context) -> None:
    """Makes nodes between casts compute with quantized tensors."""
    for graph in module.graphs:
        if not any(node.op.name == "QuantDTypeCast" for node in graph.nodes):
            continue
        for node in list(graph.nodes):
            _dequantize_later(graph, node)
        for node in reversed(list(graph.nodes)):
            _quantize_earlier(graph, node)
        for node in list(graph.nodes):
            _close(graph, node)
        for node in list(graph.nodes):
            _drop_pair(graph, node)
        graph.nodes = live_nodes(graph)


def _dequantized(value: Value) -> Value | None:
    """Returns the quantized tensor that `value` was dequantized from, or None."""
    cast = value.producer
    if cast is None or cast.op.name != "QuantDTypeCast" or value.dtype is not DataType.FLOAT32:
        return None
    source = cast.inputs[0]
    return source if is_quantized(source) and len(source.quant) == 1 else None


def _is_quantization(node: Node) -> bool:
    """Returns whether a node quantizes a float tensor with per-tensor parameters."""
    return (
        node.op.name == "QuantDTypeCast"
        and node.inputs[0].dtype is DataType.FLOAT32
        and is_quantized(node.output)
        and len(node.output.quant) == 1
    )


def _moved(node: Node) -> tuple[Value, ...]:
    """Returns the inputs with the elements that a node moves."""
    return node.inputs if node.op.name in _SEVERAL else node.inputs[:1]


def _dequantize_later(graph: Graph, node: Node) -> None:
    """Moves a dequantization to after a node that only moves elements."""
    if node.op.name not in MOVES or node.quant_type != 0 or not node.inputs:
        return
    sources = [_dequantized(value) for value in _moved(node)]
    first = sources[0]
    if first is None or any(
        source is None or source.dtype is not first.dtype or not same_quant_params(source.quant, first.quant)
        for source in sources
    ):
        return
    if any(value.dtype is not DataType.FLOAT32 for value in node.outputs):
        return
    rest = node.inputs[len(sources) :]
    node.set_inputs([*(source for source in sources if source is not None), *rest])
    casts = []
    for value in node.outputs:
        real = Value(value.name, DataType.FLOAT32, value.shape, format=value.format)
        graph.replace_uses(value, real)
        value.name = f"{value.name}_stored"
        value.dtype, value.quant = first.dtype, first.quant
        op = QuantDTypeCast(src_t=int(first.dtype), dst_t=int(DataType.FLOAT32))
        casts.append(Node(op, f"{value.name}_dtype_cast", (value,), (real,)))
    graph.insert_after(node, *casts)


def _quantize_earlier(graph: Graph, node: Node) -> None:
    """Moves a quantization to before a node that only moves elements and that only this quantization reads."""
    if not _is_quantization(node):
        return
    moved, result = node.inputs[0], node.output
    movement = moved.producer
    if movement is None or movement.op.name not in MOVES - _SEVERAL or len(movement.outputs) != 1:
        return
    if movement.quant_type != 0 or moved in graph.outputs or moved.users != [node]:
        return
    before = movement.inputs[0]
    if before.is_constant or before.producer is None or before.dtype is not DataType.FLOAT32:
        return
    if before.users != [movement] or before in graph.outputs:
        return
    stored = Value(f"{before.name}_stored", result.dtype, before.shape, format=before.format)
    stored.quant = result.quant
    # The node of the cast becomes the moving node, so that the result keeps its position and name.
    cast = Node(node.op, f"{node.name}_early", (before,), (stored,))
    graph.insert_before(node, cast)
    node.op, node.name = movement.op, movement.name
    node.set_inputs([stored, *movement.inputs[1:]])
    graph.remove(movement)
    _quantize_earlier(graph, cast)


def _close(graph: Graph, node: Node) -> None:
    """Makes the node before a quantization a quantized node, if its inputs are dequantized tensors."""
    if not _is_quantization(node):
        return
    inner, result = node.inputs[0], node.output
    producer = inner.producer
    if producer is None or len(producer.outputs) != 1 or inner in graph.outputs or inner.users != [node]:
        return
    if producer.op.name not in ON_INTEGERS | MOVES or producer.quant_type is QuantType.QUANT_ALL:
        return
    operands: list[Value] = []
    reads = False
    for value in producer.inputs:
        source = _dequantized(value)
        if source is None and not value.is_constant and value.dtype in (DataType.FLOAT32, DataType.FLOAT16):
            return
        reads |= source is not None
        operands.append(value if source is None else source)
    if not reads or not (_means_integers(result) or _moves_only(producer, operands, result)):
        return
    if producer.op.name == "Where":
        operands = [operands[0], *(_requantized(graph, node, value, result) for value in operands[1:])]
    operands = [_stored_constant(producer, value, result) for value in operands]
    node.op, node.name, node.source = producer.op, producer.name, producer.source
    node.set_inputs(_with_stored_bias(producer, operands))
    graph.remove(producer)
    node.quant_type = QuantType.QUANT_NONE if only_moves_elements(node) else QuantType.QUANT_ALL
    result.format = inner.format


def _stored_constant(producer: Node, value: Value, result: Value) -> Value:
    """Returns a float constant as a quantized constant if that is exact, else unchanged."""
    if value.data is None or value.dtype is not DataType.FLOAT32 or not _means_integers(result):
        return value
    if producer.op.name in _CHOOSES:
        return quantized_like(value, result)
    stored = quantized_exactly(value, result.dtype) if producer.op.name in _ELEMENTWISE else None
    return value if stored is None else stored


def _requantized(graph: Graph, node: Node, value: Value, result: Value) -> Value:
    """Requantizes an input of a selection to the parameters of the output; same result as requantizing after it."""
    if not is_quantized(value) or value.data is not None or same_quant_params(value.quant, result.quant):
        return value
    stored = Value(f"{node.name}_{value.name}_stored", result.dtype, value.shape, format=value.format)
    stored.quant = result.quant
    cast = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(result.dtype))
    graph.insert_before(node, Node(cast, f"{node.name}_{value.name}_cast", (value,), (stored,)))
    return stored


def _with_stored_bias(producer: Node, operands: list[Value]) -> list[Value]:
    """Quantizes a float bias, which some exporters leave, to int32 with the scale of input times weight."""
    if producer.op.name not in _SUMS or len(operands) < 3:
        return operands
    x, weight, bias = operands[:3]
    if bias.data is None or bias.dtype is not DataType.FLOAT32 or len(x.quant) != 1 or not is_quantized(weight):
        return operands
    if len(weight.quant) not in (1, bias.data.size) or bias.data.ndim != 1:
        return operands
    scales = np.array([x.quant[0].scale * record.scale for record in weight.quant])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.rint(bias.data / scales)
    if not np.all(np.abs(steps) <= np.iinfo(np.int32).max):  # also if a scale is 0
        return operands
    records = tuple(QuantParam(scale=float(scale), numBits=32) for scale in scales)
    stored = constant(f"{bias.name}_stored", steps.astype(np.int32), bias.format)
    stored.quant = records
    return [x, weight, stored, *operands[3:]]


def _means_integers(result: Value) -> bool:
    """Returns whether the source is QDQ, as in ONNX, which rounds half to even."""
    return result.quant[0].roundType == ROUND_HALF_TO_EVEN


def _moves_only(producer: Node, operands: Sequence[Value], result: Value) -> bool:
    return producer.op.name in MOVES and all(
        source.dtype is result.dtype and same_quant_params(source.quant, result.quant)
        for source in operands
        if source.quant
    )


def _drop_pair(graph: Graph, node: Node) -> None:
    """Removes a dequantization followed by a quantization with the same parameters."""
    if not _is_quantization(node) or node.output in graph.outputs:
        return
    source = _dequantized(node.inputs[0])
    if source is not None and source.dtype is node.output.dtype and same_quant_params(source.quant, node.output.quant):
        graph.replace_uses(node.output, source)
