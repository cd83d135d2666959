"""Prepares a quantized model of which some layers are trained.

Nodes before the first trained layer stay quantized; the trained layers and all nodes after them are dequantized.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mslite.converter.layer_names import is_named
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, is_quantized


def has_quantized_nodes(module: Module) -> bool:
    """Returns whether a module has quantized nodes."""
    return any(node.quant_type == QuantType.QUANT_ALL for node in module.main.nodes)


def dequantize_trained_part(module: Module, names: Collection[str] | None) -> None:
    """Dequantizes the layers of these names, and all nodes that depend on them; None: all layers.

    Unknown names are ignored here; the selection of layers reports them."""
    graph = module.main
    found = _behind(graph, names)
    casts: dict[Value, Value] = {}
    for node in list(graph.nodes):
        if node not in found:
            continue
        if (
            isinstance(node.op, QuantDTypeCast)
            and is_quantized(node.inputs[0])
            and node.inputs[0].producer not in found
        ):
            continue  # its output is float already
        node.set_inputs([_real(graph, node, place, casts, found) for place in range(len(node.inputs))])
        node.quant_type = QuantType.QUANT_NONE
        for value in node.outputs:
            if is_quantized(value):
                value.dtype, value.quant = DataType.FLOAT32, ()
    for node in [node for node in graph.nodes if node in found and isinstance(node.op, QuantDTypeCast)]:
        if node.inputs[0].dtype is DataType.FLOAT32:
            _leave_out(graph, node)


def _behind(graph: Graph, names: Collection[str] | None) -> set[Node]:
    """Returns the layers and all nodes that depend on them."""
    found: set[Node] = set()
    for node in graph.nodes:
        own = [node.name, *(value.name for value in node.inputs if value.is_constant)]
        is_chosen = names is None or any(is_named(text, name) for text in own for name in names)
        if is_chosen or any(value.producer in found for value in node.inputs if value.producer is not None):
            found.add(node)
    return found


def _real(graph: Graph, node: Node, place: int, casts: dict[Value, Value], found: set[Node]) -> Value:
    value = node.inputs[place]
    if value.data is not None:
        data = _real_constant(node, place)
        return value if data is None else constant(graph.unique_name(f"{value.name}/real"), data, value.format)
    if not is_quantized(value) or value.producer in found:
        return value
    if value not in casts:
        name = graph.unique_name(f"{value.name}/real")
        casts[value] = Value(name, DataType.FLOAT32, value.shape, format=value.format)
        op = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(DataType.FLOAT32))
        graph.nodes.insert(graph.nodes.index(node), Node(op, name, (value,), (casts[value],)))
    return casts[value]


def _real_constant(node: Node, place: int) -> Array | None:
    """Returns a dequantized constant; None if it is not a quantized constant."""
    value = node.inputs[place]
    if not value.quant and place == 2 and value.dtype is DataType.INT32 and is_quantized(node.inputs[0]):
        x, weight = node.inputs[0].quant[0].scale, [one.scale for one in node.inputs[1].quant]
        return np.asarray(value.array().astype(np.float64) * x * np.asarray(weight), np.float32)
    if not value.quant or value.array().dtype.kind not in "iu":
        return None
    return dequantized_array(value.array(), value.quant, channel_axis(node.op, place, node.inputs))


def _leave_out(graph: Graph, cast: Node) -> None:
    """Removes a cast from float to float; an output of the model keeps its name."""
    before, after = cast.inputs[0], cast.output
    if after in graph.outputs:
        before.name, after.name = after.name, before.name
    graph.replace_uses(after, before)
    graph.remove(cast)
