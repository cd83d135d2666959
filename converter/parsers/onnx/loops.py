"""Builds loops from graphs that call each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from onnx import GraphProto

from mslite.converter.mindir.graph import Shape as Dims
from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Less, LogicalAnd
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose, Unsqueeze

from .call import Call
from .importer import GraphImporter
from .scope import Scope


def fresh_shape(scope: Scope, dims: Sequence[int | None]) -> Dims:
    """Replaces each unknown dimension by a new symbol."""
    return tuple(scope.session.symbol("") if dim is None else dim for dim in dims)


def typed_results(call: Call, scope: Scope, results: Sequence[Value]) -> tuple[Value, ...]:
    """Sets the inferred types of the node's outputs on the results of a Call."""
    for value, name in zip(results, call.node.output, strict=False):
        dtype, dims = call.scope.types.known_type(name)
        value.dtype = dtype
        value.shape = None if dims is None else fresh_shape(scope, dims)
    return tuple(results)


class Accumulator(Protocol):
    """Collects the slices of a scan output in values of the loop state."""

    @property
    def start(self) -> tuple[Value, ...]:
        """The values before the first iteration, in the outer graph."""

    @property
    def state(self) -> tuple[Value, ...]:
        """The values that the body reads."""

    def following(self, front: bool) -> tuple[Value, ...]:
        """Returns the values after an iteration, in the body. `front`: the new slice is put before the others."""

    def result(self, entries: Sequence[Value]) -> Value:
        """Returns the whole scan output from the final values, in the outer graph."""


class RowAccumulator:
    """Collects slices of one static shape: concatenates them along the axis."""

    def __init__(self, loop: LoopBuilder, element: Value, dtype: DataType, axis: int, dims: Sequence[int]) -> None:
        self._loop, self._element, self._axis = loop, element, axis
        zero = loop.call.const(np.zeros((), numpy_type(dtype)))
        empty = loop.call.ints((*dims[:axis], 0, *dims[axis:]))
        self.start = (loop.call.emit(Fill(), zero, empty),)
        symbol = loop.session.symbol("")
        name = loop.session.values.unique(f"{loop.body.graph.name}/{element.name}/collected")
        self.state = (Value(name, dtype, (*dims[:axis], symbol, *dims[axis:])),)

    def following(self, front: bool) -> tuple[Value, ...]:
        row = self._loop.emit(Unsqueeze(axis=(self._axis,)), self._element)
        pair = (row, self.state[0]) if front else (self.state[0], row)
        return (self._loop.emit(Concat(axis=self._axis), *pair),)

    def result(self, entries: Sequence[Value]) -> Value:
        return entries[0]


class FlatAccumulator:
    """Collects slices of a dynamic shape: stores their elements as a vector, with the number and shape of the slices.

    `rank` is the rank of the result, 0 if unknown.
    """

    def __init__(self, loop: LoopBuilder, element: Value, dtype: DataType, axis: int, rank: int) -> None:
        self._loop, self._element, self._axis, self._rank = loop, element, axis, rank
        call, graph = loop.call, loop.body.graph.name
        self.start = (
            call.emit(Fill(), call.const(np.zeros((), numpy_type(dtype))), call.ints((0,))),
            call.ints((0,) * max(rank, 1)),  # no slices yet
        )
        names = [loop.session.values.unique(f"{graph}/{element.name}/{part}") for part in ("elements", "sizes")]
        count = rank if rank > 0 else loop.session.symbol("")  # the length of the result's shape
        self.state = (
            Value(names[0], dtype, (loop.session.symbol(""),)),
            Value(names[1], DataType.INT32, (count,)),
        )

    def following(self, front: bool) -> tuple[Value, ...]:
        loop = self._loop
        row = loop.emit(Reshape(), self._element, loop.constant((-1,), np.int32))
        pair = (row, self.state[0]) if front else (self.state[0], row)
        first = loop.constant((0,), np.int32)
        count = loop.emit(Gather(), self.state[1], first, loop.constant(0, np.int32))
        more = loop.emit(AddFusion(), count, loop.constant((1,), np.int32))
        sizes = loop.emit(Concat(axis=0), more, loop.emit(Shape(), self._element))
        return loop.emit(Concat(axis=0), *pair), sizes

    def result(self, entries: Sequence[Value]) -> Value:
        call = self._loop.call
        joined = call.emit(Reshape(), *entries)
        if self._axis == 0:
            return joined
        order = [*range(1, self._axis + 1), 0, *range(self._axis + 1, self._rank)]
        return call.emit(Transpose(), joined, call.ints(order))


