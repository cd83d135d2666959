"""Converts int64 values to int32 if range analysis proves that they fit, and no cast has to be added.

Exporters compute shapes and indices in int64; kernels return sizes and read indices as int32. A region of int64 values
becomes int32 if all of its values fit for any input, and it is surrounded by constants, Casts, and inputs that may
have either type. Graph inputs and outputs keep their types.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.range_analysis import INT32_RANGE, Range, ranges_of

_ARITHMETIC = frozenset({"AddFusion", "SubFusion", "MulFusion", "Maximum", "Minimum"})
_COMPARISONS = frozenset({"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"})
_MOVES = frozenset(
    {"Gather", "Squeeze", "Unsqueeze", "ExpandDims", "Reshape", "Transpose", "Flatten", "BroadcastTo", "TileFusion",
     "StridedSlice", "SliceFusion"}
)  # fmt: skip
_JOINS = frozenset({"Concat", "Stack"})
_INDEX_OPERANDS = {"Gather": 1, "GatherNd": 1, "Reshape": 1}
"""Inputs that kernels read as int32 or int64."""
_SMALL = frozenset({DataType.BOOL, DataType.INT8, DataType.UINT8, DataType.INT32})


def narrow_int64_by_ranges(module: Module, context: Context) -> None:
    """Converts proven int64 values to int32, in each graph separately."""
    for graph in module.graphs:
        ranges = ranges_of(graph)
        region = _region(graph, ranges)
        for node in graph.nodes:
            _narrow_operands(node, region, ranges)
        for node in list(graph.nodes):
            if _is_widening(node) and node.output in region:
                _drop_widening(graph, node)
        for value in region:
            value.dtype = DataType.INT32


def _operands(node: Node) -> tuple[Value, ...]:
    """Returns the inputs that must have the same type as each other, and as the output unless that is bool."""
    name = node.op.name
    if name in _JOINS:
        return node.inputs
    if name in _ARITHMETIC and node.op.__dict__.get("activation_type", ActivationType.NO_ACTIVATION) == 0:
        return node.inputs
    if name in _COMPARISONS:
        return node.inputs
    return node.inputs[:1] if name in _MOVES else ()


def _group(node: Node) -> tuple[Value, ...]:
    """Returns the values that can only change their type together."""
    operands = _operands(node)
    return (*operands, *node.outputs) if operands and node.op.name not in _COMPARISONS else operands


def _is_widening(node: Node) -> bool:
    return node.op.name == "Cast" and node.output.dtype is DataType.INT64 and node.inputs[0].dtype in _SMALL


def _may_read(node: Node, value: Value) -> bool:
    """Returns whether this reader allows `value` to become int32."""
    if node.op.name == "Cast":
        return True
    index = _INDEX_OPERANDS.get(node.op.name)
    grouped = _operands(node)
    positions = [k for k, operand in enumerate(node.inputs) if operand is value]
    return all(k == index or any(value is operand for operand in grouped) for k in positions)


def _region(graph: Graph, ranges: dict[Value, Range]) -> set[Value]:
    """Returns the largest set of values that can become int32: values that violate a condition are removed until none
    does."""
    boundary = {*graph.inputs, *graph.outputs}
    region = {
        value
        for node in graph.nodes
        for value in node.outputs
        if value.dtype is DataType.INT64 and value not in boundary and not value.quant and _fits(ranges.get(value))
        if _is_widening(node) or _operands(node)
        if all(_may_read(user, value) for user in value.users)
    }
    changed = True
    while changed:
        changed = False
        for node in graph.nodes:
            group = [value for value in _group(node) if value.dtype is DataType.INT64]
            if any(value in region for value in group) and not all(_ready(value, region, ranges) for value in group):
                region.difference_update(group)
                changed = True
    return region


def _ready(value: Value, region: set[Value], ranges: dict[Value, Range]) -> bool:
    return value in region or (value.data is not None and not value.quant and _fits(ranges.get(value)))


def _fits(interval: Range | None) -> bool:
    return interval is not None and INT32_RANGE[0] <= interval[0] and interval[1] <= INT32_RANGE[1]


def _narrow_operands(node: Node, region: set[Value], ranges: dict[Value, Range]) -> None:
    """Converts constant inputs to int32 if they belong to the region, or are indices that may have either type."""
    group = _group(node)
    joined = any(value in region for value in group)
    index = _INDEX_OPERANDS.get(node.op.name)
    inputs = list(node.inputs)
    for k, value in enumerate(inputs):
        if value.data is None or value.dtype is not DataType.INT64 or value.quant or not _fits(ranges.get(value)):
            continue
        if k == index or (joined and any(value is member for member in group)):
            inputs[k] = _narrow(value)
    node.set_inputs(inputs)


def _narrow(value: Value) -> Value:
    return constant(f"{value.name}_int32", value.array().astype(np.int32), value.format)


def _drop_widening(graph: Graph, node: Node) -> None:
    if node.inputs[0].dtype is DataType.INT32:
        graph.replace_uses(node.output, node.inputs[0])
        graph.nodes.remove(node)
        node.set_inputs(())
        return
    target = constant(f"{node.name}_type", np.array([int(DataType.INT32)], np.int32))
    node.set_inputs([node.inputs[0], target])
