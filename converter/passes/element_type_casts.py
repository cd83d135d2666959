"""Inserts casts around nodes without a kernel for their element types, so that they compute in wider types."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, numpy_type
from mslite.converter.mindir.ops.arithmetic import BitwiseXor
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.passes import native_rules
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes

_HIGHEST_BIT = np.uint64(1 << 63)

_EXCLUDED = frozenset(
    {"Cast", "QuantDTypeCast", "Bitcast", "Custom", "GenOP", "ReadVariable", "AssignVariable"}
    | {"PartialFusion", "Switch", "SwitchLayer", "Call", "Assert", "Depend", "DynamicQuant"}
)
"""Operators that convert types, or that the executor runs."""

_COMPARISONS = frozenset({"Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"})


@dataclass(frozen=True)
class _Choice:
    """The types that a node computes in. The runtime's planner makes the same choice for the files that it loads."""

    operands: tuple[DataType, ...]
    results: tuple[DataType, ...]
    turns: bool
    """uint64 inputs are compared as int64, with their highest bit flipped."""


def cast_unsupported_types(module: Module, context: Context) -> None:
    """Makes nodes compute in float32, int32 or int64 if no kernel supports the types of their inputs.

    Nodes without a kernel for wider types are not changed.
    """
    done: Counter[tuple[str, str]] = Counter()
    for graph in module.graphs:
        _Casts(graph, done).run()
    for (narrow, wide), count in done.items():
        nodes, they = ("1 node", "it computes") if count == 1 else (f"{count} nodes", "they compute")
        context.note(f"{nodes} without a kernel for {narrow}: {they} in {wide}")


class _Casts:
    """The casts of one graph. A value is cast once; readers of a value that was cast back read the uncast value if
    possible."""

    def __init__(self, graph: Graph, done: Counter[tuple[str, str]]) -> None:
        self._graph = graph
        self._done = done
        self._cast: dict[tuple[Value, DataType, bool], Value] = {}
        self._rounded: set[Value] = set()
        """float64 values that were computed in float32."""
        self._nodes: list[Node] = []

    def run(self) -> None:
        for node in self._graph.nodes:
            choice = _wider_types(node) or self._comparison(node)
            if choice is None:
                self._nodes.append(node)
            else:
                self._rewrite(node, choice)
        self._graph.nodes = self._nodes
        self._graph.nodes = live_nodes(self._graph)

    def _comparison(self, node: Node) -> _Choice | None:
        """Returns the choice of float32 for a comparison with values that were rounded to float32: Relu(x) is then
        equal to x > 0."""
        if node.op.name not in _COMPARISONS or not self._rounded.intersection(node.inputs):
            return None
        operands = (DataType.FLOAT32 if value.dtype is DataType.FLOAT64 else value.dtype for value in node.inputs)
        return _Choice(tuple(operands), tuple(value.dtype for value in node.outputs), False)

    def _rewrite(self, node: Node, choice: _Choice) -> None:
        changed = {(value.dtype, dtype) for value, dtype in zip(node.inputs, choice.operands, strict=True)}
        for narrow, wider in sorted(changed):
            if narrow is not wider:
                self._done[narrow.name.lower(), wider.name.lower()] += 1
        node.set_inputs(
            [self._in(value, dtype, choice.turns) for value, dtype in zip(node.inputs, choice.operands, strict=True)]
        )
        self._nodes.append(node)
        results = []
        for value, dtype in zip(node.outputs, choice.results, strict=True):
            if value.dtype is dtype:
                results.append(value)
                continue
            wide = Value(f"{value.name}/{dtype.name.lower()}", dtype, value.shape, format=value.format)
            wide.producer = node
            results.append(wide)
            if choice.turns and value.dtype is DataType.UINT64:
                plain = Value(f"{value.name}/turned", DataType.UINT64, value.shape, format=value.format)
                self._add(plain, wide)
                self._turn(value, plain)
                continue
            if value.dtype is DataType.FLOAT64:  # casts back to other types may change the values
                self._cast[value, dtype, False] = wide
                self._rounded.add(value)
            self._add(value, wide)
        node.outputs = tuple(results)

    def _in(self, value: Value, wanted: DataType, turns: bool) -> Value:
        if wanted is value.dtype:
            return value
        turns &= value.dtype is DataType.UINT64
        key = (value, wanted, turns)
        if key not in self._cast:
            name = f"{value.name}/{wanted.name.lower()}{'_turned' if turns else ''}"
            if value.data is not None:
                data = np.bitwise_xor(value.data, _HIGHEST_BIT) if turns else value.data
                self._cast[key] = constant(name, data.astype(numpy_type(wanted)), value.format)
                return self._cast[key]
            operand = value
            if turns:
                operand = Value(f"{name}/bits", DataType.UINT64, value.shape, format=value.format)
                self._turn(operand, value)
            self._cast[key] = Value(name, wanted, value.shape, format=value.format)
            self._add(self._cast[key], operand)
        return self._cast[key]

    def _turn(self, result: Value, operand: Value) -> None:
        """Flips the highest bit of uint64 elements: interpreted as int64, they then have the same order."""
        bit = constant(f"{result.name}/bit", np.array(_HIGHEST_BIT))
        self._nodes.append(Node(BitwiseXor(), f"{result.name}/xor", (operand, bit), (result,)))

    def _add(self, result: Value, operand: Value) -> None:
        """Casts `operand` to the type of `result`."""
        kind = constant(f"{result.name}/type", np.array([int(result.dtype)], np.int32))
        self._nodes.append(Node(Cast(), f"{result.name}/cast", (operand, kind), (result,)))


def has_kernel_for_types(node: Node) -> bool:
    """Returns whether a portable kernel supports the node with the types of its inputs."""
    choice = _types_of_kernel(node)
    return choice is not None and choice.operands == tuple(value.dtype for value in node.inputs)


def has_kernel_for_wider_types(node: Node) -> bool:
    """Returns whether a node without a kernel for its types has one for wider types."""
    return _wider_types(node) is not None


def _wider_types(node: Node) -> _Choice | None:
    """Returns the types that the node computes in; None if a kernel supports its own types, or there is no kernel at
    all."""
    values = (*node.inputs, *node.outputs)
    if node.op.name in _EXCLUDED or node.quant_type != 0 or any(value.quant for value in values):
        return None
    if all(value.dtype is DataType.FLOAT32 for value in values):
        return None
    choice = _types_of_kernel(node)
    return None if choice is None or choice.operands == tuple(value.dtype for value in node.inputs) else choice


def _types_of_kernel(node: Node) -> _Choice | None:
    """Returns the types for which a portable kernel supports the node, preferably its own; None if there is no
    kernel."""
    facts = [native_rules.NativeTensorFacts(value.dtype, value.shape, None, value.data) for value in node.inputs]
    try:
        found = native_rules.kernel_types(node.op, facts, [value.dtype for value in node.outputs])
    except native_rules.NativeRuleError:
        return None
    if found is None:
        return None
    operands, results, compares = found
    turns = compares and any(
        value.dtype is DataType.UINT64 and dtype is DataType.INT64
        for value, dtype in zip(node.inputs, operands, strict=True)
    )
    return _Choice(operands, results, turns)
