"""Converts calls of subgraphs: a closure, or a choice between closures, becomes PartialFusion, Switch and Call
nodes."""

from __future__ import annotations

from collections.abc import Iterator

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.control_flow import Call as CallOperator
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch, SwitchLayer
from mslite.converter.parsers.protobuf import Message

from .call import Call
from .entries import Choice, Closure, Entry, Failed, Sequence
from .exceptions import UpstreamUnsupported
from .scope import Scope
from .type_attributes import Structure, tuple_length, tuple_structure


def call_subgraph(scope: Scope, node: Message, reference: str, entries: list[Entry]) -> Entry:
    """Converts a node that calls a subgraph, or one of several subgraphs, instead of a primitive."""
    target = scope.lookup(reference)
    call = Call(scope, "call", scope.node_name(node), entries, {}, ())
    if isinstance(target, Failed):
        raise UpstreamUnsupported
    if not isinstance(target, Closure | Choice):
        raise call.block(f"it calls '{reference}', which is not a subgraph")
    arguments = tuple(call.tensors())
    structure = tuple_structure(node)
    count = _result_count(scope, node, target) if structure is None else _tensors(structure)
    if count == 0:
        raise call.block("the number of its results is unknown")
    closure = _closure(scope, target, arguments, call)
    results = scope.emit(CallOperator(is_tail_call=False), (closure,), count, call.origin)
    if structure is not None:
        return _nested(structure, iter(results))
    return Sequence(results) if count > 1 else results[0]


def _tensors(structure: Structure) -> int:
    return sum(1 if item is None else _tensors(item) for item in structure)


def _nested(structure: Structure, results: Iterator[Value]) -> Sequence:
    """Rebuilds the nested tuples from the results, which a subgraph returns flattened."""
    return Sequence(tuple(next(results) if item is None else _nested(item, results) for item in structure))


def _closure(scope: Scope, target: Closure | Choice, arguments: tuple[Value, ...], call: Call) -> Value:
    if isinstance(target, Closure):
        op = PartialFusion(sub_graph_index=target.graph)
        return scope.emit(op, (*target.arguments, *arguments), 1, call.origin)[0]
    branches = [_closure(scope, branch, arguments, call) for branch in target.branches]
    choice: Operator = SwitchLayer() if target.by_index else Switch()
    return scope.emit(choice, (target.selector, *branches), 1, call.origin)[0]


def _result_count(scope: Scope, node: Message, target: Closure | Choice) -> int:
    first = target if isinstance(target, Closure) else target.branches[0]
    return tuple_length(node) or scope.session.result_count(first.graph)


def mark_tail_calls(scope: Scope) -> None:
    """Marks calls as tail calls if their results are the results of the graph."""
    for node in scope.graph.nodes:
        if isinstance(node.op, CallOperator) and list(node.outputs) == scope.graph.outputs:
            node.op = CallOperator(is_tail_call=True)
