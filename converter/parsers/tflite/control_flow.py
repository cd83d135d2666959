"""Converts WHILE and IF to closures: PartialFusion binds arguments to a subgraph, Switch selects one, Call runs it.

A loop is recursion through tail calls, with the loop variables L:

    here:        Call(Partial(condition graph, L))
    condition:   Call(Switch(condition, Partial(body, L), Partial(end, L)))
    body:        ...; Call(Partial(condition graph, next L))
    end:         returns L

The variables that a subgraph reads or assigns are its last arguments and results, after those of the source.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mslite.converter.mindir.graph import Graph, Value
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch

from .call import Call
from .importer import GraphImporter
from .registry import tflite_operator
from .scope import Scope
from .variables import argument, assign, held


def _imported(call: Call, option: str, name: str, arguments: Sequence[Value], outputs: int) -> GraphImporter:
    """Imports the subgraph that an option refers to, for this node. Raises Blocked."""
    number = call.options.integer(option)
    if not 0 < number < len(call.scope.session.model.graphs):
        raise call.block(f"there is no subgraph {number}", attribute=option)
    source = call.scope.session.model.graphs[number]
    if len(source.inputs) != len(arguments) or len(source.outputs) != outputs:
        raise call.block(
            f"subgraph {number} has {len(source.inputs)} inputs and {len(source.outputs)} outputs, "
            f"not {len(arguments)} and {outputs}",
            attribute=option,
        )
    inner = GraphImporter.begin(call.scope.session, number, f"{call.name}_{name}", call.scope)
    inner.run(arguments)
    return inner


def _tensors(call: Call, values: Sequence[Value]) -> list[Value]:
    """Returns the values without handles of variables, which do not exist at run time."""
    return [value for value in values if id(value) not in call.scope.session.handles]


def _run(
    call: Call, closure: Value, handles: dict[int, Value], kept: dict[str, Value], assigned: Collection[str]
) -> tuple[Value, ...]:
    """Emits the call of a closure and returns its results, including the handles of variables that it returns. The last
    results of the closure are the variables `kept`, and are assigned here if they are in `assigned`."""
    count = len(call.node.outputs) - len(handles)
    results = call.emit_many(CallClosure(is_tail_call=False), (closure,), count + len(kept))
    for (name, inner), value in zip(kept.items(), results[count:], strict=True):
        value.dtype, value.quant = inner.dtype, inner.quant
        if name in assigned:
            assign(call, name, value)
    tensors = iter(results)
    return tuple(handles[place] if place in handles else next(tensors) for place in range(len(call.node.outputs)))


def _tail(scope: Scope, closure: Value, results: Sequence[Value]) -> None:
    """Ends a graph with a tail call of `closure`: its results become the outputs of the graph."""
    outputs = scope.emit(CallClosure(is_tail_call=True), (closure,), len(results))
    for output, result in zip(outputs, results, strict=True):
        output.dtype = result.dtype
    scope.graph.outputs[:] = outputs


@tflite_operator("IF")
def conditional(call: Call) -> tuple[Value, ...]:
    """Converts IF. Its inputs are the condition and the arguments of both branches."""
    arguments = call.inputs()[1:]
    branches = [
        _imported(call, f"{name}_subgraph", f"{name}_branch", arguments, len(call.node.outputs))
        for name in ("then", "else")
    ]
    handles = branches[0].returned_handles
    if handles != branches[1].returned_handles:
        raise call.block("its branches return different variables", "Export the model with one variable")
    changed = {name: value for branch in branches for name, value in branch.variables.assigned.items()}
    closures = []
    for branch in branches:
        branch.graph.outputs.extend([held(branch, name) for name in changed])
        given = [held(call.scope, name) for name in branch.variables.entered]
        closure = PartialFusion(sub_graph_index=branch.index)
        closures.append(call.emit(closure, *_tensors(call, arguments), *given))
    return _run(call, call.emit(Switch(), call.input(0), *closures), handles, changed, changed)


@tflite_operator("WHILE", "STABLEHLO_WHILE")
def loop(call: Call) -> tuple[Value, ...]:
    variables = call.inputs()
    if len(call.node.outputs) != len(variables):
        raise call.block(f"it has {len(variables)} loop variables but {len(call.node.outputs)} outputs")
    condition = _imported(call, "cond_subgraph", "cond_graph", variables, 1)
    body = _imported(call, "body_subgraph", "body_graph", variables, len(variables))
    session = call.scope.session
    handles = {place: value for place, value in enumerate(variables) if id(value) in session.handles}
    if body.returned_handles != handles:
        raise call.block(
            "its body returns variables in another order", "Export the model with variables in a fixed order"
        )
    if condition.variables.assigned:
        raise call.block("its condition assigns a variable", "Assign it in the body")
    kept = _kept_by_loop(condition, body)
    end = Graph(f"{call.name}_after_fg")
    for value in condition.graph.inputs:
        name = session.values.unique(f"{end.name}/{value.name}")
        end.inputs.append(Value(name, value.dtype, value.shape, format=value.format, quant=value.quant))
    end.outputs = list(end.inputs)
    session.graphs.append(end)
    (go_on,) = condition.graph.outputs
    own = condition.graph.inputs
    (again,) = condition.emit(PartialFusion(sub_graph_index=body.index), own, 1)
    (leave,) = condition.emit(PartialFusion(sub_graph_index=len(session.graphs) - 1), own, 1)
    (chosen,) = condition.emit(Switch(), (go_on, again, leave), 1)
    _tail(condition, chosen, own)
    (following,) = body.emit(PartialFusion(sub_graph_index=condition.index), body.graph.outputs, 1)
    _tail(body, following, own)
    given = [held(call.scope, name) for name in kept]
    closure = call.emit(PartialFusion(sub_graph_index=condition.index), *_tensors(call, variables), *given)
    return _run(call, closure, handles, kept, body.variables.assigned)


def _kept_by_loop(condition: GraphImporter, body: GraphImporter) -> dict[str, Value]:
    """Adds the variables that a loop reads or assigns to its loop variables; returns their values in the body."""
    names = dict.fromkeys([*condition.variables.entered, *body.variables.entered, *body.variables.assigned])
    for scope in (condition, body):
        inputs = [argument(scope, name) for name in names]
        del scope.graph.inputs[len(scope.graph.inputs) - len(inputs) :]
        scope.graph.inputs.extend(inputs)
    kept = {name: held(body, name) for name in names}
    body.graph.outputs.extend(kept.values())
    return kept


@tflite_operator("CALL_ONCE")
def call_once(call: Call) -> tuple[Value, ...]:
    """Converts CALL_ONCE: initializes variables at conversion."""
    session = call.scope.session
    if session.is_initializing:
        raise call.block("its subgraph contains another CALL_ONCE")
    session.is_initializing = True
    try:
        inlined(call, "subgraph", [])
    finally:
        session.is_initializing = False
    return ()


def inlined(call: Call, option: str, arguments: Sequence[Value]) -> tuple[Value, ...]:
    """Inlines the subgraph that an option refers to, and returns its results. Raises Blocked."""
    number = call.options.integer(option)
    graphs = call.scope.session.model.graphs
    if not 0 < number < len(graphs) or len(graphs[number].inputs) != len(arguments):
        raise call.block(f"there is no subgraph {number} with {len(arguments)} inputs", attribute=option)
    return GraphImporter.inline(call.scope, number, arguments)


@tflite_operator("CALL", "STABLEHLO_COMPOSITE")
def call_subgraph(call: Call) -> tuple[Value, ...]:
    """Converts a call by inlining; a composite is replaced by its decomposition."""
    results = inlined(call, "subgraph", call.inputs() if call.node.inputs else [])
    if len(results) != len(call.node.outputs):
        raise call.block(f"its subgraph returns {len(results)} values, not {len(call.node.outputs)}")
    return results
