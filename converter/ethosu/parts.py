"""Which nodes run on the NPU together: connected subgraphs as large as they can be without waiting for their own results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.quantized import only_moves


@dataclass(frozen=True)
class Part:
    """Nodes in the order of their execution, what they read of others, and what others read of them."""

    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def parts_of(graph: Graph, takes: Callable[[Node], bool]) -> list[Part]:
    """The parts of nodes that are taken, those that only move or rescale numbers left out, in the order of their first nodes."""
    groups = _Groups(graph.nodes, takes)
    for node in graph.nodes:
        for value in node.inputs:
            if value.producer is not None:
                groups.join(value.producer, node)
    return [_part(nodes, graph) for nodes in groups.found() if any(_computes(node) for node in nodes)]


def _computes(node: Node) -> bool:
    return not only_moves(node) and node.op.name != "QuantDTypeCast"


class _Groups:
    """Nodes, each in a group: those that are not taken, alone in theirs for ever."""

    def __init__(self, nodes: Sequence[Node], takes: Callable[[Node], bool]) -> None:
        self._members = {number: [node] for number, node in enumerate(nodes)}
        self._group = {id(node): number for number, node in enumerate(nodes)}
        self._taken = {number for number, node in enumerate(nodes) if takes(node)}
        self._after: dict[int, set[int]] = {number: set() for number in self._members}
        self._before: dict[int, set[int]] = {number: set() for number in self._members}
        for number, node in enumerate(nodes):
            for value in node.inputs:
                if id(value.producer) in self._group:
                    self._after[self._group[id(value.producer)]].add(number)
                    self._before[number].add(self._group[id(value.producer)])

    def found(self) -> list[list[Node]]:
        return [self._members[number] for number in sorted(self._members) if number in self._taken]

    def join(self, producer: Node, user: Node) -> None:
        """Makes one group of those of a node and of one that reads it, unless a way leads from one to the other outside."""
        if id(producer) not in self._group:
            return
        first, second = self._group[id(producer)], self._group[id(user)]
        if first == second or not {first, second} <= self._taken or self._leads(first, second):
            return
        for node in self._members[second]:
            self._group[id(node)] = first
        self._members[first] += self._members.pop(second)
        for own, others in ((self._after, self._before), (self._before, self._after)):
            for neighbor in own.pop(second):
                others[neighbor].discard(second)
                if neighbor != first:
                    others[neighbor].add(first)
                    own[first].add(neighbor)
            own[first].discard(second)

    def _leads(self, first: int, second: int) -> bool:
        """Whether a way leads from one group through others to the second."""
        if self._before[second] == {first}:
            return False
        todo = [group for group in self._after[first] if group != second]
        seen = set(todo)
        while todo:
            for group in self._after[todo.pop()]:
                if group == second:
                    return True
                if group not in seen:
                    seen.add(group)
                    todo.append(group)
        return False


def _part(nodes: Sequence[Node], graph: Graph) -> Part:
    inside = {id(node) for node in nodes}
    ordered = tuple(node for node in graph.nodes if id(node) in inside)
    read = [value for node in ordered for value in node.inputs if not value.is_constant]
    inputs = dict.fromkeys(value for value in read if id(value.producer) not in inside)
    leaving = {id(value) for value in graph.outputs}
    outputs = [
        value
        for node in ordered
        for value in node.outputs
        if id(value) in leaving or any(id(user) not in inside for user in value.users)
    ]
    return Part(ordered, tuple(inputs), tuple(outputs))
