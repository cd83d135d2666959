"""Tensor lists with elements of different first sizes, which are written in order and then only concatenated.

Such a list is represented by the concatenated tensor: a write appends to it, and the concatenation returns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .functions import PASSING
from .model import ARGUMENT, Ref, SourceGraph, SourceNode
from .tensors import TensorError, read_tensor

_WRITES = {"TensorListSetItem": (0, 1), "TensorArrayWriteV3": (3, 1)}
"""Operator that writes to a list -> indices of the inputs for the list and the index."""
_JOINS = ("TensorListConcat", "TensorListConcatV2", "TensorArrayConcatV3")
_LOOPS = ("While", "StatelessWhile")


def new_concatenated_list(call: Call, output: int, shape: tuple[int, ...] | None, dtype: DataType) -> Value | None:
    """Returns the empty tensor that represents a new list, if it is only written in order and concatenated; else None.

    `shape` is the shape of the elements. Lists with elements of fixed size stay tensor lists.
    """
    if shape is None or not shape or shape[0] >= 0 or min(shape[1:], default=0) < 0:
        return None
    reader = _Reader(call.scope.session.model.functions)
    if not reader.is_joined(call.scope.source, Ref(call.node.name, output)) or not reader.joins:
        return None
    call.scope.session.joined.update(reader.writes, reader.joins)
    return call.emit(Fill(), call.const(0, numpy_type(dtype)), call.ints((0, *shape[1:])))


def appended(call: Call, joined: Value, item: Value) -> Value | None:
    """Returns the result of a write to such a list; None if the node writes to a tensor list."""
    return call.emit(Concat(axis=0), joined, item) if call.node in call.scope.session.joined else None


@dataclass
class _Reader:
    functions: Mapping[str, SourceGraph]
    writes: list[SourceNode] = field(default_factory=list)
    joins: list[SourceNode] = field(default_factory=list)

    def is_joined(self, graph: SourceGraph, ref: Ref) -> bool:
        """Returns whether the list `ref` is only written in order by loops, and concatenated without use of the
        lengths."""
        if ref in graph.results:
            return False
        for node in _readers(graph, ref):
            if node.operator in PASSING:
                fits = self.is_joined(graph, Ref(node.name))
            elif node.operator in _LOOPS and node.inputs.count(ref) == 1:
                number = node.inputs.index(ref)
                fits = self._is_appended(graph, node, number) and self.is_joined(graph, Ref(node.name, number))
            else:
                self.joins.append(node)
                fits = node.operator in _JOINS and not _readers(graph, Ref(node.name, 1))
            if not fits:
                return False
        return True

    def _is_appended(self, graph: SourceGraph, loop: SourceNode, number: int) -> bool:
        """Returns whether iteration i of a loop writes element i of the list in loop variable `number`, and nothing
        else."""
        body, condition = (self.functions.get(_function_name(loop, name), None) for name in ("body", "cond"))
        count = len(loop.inputs)
        if (
            body is None
            or condition is None
            or {len(body.arguments), len(body.results), len(condition.arguments)} != {count}
        ):
            return False
        variable = Ref(body.arguments[number])
        writes = _final_readers(body, variable)
        if len(writes) != 1 or _final_readers(condition, Ref(condition.arguments[number])):
            return False
        (write,) = writes
        place, index = _WRITES.get(write.operator, (0, 0))
        if write.operator not in _WRITES or len(write.inputs) <= max(place, index):
            return False
        self.writes.append(write)
        results = [_source(body, ref) for ref in body.results]
        written = Ref(write.name)
        is_alone = results.count(written) == 1 and variable not in results and not _final_readers(body, written)
        fits = is_alone and results[number] == written and _source(body, write.inputs[place]) == variable
        return fits and self._counts(graph, loop, body, _source(body, write.inputs[index]))

    def _counts(self, graph: SourceGraph, loop: SourceNode, body: SourceGraph, index: Ref) -> bool:
        """Returns whether an argument of the body starts at 0 and is incremented by 1 in each iteration."""
        if index.node not in body.arguments or body.nodes[index.node].operator != ARGUMENT:
            return False
        number = body.arguments.index(index.node)
        following = body.nodes[_source(body, body.results[number]).node]
        if following.operator not in ("Add", "AddV2") or len(following.inputs) != 2:
            return False
        operands = [_source(body, ref) for ref in following.inputs]
        others = [ref for ref in operands if ref != index]
        if len(others) != 1 or _number(graph, _source(graph, loop.inputs[number])) != 0:
            return False
        (step,) = others
        if step.node in body.arguments:  # a loop variable that does not change
            place = body.arguments.index(step.node)
            return (
                _source(body, body.results[place]) == step and _number(graph, _source(graph, loop.inputs[place])) == 1
            )
        return _number(body, step) == 1


def _readers(graph: SourceGraph, ref: Ref) -> list[SourceNode]:
    return [node for node in graph.nodes.values() if ref in node.inputs]


def _final_readers(graph: SourceGraph, ref: Ref) -> list[SourceNode]:
    """Returns the readers of a value, also through nodes that pass it on."""
    found, waiting, seen = [], [ref], {ref}
    while waiting:
        for node in _readers(graph, waiting.pop()):
            if node.operator not in PASSING:
                found.append(node)
            elif Ref(node.name) not in seen:
                seen.add(Ref(node.name))
                waiting.append(Ref(node.name))
    return found


def _source(graph: SourceGraph, ref: Ref) -> Ref:
    """Returns the origin of a value, before nodes that pass it on."""
    seen = set()
    while ref.node not in seen and graph.nodes[ref.node].operator in PASSING and graph.nodes[ref.node].inputs:
        seen.add(ref.node)
        ref = graph.nodes[ref.node].inputs[0]
    return ref


def _number(graph: SourceGraph, ref: Ref) -> int | None:
    """Returns the value of a constant integer scalar, or None."""
    node = graph.nodes[ref.node]
    value = node.attributes.get("value")
    if node.operator != "Const" or value is None or not value.HasField("tensor"):
        return None
    try:
        array = read_tensor(value.tensor)
    except TensorError:
        return None
    return int(array.item()) if array.size == 1 and array.dtype.kind in "iu" else None


def _function_name(node: SourceNode, attribute: str) -> str:
    value = node.attributes.get(attribute)
    return str(value.func.name) if value is not None and value.HasField("func") else ""
