"""Converts If and Loop to calls: PartialFusion binds arguments to a subgraph, Switch selects one, Call runs it.

A loop is tail recursion. With the loop state L (iteration, condition, variables, scan outputs so far, captured values,
trip count):

    caller:      Call(Partial(condition graph, L))
    condition:   Call(Switch(condition and iteration < count, Partial(body, L), Partial(end, results of L)))
    body:        ...; Call(Partial(condition graph, next L))
    end:         returns the results
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .importer import GraphImporter
from .loops import Accumulator, LoopBuilder, typed_results
from .registry import onnx_operator
from .scope import Scope


@onnx_operator("If")
def conditional(call: Call) -> tuple[Value, ...]:
    condition = call.input(0)
    closures = []
    for branch in ("then_branch", "else_branch"):
        proto = call.graph(branch)
        if len(proto.output) != call.output_count:
            raise call.block(f"has {len(proto.output)} outputs", "The model breaks the ONNX standard", branch)
        inner = GraphImporter(call.scope.session, proto, f"{call.name}_{branch}", call.scope)
        inner.run()
        inner.graph.inputs.extend(inner.captures.values())
        arguments = [call.scope.lookup(name) for name in inner.captures]
        closures.append(call.emit(PartialFusion(sub_graph_index=inner.index), *arguments))
    chosen = call.emit(Switch(), condition, *closures)
    results = call.emit_many(CallClosure(is_tail_call=False), (chosen,), call.output_count)
    return typed_results(call, call.scope, results)


@onnx_operator("Loop")
def loop(call: Call) -> tuple[Value, ...]:
    proto = call.graph("body")
    carried = call.input_count - 2
    scans = len(proto.output) - 1 - carried
    if carried < 0 or len(proto.input) != carried + 2 or scans < 0 or call.output_count > carried + scans:
        raise call.block("its inputs and outputs do not match the node", "The model breaks the ONNX standard", "body")
    trip = call.optional(0)
    first = [call.input(index) for index in range(2, call.input_count)]
    condition = call.optional(1)
    builder = LoopBuilder(call, proto)
    body = builder.body
    body.run()
    state, outputs = list(body.graph.inputs), list(body.graph.outputs)
    for value, dtype in ((state[0], DataType.INT64), (state[1], DataType.BOOL)):
        value.dtype, value.shape = dtype, ()
    for value, source in zip(state[2:], first, strict=True):
        if value.dtype is DataType.UNKNOWN:
            value.dtype = call.dtype(source)
    start = [call.const(np.zeros((), np.int64)), condition or call.const(np.array(True)), *first]
    following = [body.emit(AddFusion(), (state[0], body.constant(np.ones((), np.int64), call.name)), 1)[0]]
    following += outputs[: 1 + carried]
    collected = [builder.accumulator(element, 0) for element in outputs[1 + carried :]]
    collect(collected, [0] * scans, start, state, following)
    results = slice(2, len(state))
    add_loop_invariants(call, body, trip, start, state, following)
    return builder.finish(start, state, following, results, collected, (0, 1, trip))


def collect(
    collected: Sequence[Accumulator],
    directions: Sequence[int],
    start: list[Value],
    state: list[Value],
    following: list[Value],
) -> None:
    """Adds the scan outputs to the loop state. A direction of 1 puts later slices first."""
    for accumulator, front in zip(collected, directions, strict=True):
        start.extend(accumulator.start)
        state.extend(accumulator.state)
        following.extend(accumulator.following(bool(front)))


def add_loop_invariants(
    call: Call,
    body: Scope,
    trip: Value | None,
    start: list[Value],
    state: list[Value],
    following: list[Value],
) -> None:
    """Adds the values that do not change to the loop state: captured values, and the trip count last."""
    for name, inner in body.captures.items():
        start.append(call.scope.lookup(name))
        state.append(inner)
        following.append(inner)
    if trip is not None and not trip.is_constant:
        count = Value(
            body.session.values.unique(f"{body.graph.name}/trip_count"), DataType.INT64, call.static_shape(trip)
        )
        start.append(trip)
        state.append(count)
        following.append(count)
