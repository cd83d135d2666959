"""Converts If, Case and While to closures: PartialFusion binds arguments to a subgraph, Switch selects one, Call runs
it.

A loop is recursion through tail calls, with the loop variables L:

    here:        Call(Partial(condition graph, L))
    condition:   Call(Switch(condition, Partial(body, L), Partial(end, L)))
    body:        ...; Call(Partial(condition graph, next L))
    end:         returns L

Loop variables that never change and start as constants become constants in the subgraphs.
"""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.comparison import Equal, Greater, NotEqual
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape, Size

from .call import Call
from .functions import FunctionGraph, argument_of, check_count, inline, merged_shape
from .model import SourceGraph
from .recurrent_loops import Loop, emitted, recognized
from .registry import tf_operator
from .scope import Scope

_MAX_ROUNDS = 4


# ---- branches ----


def _truth(call: Call, scope: Scope, value: Value) -> Value:
    """Returns a condition as a scalar bool: scalars are true if not 0, other tensors if they have elements."""
    if value.shape is not None and len(value.shape) > 0:
        if value.is_static and value.dtype is DataType.BOOL and all(dim == 1 for dim in value.shape):
            return scope.emit(Reshape(), (value, call.ints(())), 1, call.origin)[0]
        (count,) = scope.emit(Size(), (value,), 1, call.origin)
        return scope.emit(Greater(), (count, call.ints(0)), 1, call.origin)[0]
    if value.dtype is not DataType.BOOL:
        return scope.emit(NotEqual(), (value, call.like(0, value)), 1, call.origin)[0]
    return value


