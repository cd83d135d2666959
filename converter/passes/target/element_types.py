"""Inserts casts around nodes if a version has no kernel for their element types."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.compatibility.check import refusal
from mslite.converter.compatibility.conditions.arithmetic import has_cast
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.passes.context import Context

_WIDER = (DataType.INT32, DataType.FLOAT32)
"""The types that are tried, in this order."""
_NUMBERS = frozenset({DataType.BOOL, DataType.INT32, DataType.INT64, DataType.UINT8, DataType.FLOAT32})
_EXCLUDED = frozenset(
    {"Cast", "QuantDTypeCast", "PartialFusion", "Switch", "SwitchLayer", "Call", "MatMulFusion", "FullConnection", "Unique", "ScatterNd",
     "ScatterNdUpdate", "Size", "Rank", "Shape"}
)  # fmt: skip
"""Operators that convert types, return sizes, or add large integers."""
_TYPED = frozenset(
    {
        "Equal",
        "Greater",
        "GreaterEqual",
        "Less",
        "LessEqual",
        "NotEqual",
        "Shape",
        "Size",
        "Rank",
        "ArgMaxFusion",
        "ArgMinFusion",
    }
)
"""Operators with an output type that does not depend on the input type."""
_DATA = {"Gather": 1, "GatherNd": 1, "Reshape": 1, "Transpose": 1, "StridedSlice": 1, "SliceFusion": 1, "TileFusion": 1,
         "BroadcastTo": 1, "ExpandDims": 1, "ReduceFusion": 1, "PadFusion": 1, "TopKFusion": 1, "CumSum": 1, "OneHot": 0}  # fmt: skip
"""Number of data inputs; the other inputs are indices and shapes."""


def insert_type_casts(module: Module, context: Context, version: Version) -> bool:
    """Inserts casts around nodes that the version supports in another type only. Returns whether there were any."""
    names: list[str] = []
    for graph in module.graphs:
        casts: dict[tuple[Value, DataType], Value] = {}
        for node in list(graph.nodes):
            if _may_change(node) and refusal(node, version) is not None and _between_casts(graph, node, casts, version):
                names.append(f"{node.op.name} '{node.name}'")
    if names:
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        context.note(
            f"{version.title} has no kernel for the types of {shown}: other types are used, between casts; float32 "
            "represents integers "
            "exactly up to 16 777 216"
        )
    return bool(names)


def _may_change(node: Node) -> bool:
    values = (*node.inputs, *node.outputs)
    return (
        node.op.name not in _EXCLUDED
        and not node.op.declaration.is_custom
        and node.quant_type == 0
        and bool(node.inputs)
        and not any(value.quant for value in values)
    )


def _between_casts(graph: Graph, node: Node, casts: dict[tuple[Value, DataType], Value], version: Version) -> bool:
    count = _DATA.get(node.op.name, len(node.inputs))
    data = node.inputs[:count]
    if not data or any(value.dtype not in _NUMBERS for value in data):
        return False
    for wanted in _WIDER:
        if all(value.dtype is wanted for value in data):
            continue
        if wanted is DataType.INT32 and any(value.dtype is DataType.FLOAT32 for value in data):
            continue  # would truncate fractions
        if not all(_has_way_back(_result(node, value, wanted), value.dtype, version) for value in node.outputs):
            continue
        attempt = _as_if(node, count, wanted)
        takes = refusal(attempt, version) is None
        attempt.set_inputs(())
        if takes:
            _cast(graph, node, count, wanted, casts)
            return True
    return False


def _has_way_back(given: DataType, wanted: DataType, version: Version) -> bool:
    """Returns whether an output can be cast back to its type, directly, via float32 or by a comparison."""
    through = wanted is DataType.BOOL or has_cast(DataType.FLOAT32, wanted, version)
    return given is wanted or has_cast(given, wanted, version) or through


def _as_if(node: Node, count: int, wanted: DataType) -> Node:
    """Returns a copy of the node with data inputs of the type `wanted`."""
    operands = [Value(value.name, wanted, value.shape, data=None if value.data is None else value.data.astype(numpy_type(wanted)),
                      format=value.format) for value in node.inputs[:count]]  # fmt: skip
    outputs = tuple(
        Value(value.name, _result(node, value, wanted), value.shape, format=value.format) for value in node.outputs
    )
    return Node(node.op, node.name, (*operands, *node.inputs[count:]), outputs)


def _result(node: Node, value: Value, wanted: DataType) -> DataType:
    is_like_data = node.op.name not in _TYPED and value.dtype in {one.dtype for one in node.inputs}
    return wanted if is_like_data else value.dtype


def _cast(graph: Graph, node: Node, count: int, wanted: DataType, casts: dict[tuple[Value, DataType], Value]) -> None:
    operands = [_operand(graph, node, value, wanted, casts) for value in node.inputs[:count]]
    results, behind = [], []
    for value in node.outputs:
        dtype = _result(node, value, wanted)
        if dtype is value.dtype:
            results.append(value)
            continue
        wide = Value(f"{value.name}/{dtype.name.lower()}", dtype, value.shape, format=value.format)
        wide.producer = node
        results.append(wide)
        behind.append(_cast_node(wide, value))
    node.set_inputs([*operands, *node.inputs[count:]])
    node.outputs = tuple(results)
    graph.insert_after(node, *behind)


def _operand(
    graph: Graph, node: Node, value: Value, wanted: DataType, casts: dict[tuple[Value, DataType], Value]
) -> Value:
    if value.dtype is wanted:
        return value
    key = (value, wanted)
    if key not in casts:
        name = f"{value.name}/{wanted.name.lower()}"
        if value.data is not None:
            casts[key] = constant(name, value.data.astype(numpy_type(wanted)), value.format)
        else:
            casts[key] = Value(name, wanted, value.shape, format=value.format)
            graph.insert_before(node, _cast_node(value, casts[key]))
    return casts[key]


def _cast_node(before: Value, after: Value) -> Node:
    kind = constant(f"{after.name}/type", np.array([int(after.dtype)], np.int32))
    return Node(Cast(), f"{after.name}/cast", (before, kind), (after,))
