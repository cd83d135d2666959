"""Keeps the results of TensorFlow's and TensorFlow Lite's NonMaxSuppression variants that pad to a fixed size
themselves, and that return the number of boxes.

They count the rows of NonMaxSuppression as boxes, so padding rows, which have -1, are excluded.
"""

from __future__ import annotations

import numpy as np

from mslite.codegen.lowering.padding_propagation import PaddingRows
from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.comparison import GreaterEqual, Where
from mslite.converter.mindir.ops.detection import PaddedNonMaxSuppression
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Cast

_BOX = 2
"""Column with the index of the box."""


def exclude_padding(graph: Graph, copy: Graph, followed: PaddingRows) -> None:
    """Changes `graph` so that padding rows are not counted as boxes. `followed`: the nodes to change, found in
    `copy`."""
    places = {node: place for place, node in enumerate(copy.nodes)}
    nodes = list(graph.nodes)
    origins = {node.name: nodes[place] for node, place in places.items()}
    most = {node.name: node.output.shape for node in copy.nodes if isinstance(node.op, PaddedNonMaxSuppression)}
    masks: dict[str, Value] = {}
    for at, origin in (followed.fills | followed.counts).items():
        node = nodes[places[at]]
        if origin not in masks:
            rows = (most[origin] or (0,))[0]
            masks[origin] = _mask(graph, origins[origin], rows)
        if at in followed.fills:
            _fill(graph, node, masks[origin])
        else:
            _count(graph, node, masks[origin])


def _mask(graph: Graph, suppression: Node, rows: int) -> Value:
    """Adds nodes that compute a mask, bool [rows]: whether a row is a box."""
    column = Value(graph.unique_name(f"{suppression.name}/column"), DataType.INT32, (rows,))
    mask = Value(graph.unique_name(f"{suppression.name}/found"), DataType.BOOL, (rows,))
    box, axis = _number(graph, suppression, "box", _BOX), _number(graph, suppression, "axis", 1)
    least = _number(graph, suppression, "least", [0])
    graph.insert_after(
        suppression,
        Node(Gather(), column.name, (suppression.output, box, axis), (column,)),
        Node(GreaterEqual(), mask.name, (column, least), (mask,)),
    )
    return mask


def _fill(graph: Graph, concat: Node, mask: Value) -> None:
    """Sets padding rows to the value that the concat appends."""
    vector, more = concat.inputs
    filled = Value(graph.unique_name(f"{concat.name}/filled"), vector.dtype, mask.shape)
    number = constant(graph.unique_name(f"{concat.name}/number"), more.array()[:1])
    graph.insert_before(concat, Node(Where(), filled.name, (mask, vector, number), (filled,)))
    concat.set_inputs((filled, more))


def _count(graph: Graph, gather: Node, mask: Value) -> None:
    """Replaces the number of rows by the number of boxes."""
    ones = Value(graph.unique_name(f"{gather.name}/ones"), DataType.INT32, mask.shape)
    kind, axes = _number(graph, gather, "type", DataType.INT32), _number(graph, gather, "axes", [0])
    op = ReduceFusion(mode=ReduceMode.ReduceSum, keep_dims=gather.inputs[1].rank == 1)
    graph.insert_before(
        gather,
        Node(Cast(), ones.name, (mask, kind), (ones,)),
        Node(op, graph.unique_name(f"{gather.name}/count"), (ones, axes), gather.outputs),
    )
    gather.set_inputs(())
    graph.nodes.remove(gather)


def _number(graph: Graph, beside: Node, name: str, value: int | list[int]) -> Value:
    return constant(graph.unique_name(f"{beside.name}/{name}"), np.array(value, np.int32))
