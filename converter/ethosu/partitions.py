"""Partitions a graph for the NPU: connected subgraphs that are as large as possible without cyclic dependencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.quantized import only_moves_elements


@dataclass(frozen=True)
class Part:
    """A partition: its nodes in execution order, its inputs from other nodes, and its outputs that other nodes read."""

    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def find_partitions(graph: Graph, takes: Callable[[Node], bool]) -> list[Part]:
    """Returns the partitions of nodes for which `takes` returns True, ordered by their first nodes. Partitions that
    only move or requantize elements are left out."""
    groups = _Groups(graph.nodes, takes)
    for node in graph.nodes:
        for value in node.inputs:
            if value.producer is not None:
                groups.join(value.producer, node)
    return [_part(nodes, graph) for nodes in groups.found() if any(_computes(node) for node in nodes)]


def _computes(node: Node) -> bool:
    return not only_moves_elements(node) and node.op.name != "QuantDTypeCast"


class _Groups:
    """Groups of nodes; at first, each node is a group. Nodes that the NPU does not support are never merged."""

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
        """Merges the groups of a node and of a node that reads it, unless there is a path between them through other
        groups."""
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
        """Returns whether there is a path from the first group through other groups to the second."""
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