def _run(call: Call, closure: Value, branches: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    """Emits the call of a closure and returns its results; `branches` has the outputs of the possible subgraphs."""
    results = call.emit_many(CallClosure(is_tail_call=False), (closure,), len(branches[0]))
    for position, value in enumerate(results):
        value.dtype = branches[0][position].dtype
        value.shape = merged_shape(call, [outputs[position].shape for outputs in branches])
    return results


def _branch(call: Call, function: SourceGraph, arguments: Sequence[Value]) -> tuple[Value, Sequence[Value]]:
    """Imports a branch; returns its closure and its outputs."""
    graph = FunctionGraph(call, function, arguments)
    outputs = graph.run()
    return call.emit(PartialFusion(sub_graph_index=graph.index), *graph.outer), outputs


@tf_operator("If", "StatelessIf")
def conditional(call: Call) -> Sequence[Value]:
    """Converts If. Its inputs are the condition and the arguments of both branches. With a constant condition, only the
    selected branch is converted, inline."""
    functions = [call.function(call.function_name(f"{name}_branch")) for name in ("then", "else")]
    condition = _truth(call, call.scope, call.input(0))
    arguments = call.inputs(1)
    for function in functions:
        check_count(call, function, len(arguments), len(functions[0].results))
    known = call.contents(condition)
    if known is not None:
        return inline(call, functions[0 if known.any() else 1], arguments)
    if not functions[0].results:
        return ()
    closures, outputs = zip(*(_branch(call, function, arguments) for function in functions), strict=True)
    return _run(call, call.emit(Switch(), condition, *closures), outputs)


@tf_operator("Case", "StatelessCase")
def case(call: Call) -> Sequence[Value]:
    """Converts Case. Its inputs are the index and the arguments of all branches. An index out of range selects the last
    branch."""
    functions = [call.function(name) for name in call.function_names("branches")]
    index, arguments = call.input(0), call.inputs(1)
    if not functions:
        raise call.block("it has no branches", attribute="branches")
    for function in functions:
        check_count(call, function, len(arguments), len(functions[0].results))
    known = call.constant(0)
    if known is not None and known.size == 1:
        number = int(known.item())
        return inline(call, functions[number if 0 <= number < len(functions) else -1], arguments)
    if not functions[0].results:
        return ()
    branches = [_branch(call, function, arguments) for function in functions]
    closure = branches[-1][0]
    for number in reversed(range(len(branches) - 1)):
        chosen = call.emit(Equal(), index, call.like(number, index))
        closure = call.emit(Switch(), chosen, branches[number][0], closure)
    return _run(call, closure, [outputs for _, outputs in branches])


# ---- loops ----


@tf_operator("While", "StatelessWhile")
def loop(call: Call) -> Sequence[Value]:
    return while_loop(
        call, call.function(call.function_name("cond")), call.function(call.function_name("body")), call.inputs()
    )


def while_loop(call: Call, condition: SourceGraph, body: SourceGraph, start: Sequence[Value]) -> list[Value]:
    """Converts a loop; returns the final values of the loop variables. `start` has their initial values. Raises
    Blocked."""
    count = len(start)
    check_count(call, body, count, count)
    check_count(call, condition, count, 1)
    fixed = [argument_of(body, number) == number and start[number].is_constant for number in range(count)]
    state = [number for number in range(count) if not fixed[number]]
    if not state:
        return list(start)
    session = call.scope.session
    before = session.mark()
    inside = _import_body(call, body, start, state)
    check = FunctionGraph(call, condition, inside.graph_arguments(start, state), keep_all=True)
    (go_on,) = check.run()
    first, following = ([values[number] for number in state] for values in (start, inside.graph.outputs))
    layer = recognized(Loop(first, inside.graph.inputs, following, check.graph.inputs, go_on), session.inference)
    if layer is not None:
        session.forget(before)
        return _merged(start, state, emitted(call, layer, first))
    check.graph.outputs.clear()
    end, end_index = session.new_graph(f"{call.name}_after_fg")
    for value in inside.graph.inputs:
        name = session.values.unique(f"{end.name}/{value.name}")
        end.inputs.append(Value(name, value.dtype, value.shape, format=value.format))
    end.outputs = list(end.inputs)
    own = check.graph.inputs
    go_on = _truth(call, check.importer, go_on)
    (again,) = check.importer.emit(PartialFusion(sub_graph_index=inside.index), own, 1)
    (leave,) = check.importer.emit(PartialFusion(sub_graph_index=end_index), own, 1)
    (chosen,) = check.importer.emit(Switch(), (go_on, again, leave), 1)
    _tail(check.importer, chosen, own)
    (next_round,) = inside.importer.emit(PartialFusion(sub_graph_index=check.index), following, 1)
    _tail(inside.importer, next_round, own)
    entry = call.emit(PartialFusion(sub_graph_index=check.index), *first)
    results = call.emit_many(CallClosure(is_tail_call=False), (entry,), len(state))
    for result, variable in zip(results, inside.graph.inputs, strict=True):
        result.dtype, result.shape = variable.dtype, variable.shape
    return _merged(start, state, results)


def _merged(start: Sequence[Value], state: Sequence[int], results: Sequence[Value]) -> list[Value]:
    """Returns the values of all loop variables after the loop; `results` are those of the variables `state`."""
    values = list(start)
    for number, result in zip(state, results, strict=True):
        values[number] = result
    return values


class _Body(FunctionGraph):
    """The body of a loop."""

    def graph_arguments(self, start: Sequence[Value], state: Sequence[int]) -> list[Value]:
        """Returns the arguments of the condition: constants for fixed variables, else values like the body's inputs."""
        variables = dict(zip(state, self.graph.inputs, strict=True))
        return [variables.get(number, value) for number, value in enumerate(start)]


def _import_body(call: Call, body: SourceGraph, start: Sequence[Value], state: Sequence[int]) -> _Body:
    """Imports the body. The shapes of its inputs are valid in all iterations: sizes that change become symbols. Raises
    Blocked."""
    session = call.scope.session
    variables = {number: Value("", start[number].dtype, start[number].shape) for number in state}
    loose: set[tuple[int, int]] = set()
    for _ in range(_MAX_ROUNDS):
        mark = session.mark()
        graph = _Body(call, body, [variables.get(number, value) for number, value in enumerate(start)], keep_all=True)
        outputs = graph.run()
        changed = False
        for number, variable in variables.items():
            shape = _widened(call, number, variable, outputs[number], loose)
            changed |= shape != variable.shape
            variable.shape = shape
        if not changed:
            return graph
        session.forget(mark)
    raise call.block("the shapes of its loop variables change in each iteration", "Set --inputShape")


def _widened(
    call: Call, number: int, variable: Value, following: Value, loose: set[tuple[int, int]]
) -> tuple[int, ...] | None:
    """Returns the shape of a loop variable that is valid for its current and its next value. `loose` has the sizes that
    are already dynamic. Raises Blocked for different data types."""
    if variable.dtype is not following.dtype:
        raise call.block(
            f"loop variable {number} starts as {variable.dtype.name.lower()}, but the body returns"
            f" {following.dtype.name.lower()}"
        )
    if variable.shape is None or following.shape is None or len(variable.shape) != len(following.shape):
        return None
    shape = list(variable.shape)
    for axis, (size, next_size) in enumerate(zip(variable.shape, following.shape, strict=True)):
        if size != next_size and (number, axis) not in loose:
            loose.add((number, axis))
            shape[axis] = call.scope.session.inference.new_symbol()
    return tuple(shape)


def _tail(scope: Scope, closure: Value, results: Sequence[Value]) -> None:
    """Ends a graph with a tail call of `closure`: its results become the outputs of the graph."""
    outputs = scope.emit(CallClosure(is_tail_call=True), (closure,), len(results))
    for output, result in zip(outputs, results, strict=True):
        output.dtype, output.shape = result.dtype, result.shape
    scope.graph.outputs[:] = outputs
