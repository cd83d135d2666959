"""Nodes whose element types no kernel takes compute in wider ones, between casts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mslite import _native
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import BitwiseXor
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.mindir.wire import primitive_bytes
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes

_FLOATS = (DataType.FLOAT32,)
_SMALL = (DataType.INT32, DataType.FLOAT32)
_LARGE = (DataType.INT64, DataType.FLOAT32)
_WIDER: Mapping[DataType, Sequence[DataType]] = {
    DataType.FLOAT64: _FLOATS,
    DataType.BOOL: _SMALL,
    DataType.INT8: _SMALL,
    DataType.UINT8: _SMALL,
    DataType.INT16: _SMALL,
    DataType.UINT16: _SMALL,
    DataType.INT32: _FLOATS,
    DataType.UINT32: _LARGE,
    DataType.INT64: _FLOATS,
    DataType.UINT64: _LARGE,
}
"""What a node may compute in, the first that a kernel takes. Sums that wrap in the wider type wrap in the narrow one alike."""

_ORDERS = frozenset({"ArgMaxFusion", "ArgMinFusion", "TopKFusion", "UniqueSlices", "Maximum", "Minimum"})
"""What compares: without its highest bit turned, a uint64 from 2^63 on would be negative as int64."""
_HIGHEST_BIT = np.uint64(1 << 63)

_EXCLUDED = frozenset(
    {"Cast", "QuantDTypeCast", "Bitcast", "Custom", "GenOP", "ReadVariable", "AssignVariable"}
    | {"PartialFusion", "Switch", "SwitchLayer", "Call", "Assert", "Depend", "DynamicQuant"}
)
"""Operators that are about types, or that the executor runs."""

Types = Mapping[DataType, DataType]


@dataclass(frozen=True)
class _Choice:
    """What a node computes in instead of its own types."""

    types: Types
    kept: frozenset[Value] = frozenset()
    """Operands that stay what they are: constants that steer the node, such as axes."""

    def of(self, value: Value) -> DataType | None:
        """What an operand is cast to; None where it stays."""
        return None if value in self.kept else self.types.get(value.dtype)


_AS_IT_IS = _Choice({})


def cast_unsupported_types(module: Module, context: Context) -> None:
    """Lets nodes compute in float32, int32 or int64 where no kernel takes the types of their operands.

    Nodes that no kernel takes in wider types either stay as they are.
    """
    done: Counter[tuple[str, str]] = Counter()
    for graph in module.graphs:
        _Casts(graph, done).run()
    for (narrow, wide), count in done.items():
        nodes, they = ("1 node", "it computes") if count == 1 else (f"{count} nodes", "they compute")
        context.note(f"no kernel takes {narrow} in {nodes}: {they} in {wide}")


class _Casts:
    """The casts of one graph; a value is cast once, and what was cast back is read as it was before."""

    def __init__(self, graph: Graph, done: Counter[tuple[str, str]]) -> None:
        self._graph = graph
        self._done = done
        self._cast: dict[tuple[Value, DataType, bool], Value] = {}
        self._nodes: list[Node] = []

    def run(self) -> None:
        for node in self._graph.nodes:
            choice = _wider_types(node)
            if choice is None:
                self._nodes.append(node)
            else:
                self._rewrite(node, choice)
        self._graph.nodes = self._nodes
        self._graph.nodes = live_nodes(self._graph)

    def _rewrite(self, node: Node, choice: _Choice) -> None:
        for narrow, wider in choice.types.items():
            self._done[narrow.name.lower(), wider.name.lower()] += 1
        turns = _compares(node)
        node.set_inputs([self._in(value, choice.of(value), turns) for value in node.inputs])
        self._nodes.append(node)
        results = []
        dtypes = _results(node.op, node.inputs, len(node.outputs), _AS_IT_IS)
        assert dtypes is not None
        for value, dtype in zip(node.outputs, dtypes, strict=True):
            if value.dtype is dtype:
                results.append(value)
                continue
            wide = Value(f"{value.name}/{dtype.name.lower()}", dtype, value.shape, format=value.format)
            wide.producer = node
            results.append(wide)
            if turns and value.dtype is DataType.UINT64:
                plain = Value(f"{value.name}/turned", DataType.UINT64, value.shape, format=value.format)
                self._add(plain, wide)
                self._turn(value, plain)
                continue
            if value.dtype is DataType.FLOAT64:  # no other cast back leaves every number as it is
                self._cast[value, dtype, False] = wide
            self._add(value, wide)
        node.outputs = tuple(results)

    def _in(self, value: Value, wanted: DataType | None, turns: bool) -> Value:
        if wanted is None:
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
        """Turns the highest bit of uint64 numbers, which gives them the order that they have as int64."""
        bit = constant(f"{result.name}/bit", np.array(_HIGHEST_BIT))
        self._nodes.append(Node(BitwiseXor(), f"{result.name}/xor", (operand, bit), (result,)))

    def _add(self, result: Value, operand: Value) -> None:
        """Casts `operand` to the type of `result`."""
        kind = constant(f"{result.name}/type", np.array([int(result.dtype)], np.int32))
        self._nodes.append(Node(Cast(), f"{result.name}/cast", (operand, kind), (result,)))


def _wider_types(node: Node) -> _Choice | None:
    """The types that the node computes in instead of its own; None where it is taken as it is, or in no other types."""
    values = (*node.inputs, *node.outputs)
    if node.op.name in _EXCLUDED or node.quant_type != 0 or any(value.quant for value in values):
        return None
    if all(value.dtype is DataType.FLOAT32 for value in values) or _has_kernel(node, _AS_IT_IS):
        return None
    steering = frozenset(value for value in node.inputs[1:] if value.is_constant)
    choices = (
        _Choice(types, kept)
        for types in _candidates(node)
        for kept in (frozenset[Value](), steering, frozenset(node.inputs[1:]))
    )
    return next((choice for choice in choices if _has_kernel(node, choice)), None)


def runs_as_it_is(node: Node) -> bool:
    """Whether a portable kernel takes the node with the types that its operands have."""
    return _has_kernel(node, _AS_IT_IS)


def runs_between_casts(node: Node) -> bool:
    """Whether the node, which no kernel takes, has one in wider types."""
    return _wider_types(node) is not None


def _candidates(node: Node) -> Iterator[Types]:
    kinds = [value.dtype for value in node.inputs if value.dtype in _WIDER]
    reals = {DataType.FLOAT64: DataType.FLOAT32} if DataType.FLOAT64 in kinds else {}
    if reals:
        yield reals
    for kind in dict.fromkeys(kinds):
        for wider in _WIDER[kind]:
            if kind is not DataType.UINT64 or wider is DataType.INT64 or not _compares(node):
                yield {**reals, kind: wider}


def _compares(node: Node) -> bool:
    if isinstance(node.op, ReduceFusion):
        return node.op.mode in (ReduceMode.ReduceMax, ReduceMode.ReduceMin)
    return node.op.name in _ORDERS


def _results(op: Operator, inputs: Sequence[Value], count: int, choice: _Choice) -> list[DataType] | None:
    """The types of the results when the operands have these; None where no portable kernel takes them."""
    infos = [_info(value, choice.of(value)) for value in inputs]
    try:
        results = _native.portable_types(primitive_bytes(op), infos, count)
    except (_native.OperatorError, ValueError):
        return None
    return None if results is None else [DataType(result) for result in results]


def _has_kernel(node: Node, choice: _Choice) -> bool:
    """Whether the node can have operands of these types, and its results can be cast back."""
    results = _results(node.op, node.inputs, len(node.outputs), choice)
    return results is not None and all(
        got in (value.dtype, choice.types.get(value.dtype)) for value, got in zip(node.outputs, results, strict=True)
    )


def _info(value: Value, wanted: DataType | None) -> _native.TensorInfo:
    dtype, data = value.dtype if wanted is None else wanted, value.data
    if data is not None and dtype is not value.dtype:
        data = data.astype(numpy_type(dtype))
    if data is not None and not data.flags.c_contiguous:
        data = np.ascontiguousarray(data).reshape(data.shape)
    return _native.TensorInfo(int(dtype), None if value.shape is None else list(value.shape), None, data)
