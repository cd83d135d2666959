"""Nodes on stored integers that a version has no kernel for compute on the float values, between casts."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.compatibility.judge import is_narrow_weight, is_on_other_axis, refusal
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import DynamicQuant, QuantDTypeCast
from mslite.converter.mindir.quantized import channel_axis, is_quantized, real_numbers
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed

_NOT_THESE = frozenset({"QuantDTypeCast", "DynamicQuant", "Bitcast", "Cast"})
_FULL_BIAS = DataType.INT32


def compute_on_reals(module: Module, context: Context, version: Version) -> bool:
    """Puts casts around nodes on int8 that the version refuses. True where there were such."""
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
            f"{len(names)} operators on integers have no kernel in MindSpore Lite {version.label} and compute in float32: {shown}"
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
    """The float values that operand `index` stands for."""
    value = node.inputs[index]
    if not value.quant or value.dtype not in (DataType.INT8, _FULL_BIAS):
        return value
    if value.data is not None:
        numbers = real_numbers(value.data, value.quant, channel_axis(node.op, index, node.inputs))
        return constant(f"{value.name}_real", np.asarray(numbers, order="C"), value.format)
    if value not in casts:
        casts[value] = Value(f"{value.name}_real", DataType.FLOAT32, value.shape, format=value.format)
        op = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(DataType.FLOAT32))
        graph.insert_before(node, Node(op, f"{value.name}_dtype_cast_pre", (value,), (casts[value],)))
    return casts[value]


def requantize_through_reals(module: Module, version: Version) -> bool:
    """Casts from int8 to int8 that the version computes wrong become two. True where there were such."""
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


def restate_channels(module: Module, context: Context, version: Version) -> bool:
    """Constants whose records the version would take for those of another dimension, and such in fewer bits as it does not load, become
    float values. True where there were such."""
    found, narrow = False, 0
    for graph in module.graphs:
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                is_narrow = version is Version.V2_0 and is_narrow_weight(node, index)
                if value.data is not None and (is_narrow or is_on_other_axis(node, index, version)):
                    numbers = real_numbers(value.data, value.quant, channel_axis(node.op, index, node.inputs))
                    real = constant(f"{value.name}_real", np.asarray(numbers, order="C"), value.format)
                    node.set_inputs([real if each is value else each for each in node.inputs])
                    found = True
                    narrow += is_narrow
    if narrow:
        context.note(
            f"{narrow} weights are stored in float32: {version.title} does not load products whose weights have fewer bits"
        )
    return found


def leave_activations_real(module: Module, context: Context, version: Version) -> bool:
    """Takes out roundings of activations at run time, of which the version has none: their layers read the float values."""
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
    if version < Version.V2_0:  # a kind that they do not know: they would take stored weights for float values
        for node in (node for graph in module.graphs for node in graph.nodes):
            if node.quant_type is QuantType.QUANT_DYNAMIC:
                node.quant_type = QuantType.QUANT_WEIGHT
    if count:
        context.note(
            f"{count} roundings of activations to 8 bits are left out: MindSpore Lite {version.label} has no DynamicQuant here; "
            "their layers, whose weights stay 8 bits wide in the file, compute on float values"
        )
    return bool(count)


def note_roundings(module: Module, context: Context, version: Version) -> None:
    """Says that the version's own integer kernels round differently from mslite's."""
    count = sum(node.quant_type is QuantType.QUANT_ALL for graph in module.graphs for node in graph.nodes)
    if count and version < Version.V2_7:
        more = " (sums and averages two)" if version < Version.V2_0 else ""
        context.note(
            f"{version.title} rounds differently from mslite in {count} operators on int8: each result is within a step of the exact one{more}, "
            "which adds up in deep networks"
        )