class LoopBuilder:
    """Builds the three graphs of a loop from its body."""

    def __init__(self, call: Call, proto: GraphProto) -> None:
        self.call = call
        self.session = call.scope.session
        self.body = GraphImporter(self.session, proto, f"{call.name}_body_graph", call.scope)
        self.condition = GraphImporter(self.session, GraphProto(), f"{call.name}_cond_graph", call.scope)
        self.end = GraphImporter(self.session, GraphProto(), f"{call.name}_after_fg", call.scope)

    def scalar(self, name: str, dtype: DataType) -> Value:
        return Value(self.session.values.unique(f"{self.body.graph.name}/{name}"), dtype, ())

    def accumulator(self, element: Value, axis: int) -> Accumulator:
        """Returns an accumulator for a scan output along `axis`."""
        shape, dtype = self.body.types.shape_of(element), self.body.types.type_of(element)
        if dtype is DataType.UNKNOWN:
            raise self.call.not_known(
                f"the type of the scan output '{element.name}' is not known",
                "Give --inputShape, or export the model with fixed shapes",
            )
        if shape is None or None in shape:
            if axis != 0 and shape is None:
                raise self.call.not_known(
                    f"the rank of the scan output '{element.name}' is not known",
                    "Give --inputShape, or export the model with fixed shapes",
                )
            return FlatAccumulator(self, element, dtype, axis, 0 if shape is None else len(shape) + 1)
        if not 0 <= axis <= len(shape):
            raise self.call.block(f"the axis {axis} of a scan output is out of range", "Export the model again")
        return RowAccumulator(self, element, dtype, axis, [dim for dim in shape if dim is not None])

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output to the body."""
        return self.body.emit(op, inputs, 1)[0]

    def constant(self, data: npt.ArrayLike, dtype: npt.DTypeLike) -> Value:
        """Adds a constant to the body."""
        return self.body.constant(np.asarray(data, dtype), self.call.name)

    def copies(self, scope: Scope, values: Sequence[Value]) -> list[Value]:
        """Returns inputs for another graph with the types of these values."""
        result = []
        for value in values:
            shape = self.body.types.shape_of(value)
            name = self.session.values.unique(f"{scope.graph.name}/{value.name}")
            result.append(
                Value(name, self.body.types.type_of(value), None if shape is None else fresh_shape(scope, shape))
            )
        return result

    def copies_of_outer(self, values: Sequence[Value]) -> list[Value]:
        """Returns inputs of the body for these values of the outer graph."""
        outer, result = self.call.scope, []
        for value in values:
            shape = outer.types.shape_of(value)
            name = self.session.values.unique(f"{self.body.graph.name}/{value.name}")
            copy = Value(name, outer.types.type_of(value), None if shape is None else fresh_shape(self.body, shape))
            result.append(copy)
        return result

    def finish(
        self,
        start: Sequence[Value],
        state: Sequence[Value],
        following: Sequence[Value],
        results: slice,
        collected: Sequence[Accumulator],
        keep_going: tuple[int, int | None, Value | None],
    ) -> tuple[Value, ...]:
        """Connects the graphs. `start`, `state`, `following`: L in the caller, at the start and at the end of the body.

        `results`: the values of L that are outputs of the loop; the last of them belong to `collected`. `keep_going`:
        the indices in L of the iteration and of the condition, and the trip count (None for unlimited). A trip count
        that is not constant is also the last value of L.
        """
        call, body, condition, end = self.call, self.body, self.condition, self.end
        body.graph.inputs[:] = state
        tail = CallClosure(is_tail_call=True)
        count = len(state[results])
        again = body.emit(PartialFusion(sub_graph_index=condition.index), following, 1)
        body.graph.outputs[:] = body.emit(tail, again, count)
        own = self.copies(condition, state)
        condition.graph.inputs[:] = own
        iteration, flag, trip = keep_going
        go_on = None if flag is None else own[flag]
        if trip is not None:
            limit = trip if trip.is_constant else own[-1]
            (below,) = condition.emit(Less(), (own[iteration], limit), 1)
            go_on = below if go_on is None else condition.emit(LogicalAnd(), (go_on, below), 1)[0]
        assert go_on is not None
        (once_more,) = condition.emit(PartialFusion(sub_graph_index=body.index), own, 1)
        (leave,) = condition.emit(PartialFusion(sub_graph_index=end.index), own[results], 1)
        chosen = condition.emit(Switch(), (go_on, once_more, leave), 1)
        condition.graph.outputs[:] = condition.emit(tail, chosen, count)
        end.graph.inputs[:] = self.copies(end, state[results])
        end.graph.outputs[:] = end.graph.inputs
        closure = call.emit(PartialFusion(sub_graph_index=condition.index), *start)
        values = call.emit_many(CallClosure(is_tail_call=False), (closure,), count)
        carried = count - sum(len(each.state) for each in collected)
        outputs, rest = list(values[:carried]), list(values[carried:])
        for each in collected:
            entries = [rest.pop(0) for _ in each.state]
            for entry, inside in zip(entries, each.state, strict=True):
                entry.dtype, entry.shape = (
                    inside.dtype,
                    fresh_shape(call.scope, call.scope.types.shape_of(inside) or ()),
                )
            outputs.append(each.result(entries))
        return typed_results(call, call.scope, outputs)
