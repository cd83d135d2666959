"""Patterns that match parts of graphs.

    op("MulFusion", value("x"), op("Activation", value("x"), name="sigmoid"), name="mul", commutative=True)

matches x * f(x). A name that occurs twice must match the same node or value both times. Patterns are matched backwards
from their output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from mslite.converter.mindir.graph import Array, Graph, Node, Value


@dataclass(frozen=True)
class Match:
    """The nodes and values that the names of a pattern match."""

    nodes: dict[str, Node] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    inner: tuple[Node, ...] = ()
    """All matched nodes, the root first."""
    training: bool = False
    """Whether the result will be trained."""

    @property
    def root(self) -> Node:
        return self.inner[0]

    def node(self, name: str) -> Node:
        return self.nodes[name]

    def value(self, name: str) -> Value:
        return self.values[name]

    def array(self, name: str) -> Array:
        """Returns the elements of a matched constant."""
        return self.values[name].array()

    def with_value(self, name: str, value: Value) -> Match | None:
        if not name:
            return self
        if name in self.values:
            return self if self.values[name] is value else None
        return Match(self.nodes, {**self.values, name: value}, self.inner)

    def with_node(self, name: str, node: Node) -> Match | None:
        if name in self.nodes and self.nodes[name] is not node:
            return None
        nodes = {**self.nodes, name: node} if name else self.nodes
        inner = self.inner if any(node is other for other in self.inner) else (*self.inner, node)
        return Match(nodes, self.values, inner)

    def is_private(self, graph: Graph) -> bool:
        """Returns whether no node outside the match reads the output of an inner node."""
        return all(
            value not in graph.outputs and all(user in self.inner for user in value.users)
            for node in self.inner[1:]
            for value in node.outputs
        )


class Pattern:
    """Matches a value."""

    def match(self, value: Value, found: Match) -> Iterator[Match]:
        raise NotImplementedError


@dataclass(frozen=True)
class _AnyValue(Pattern):
    name: str
    accept: Callable[[Value], bool]

    def match(self, value: Value, found: Match) -> Iterator[Match]:
        if self.accept(value):
            result = found.with_value(self.name, value)
            if result is not None:
                yield result


@dataclass(frozen=True)
class Call(Pattern):
    """Matches the first output of a node that `where` accepts."""

    names: tuple[str, ...]
    operands: tuple[Pattern, ...]
    name: str
    commutative: bool
    where: Callable[[Node], bool]

    def match(self, value: Value, found: Match) -> Iterator[Match]:
        node = value.producer
        if node is not None and len(node.outputs) >= 1 and node.outputs[0] is value:
            yield from self.match_node(node, found)

    def match_node(self, node: Node, found: Match) -> Iterator[Match]:
        """Yields all matches with `node` as the root."""
        if node.op.name not in self.names or len(node.inputs) < len(self.operands) or not self.where(node):
            return
        if len(node.inputs) > len(self.operands) and self.operands and self.commutative:
            return
        start = found.with_node(self.name, node)
        if start is None:
            return
        inputs = node.inputs[: len(self.operands)]
        orders = permutations(inputs) if self.commutative else iter([inputs])
        for order in orders:
            yield from _match_all(self.operands, tuple(order), start)


def _match_all(patterns: tuple[Pattern, ...], values: tuple[Value, ...], found: Match) -> Iterator[Match]:
    if not patterns:
        yield found
        return
    for result in patterns[0].match(values[0], found):
        yield from _match_all(patterns[1:], values[1:], result)


def op(
    names: str,
    *operands: Pattern,
    name: str = "",
    commutative: bool = False,
    where: Callable[[Node], bool] = lambda node: True,
) -> Call:
    """Returns a pattern for a node with one of the blank-separated operators `names`; `operands` match its first
    inputs."""
    return Call(tuple(names.split()), operands, name, commutative, where)


def value(name: str = "") -> Pattern:
    """Returns a pattern for any value."""
    return _AnyValue(name, lambda value: True)


def const(name: str = "", accept: Callable[[Array], bool] = lambda data: True) -> Pattern:
    """Returns a pattern for a constant with elements that `accept` accepts."""
    return _AnyValue(name, lambda value: value.data is not None and accept(value.data))


def number(wanted: float, tolerance: float = 1e-4) -> Pattern:
    """Returns a pattern for a constant with one element close to `wanted`, because exporters round."""

    def accept(data: Array) -> bool:
        if data.size != 1 or data.dtype.kind not in "fiu":
            return False
        return bool(abs(float(data.reshape(-1)[0].astype(np.float64)) - wanted) <= tolerance * abs(wanted))

    return const(accept=accept)


def one_of(*patterns: Pattern) -> Pattern:
    """Returns a pattern for any of several patterns, tried in order."""
    return _OneOf(patterns)


@dataclass(frozen=True)
class _OneOf(Pattern):
    patterns: tuple[Pattern, ...]

    def match(self, value: Value, found: Match) -> Iterator[Match]:
        for pattern in self.patterns:
            yield from pattern.match(value, found)
