"""Graphs that call each other: what a loop is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto

from mslite.converter.mindir.graph import Shape as Dims
from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.comparison import Less, LogicalAnd
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Unsqueeze

from .call import Call
from .importer import GraphImporter


def fresh_shape(importer: GraphImporter, dims: Sequence[int | None]) -> Dims:
    """Unknown sizes as symbols of their own."""
    return tuple(importer.session.symbol("") if dim is None else dim for dim in dims)


def typed_results(call: Call, importer: GraphImporter, results: Sequence[Value]) -> tuple[Value, ...]:
    """Gives the results of a Call what type inference knows of the node's outputs."""
    for value, name in zip(results, call.node.output, strict=False):
        dtype, dims = call.importer.known_type(name)
        value.dtype = dtype
        value.shape = None if dims is None else fresh_shape(importer, dims)
    return tuple(results)


class LoopBuilder:
    """Builds the three graphs of a loop from its body."""

    def __init__(self, call: Call, proto: GraphProto) -> None:
        self.call = call
        self.session = call.importer.session
        self.body = GraphImporter(self.session, proto, f"{call.name}_body_graph", call.importer)
        self.condition = GraphImporter(self.session, GraphProto(), f"{call.name}_cond_graph", call.importer)
        self.end = GraphImporter(self.session, GraphProto(), f"{call.name}_after_fg", call.importer)

    def scalar(self, name: str, dtype: DataType) -> Value:
        return Value(self.session.values.unique(f"{self.body.graph.name}/{name}"), dtype, ())

    def accumulator(self, element: Value, axis: int) -> tuple[Value, Value]:
        """For a scan output: its empty start, and the input of the body that holds what is collected so far."""
        shape, dtype = self.body.shape_of(element), self.body.type_of(element)
        if shape is None or None in shape or dtype is DataType.UNKNOWN:
            raise self.call.block(
                f"the shape of the scan output '{element.name}' is not fixed", "Export the model with fixed shapes"
            )
        if not 0 <= axis <= len(shape):
            raise self.call.block(f"the axis {axis} of a scan output is out of range", "Export the model again")
        dims = [dim for dim in shape if dim is not None]
        start = self.call.emit(
            Fill(), self.call.const(np.zeros((), numpy_type(dtype))), self.call.ints((*dims[:axis], 0, *dims[axis:]))
        )
        wish = f"{self.body.graph.name}/{element.name}/collected"
        symbol = self.session.symbol("")
        return start, Value(self.session.values.unique(wish), dtype, (*dims[:axis], symbol, *dims[axis:]))

    def collect(self, so_far: Value, element: Value, axis: int, front: bool) -> Value:
        (row,) = self.body.emit(Unsqueeze(axis=(axis,)), (element,), 1, None)
        pair = (row, so_far) if front else (so_far, row)
        return self.body.emit(Concat(axis=axis), pair, 1, None)[0]

    def copies(self, importer: GraphImporter, values: Sequence[Value]) -> list[Value]:
        """Inputs of another graph with the types of these."""
        result = []
        for value in values:
            shape = self.body.shape_of(value)
            name = self.session.values.unique(f"{importer.graph.name}/{value.name}")
            result.append(
                Value(name, self.body.type_of(value), None if shape is None else fresh_shape(importer, shape))
            )
        return result

    def copies_of_outer(self, values: Sequence[Value]) -> list[Value]:
        """Inputs of the body that hold these values of the outer graph."""
        outer, result = self.call.importer, []
        for value in values:
            shape = outer.shape_of(value)
            name = self.session.values.unique(f"{self.body.graph.name}/{value.name}")
            copy = Value(name, outer.type_of(value), None if shape is None else fresh_shape(self.body, shape))
            result.append(copy)
        return result

    def finish(
        self,
        start: Sequence[Value],
        state: Sequence[Value],
        following: Sequence[Value],
        results: slice,
        keep_going: tuple[int, int | None, Value | None],
    ) -> tuple[Value, ...]:
        """Connects the graphs. `start`, `state` and `following` are L outside, at the body's begin, and at its end.

        `results` are the entries of L that leave the loop. `keep_going` says where in L the iteration and the condition
        are, and what the trip count is: a constant, or None where L ends with it or there is none.
        """
        call, body, condition, end = self.call, self.body, self.condition, self.end
        body.graph.inputs[:] = state
        tail = CallClosure(is_tail_call=True)
        count = len(state[results])
        again = body.emit(PartialFusion(sub_graph_index=condition.index), following, 1, None)
        body.graph.outputs[:] = body.emit(tail, again, count, None)
        own = self.copies(condition, state)
        condition.graph.inputs[:] = own
        iteration, flag, trip = keep_going
        go_on = None if flag is None else own[flag]
        if trip is not None:
            limit = trip if trip.is_constant else own[-1]
            (below,) = condition.emit(Less(), (own[iteration], limit), 1, None)
            go_on = below if go_on is None else condition.emit(LogicalAnd(), (go_on, below), 1, None)[0]
        assert go_on is not None
        (once_more,) = condition.emit(PartialFusion(sub_graph_index=body.index), own, 1, None)
        (leave,) = condition.emit(PartialFusion(sub_graph_index=end.index), own[results], 1, None)
        chosen = condition.emit(Switch(), (go_on, once_more, leave), 1, None)
        condition.graph.outputs[:] = condition.emit(tail, chosen, count, None)
        end.graph.inputs[:] = self.copies(end, state[results])
        end.graph.outputs[:] = end.graph.inputs
        closure = call.emit(PartialFusion(sub_graph_index=condition.index), *start)
        values = call.emit_many(CallClosure(is_tail_call=False), (closure,), count)
        return typed_results(call, call.importer, values)
