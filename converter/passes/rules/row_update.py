"""Fuses the nodes that TensorFlow Lite's converter writes for setting a row of a tensor in a loop.

    concat(slice(x, [0, 0..], [i, -1..]), row, slice(x, [i + 1, 0..], [-1, -1..])) → ScatterNdUpdate(x, [[i]], row)

The sizes of the slices change in each iteration; ScatterNdUpdate has constant sizes, and needs no copy if nothing else
reads x.
"""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.mindir.graph import Array, Graph, Node, Value, constant
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import ScatterNdUpdate
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, Pattern, const, number, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import is_plain, replace_operator


def _all(wanted: int) -> Pattern:
    def accept(data: Array) -> bool:
        return data.dtype.kind == "i" and bool((data == wanted).all())

    return const(accept=accept)


def _is_join_of_two(node: Node) -> bool:
    return len(node.inputs) == 2


def _is_join_of_three(node: Node) -> bool:
    return len(node.inputs) == 3 and isinstance(node.op, Concat) and node.op.axis == 0


def _cuts_all_axes(node: Node) -> bool:
    """Returns whether begin and size are for all axes in order."""
    axes, rank = tuple(getattr(node.op, "axes", ())), node.inputs[0].rank
    return rank is not None and axes in ((), tuple(range(rank)))


def _sizes(index: Pattern, others: int) -> Pattern:
    """Returns a pattern of the vector [index, others..]."""
    return op("Concat", op("Reshape", index), _all(others), where=_is_join_of_two)


_X, _INDEX = value("x"), value("index")
_NEXT = op("AddFusion", _INDEX, number(1), commutative=True, where=is_plain)
_BEFORE = op("SliceFusion", _X, _all(0), _sizes(_INDEX, -1), name="before", where=_cuts_all_axes)
_AFTER = op("SliceFusion", _X, _sizes(_NEXT, 0), _all(-1), name="after", where=_cuts_all_axes)


def _check(match: Match, context: Context) -> str | None:
    x, row, index = match.value("x"), match.value("row"), match.value("index")
    if index.dtype not in (DataType.INT32, DataType.INT64) or index.shape is None or math.prod(index.shape) != 1:
        return "the index is not one integer"
    if x.shape is None or any(size < 0 for size in x.shape[1:]) or row.shape != (1, *x.shape[1:]):
        return "the written value is not one row"
    records = [(value.dtype, value.quant) for value in (x, row, match.root.output)]
    if any(record != records[0] for record in records):
        return "the row has other quantization parameters"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    root, index = match.root, match.value("index")
    place = Value(f"{root.name}_place", index.dtype, (1, 1))
    reshape = Node(
        Reshape(), place.name, (index, constant(f"{place.name}_shape", np.array([1, 1], np.int32))), (place,)
    )
    graph.nodes.insert(graph.nodes.index(root), reshape)
    replace_operator(root, ScatterNdUpdate(), [match.value("x"), place, match.value("row")])


RULE = Rule(
    "ListWriteFusion",
    (op("Concat", _BEFORE, value("row"), _AFTER, where=_is_join_of_three),),
    _rewrite,
    _check,
    shared=True,
    integers=True,
)
