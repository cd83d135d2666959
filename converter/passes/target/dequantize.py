"""Makes quantized nodes compute in float, between casts, if a version has no integer kernel for them."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.compatibility.check import has_scales_of_other_axis, is_integer_weight_of_float_node, refusal
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import DynamicQuant, QuantDTypeCast
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, is_quantized
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed

_NOT_THESE = frozenset({"QuantDTypeCast", "DynamicQuant", "Bitcast", "Cast"})
_FULL_BIAS = DataType.INT32


def dequantize_nodes(module: Module, context: Context, version: Version) -> bool:
    """Inserts casts around int8 nodes that the version does not support. Returns whether there were any."""
    names: list[str] = []
    for graph in module.graphs:
        casts: dict[Value, Value] = {}
        for node in list(graph.nodes):
            if _is_on_bytes(node) and refusal(node, version) is not None:
                _between_casts(graph, node, casts)
                names.append(node.name)
    if names:
        shown = ", ".join(f"'{name}'" for name in names[:3]) + (", ..." if len(names) > 3 else "")
        context.note(
            f"{len(names)} quantized operators have no kernel in MindSpore Lite {version.label} and compute in "
            f"float32: {shown}"
        )
    return bool(names)


def _is_on_bytes(node: Node) -> bool:
    stored = [value for value in (*node.inputs, *node.outputs) if is_quantized(value)]
    return (
        bool(stored)
        and node.op.name not in _NOT_THESE
        and not node.op.declaration.is_custom
        and all(value.dtype is DataType.INT8 for value in stored)
        and node.quant_type is not QuantType.QUANT_WEIGHT
        and not any(value.is_constant and value.data is None for value in node.inputs)
    )


def _between_casts(graph: Graph, node: Node, casts: dict[Value, Value]) -> None:
    node.set_inputs([_real(graph, node, index, casts) for index in range(len(node.inputs))])
    results = []
    behind = []
    for value in node.outputs:
        if not is_quantized(value):
            results.append(value)
            continue
        real = Value(f"{value.name}_real", DataType.FLOAT32, value.shape, format=value.format)
        real.producer = node
        results.append(real)
        op = QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(value.dtype))
        behind.append(Node(op, f"{value.name}_dtype_cast_post", (real,), (value,)))
    node.outputs = tuple(results)
    node.quant_type = QuantType.QUANT_NONE
    graph.insert_after(node, *behind)


def _real(graph: Graph, node: Node, index: int, casts: dict[Value, Value]) -> Value:
    """Returns input `index` dequantized."""
    value = node.inputs[index]
    if not value.quant or value.dtype not in (DataType.INT8, _FULL_BIAS):
        return value
    if value.data is not None:
        numbers = dequantized_array(value.data, value.quant, channel_axis(node.op, index, node.inputs))
        return constant(f"{value.name}_real", np.asarray(numbers, order="C"), value.format)
    if value not in casts:
        casts[value] = Value(f"{value.name}_real", DataType.FLOAT32, value.shape, format=value.format)
        op = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(DataType.FLOAT32))
        graph.insert_before(node, Node(op, f"{value.name}_dtype_cast_pre", (value,), (casts[value],)))
    return casts[value]


def split_requantizations(module: Module, version: Version) -> bool:
    """Splits casts from int8 to int8, which the version computes incorrectly, into two. Returns whether there were
    any."""
    found = False
    for graph in module.graphs:
        for node in list(graph.nodes):
            if node.op.name != "QuantDTypeCast" or refusal(node, version) is None:
                continue
            before, after = node.inputs[0], node.output
            if not (is_quantized(before) and is_quantized(after) and before.dtype is after.dtype is DataType.INT8):
                continue
            real = Value(f"{after.name}_real", DataType.FLOAT32, after.shape, format=after.format)
            op = changed(node.op, dst_t=int(DataType.FLOAT32))
            graph.insert_before(node, Node(op, f"{node.name}_pre", (before,), (real,)))
            node.op = changed(node.op, src_t=int(DataType.FLOAT32))
            node.set_inputs([real])
            found = True
    return found


def dequantize_constants(module: Module, context: Context, version: Version) -> bool:
    """Dequantizes constants with scales that the version would apply to another dimension, and weights with fewer bits
    that it does
    not load. Returns whether there were any."""
    found, narrow = False, 0
    for graph in module.graphs:
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                is_narrow = version is Version.V2_0 and is_integer_weight_of_float_node(node, index)
                if value.data is not None and (is_narrow or has_scales_of_other_axis(node, index, version)):
                    numbers = dequantized_array(value.data, value.quant, channel_axis(node.op, index, node.inputs))
                    real = constant(f"{value.name}_real", np.asarray(numbers, order="C"), value.format)
                    node.set_inputs([real if each is value else each for each in node.inputs])
                    found = True
                    narrow += is_narrow
    if narrow:
        context.note(
            f"{narrow} weights are stored in float32: {version.title} does not load these weights in fewer bits"
        )
    return found


def remove_dynamic_quantization(module: Module, context: Context, version: Version) -> bool:
    """Removes DynamicQuant nodes that the version does not support: their layers read float activations. Returns
    whether there were
    any."""
    count = 0
    for graph in module.graphs:
        for node in list(graph.nodes):
            if not isinstance(node.op, DynamicQuant) or refusal(node, version) is None:
                continue
            for user in node.output.users:
                user.quant_type = QuantType.QUANT_WEIGHT
            graph.replace_uses(node.output, node.inputs[0])
            graph.remove(node)
            count += 1
    if version < Version.V2_0:  # these versions do not support this type and would read quantized weights as float
        for node in (node for graph in module.graphs for node in graph.nodes):
            if node.quant_type is QuantType.QUANT_DYNAMIC:
                node.quant_type = QuantType.QUANT_WEIGHT
    if count:
        context.note(
            f"{count} DynamicQuant nodes are removed: MindSpore Lite {version.label} does not support them here; "
            "their layers compute in float, with 8-bit weights in the file"
        )
    return bool(count)


def note_rounding_differences(module: Module, context: Context, version: Version) -> None:
    """Adds a note that the version's integer kernels round differently from mslite's."""
    count = sum(node.quant_type is QuantType.QUANT_ALL for graph in module.graphs for node in graph.nodes)
    if count and version < Version.V2_7:
        more = " (two for sums and averages)" if version < Version.V2_0 else ""
        context.note(
            f"{version.title} rounds differently from mslite in {count} int8 operators: results are within one "
            "quantization step of the "
            f"exact ones{more}; the differences accumulate in deep networks"
        )
