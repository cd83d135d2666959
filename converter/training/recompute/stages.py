"""The forward pass of a training graph as a chain of stages.

A stage ends where one value, or none, leads on: a block with branches is one stage, whose inner values are computed again
together. Values that live long within the forward pass, as the skip connections of a U-Net, may be pinned instead: they are kept,
and the nodes that they pass by become stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mslite.converter.mindir.graph import Node, Value, numpy_type
from mslite.converter.training.recompute.chain import Stage
from mslite.converter.work import macs, multiplies

_MOST_STAGES = 96
"""The work of the dynamic program grows with the cube."""
_SMALL = 16 << 10
"""Bytes of values that are always kept: statistics of channels, single numbers."""
_WORK_OF_ELEMENT = 8
"""Writing one number takes as long as so many multiply-adds."""


@dataclass(frozen=True)
class Block:
    """A stage with its nodes: those of the forward pass, and those of its backward pass."""

    nodes: tuple[Node, ...]
    gradients: tuple[Node, ...]
    stage: Stage
    """In bytes."""


def size_of(value: Value) -> int:
    assert value.shape is not None
    return prod(value.shape) * numpy_type(value.dtype).itemsize


def blocks_of(
    forward: Sequence[Node], gradients: Mapping[Node, Node], outputs: Iterable[Value], longest: int | None
) -> tuple[list[Block], set[Value]]:
    """The stages of `forward`, and the values that are kept whatever happens. `gradients`: the nodes of the backward pass, in their
    order, with the node of the forward pass that each belongs to. A value that is read more than `longest` nodes behind
    its producer is pinned; None: none is."""
    chain = _Chain(forward, gradients, outputs, longest)
    return chain.blocks(), chain.pinned


class _Chain:
    def __init__(
        self, forward: Sequence[Node], gradients: Mapping[Node, Node], outputs: Iterable[Value], longest: int | None
    ) -> None:
        self.forward = list(forward)
        self.gradients = gradients
        place = {node: i for i, node in enumerate(self.forward)}
        made = [(i, value) for i, node in enumerate(self.forward) for value in node.outputs]
        self.last = {value: max((place.get(node, -1) for node in value.users), default=-1) for _, value in made}
        self.pinned = set(outputs) | {
            value
            for i, value in made
            if size_of(value) <= _SMALL or (longest is not None and self.last[value] - i > longest)
        }
        self.kept = {value for _, value in made if any(node not in place for node in value.users)} - self.pinned
        """What the backward pass reads."""

    def blocks(self) -> list[Block]:
        bounds = self._fewer(self._bounds())
        return [self._block(first, end) for first, end in zip([0, *bounds], bounds, strict=False)]

    def _bounds(self) -> list[int]:
        """The numbers of nodes in front of which stages end."""
        bounds, crossing = [], set[Value]()
        for i, node in enumerate(self.forward):
            crossing = {value for value in crossing if self.last[value] > i}
            crossing |= {value for value in node.outputs if self.last[value] > i and value not in self.pinned}
            if len(crossing) <= 1 and crossing <= self.kept:
                bounds.append(i + 1)
        return bounds if bounds and bounds[-1] == len(self.forward) else [*bounds, len(self.forward)]

    def _fewer(self, bounds: list[int]) -> list[int]:
        """With the smallest neighbors joined, until there are few enough."""
        saved = [self._saved(first, end) for first, end in zip([0, *bounds], bounds, strict=False)]
        while len(bounds) > _MOST_STAGES:
            smallest = min(range(len(bounds) - 1), key=lambda i: saved[i] + saved[i + 1])
            saved[smallest : smallest + 2] = [saved[smallest] + saved[smallest + 1]]
            del bounds[smallest]
        return bounds

    def _made(self, first: int, end: int) -> list[Value]:
        return [value for node in self.forward[first:end] for value in node.outputs if value not in self.pinned]

    def _saved(self, first: int, end: int) -> int:
        return sum(size_of(value) for value in self._made(first, end) if value in self.kept)

    def _crossing(self, first: int, end: int) -> set[Value]:
        return {value for value in self._made(first, end) if self.last[value] >= end}

    def _block(self, first: int, end: int) -> Block:
        nodes = self.forward[first:end]
        inside = set(nodes)
        gradients = [node for node, of in self.gradients.items() if of in inside]
        crossing = self._crossing(first, end)
        output = sum(size_of(value) for value in crossing)
        saved = {value for value in self._made(first, end) if value in self.kept} | crossing
        discarding = _peak(nodes, crossing) - output
        saving = _peak(nodes, saved) - sum(size_of(value) for value in saved)
        before = sum(size_of(value) for value in self._inputs(nodes, inside))
        backward = _peak(gradients, _read_elsewhere(gradients), self._entering(gradients)) - output - before
        stage = Stage(
            cost=sum(work_of(node) for node in nodes),
            output=output,
            saved=sum(size_of(value) for value in saved),
            discarding=max(discarding, 0),
            saving=max(saving, 0),
            backward=backward,
        )
        return Block(tuple(nodes), tuple(gradients), stage)

    def _entering(self, gradients: Iterable[Node]) -> set[Value]:
        """The gradients that a backward pass begins with."""
        inside = set(gradients)
        read = {value for node in inside for value in node.inputs}
        others = self.gradients.keys() - inside
        return {value for value in read if value.producer in others}

    def _inputs(self, nodes: Iterable[Node], inside: set[Node]) -> set[Value]:
        """What comes from the stage before."""
        read = {value for node in nodes for value in node.inputs}
        return {
            value for value in read if value in self.last and value not in self.pinned and value.producer not in inside
        }


def work_of(node: Node) -> float:
    """Multiply-adds, and what writing the results costs."""
    return macs(node) + _WORK_OF_ELEMENT * sum(prod(value.shape or ()) for value in node.outputs)


def _read_elsewhere(nodes: Sequence[Node]) -> set[Value]:
    """The results that other nodes of the backward pass read; optimizers take gradients as soon as they are there."""
    inside = set(nodes)
    return {
        value
        for node in nodes
        for value in node.outputs
        if any(user not in inside and user.name.startswith("Gradients/") for user in value.users)
    }


def _peak(nodes: Sequence[Node], kept: set[Value], given: Iterable[Value] = ()) -> int:
    """The most memory that what is `given` and results of these nodes take at one time. Functions of single numbers write over
    their operand."""
    last = {value: i for i, node in enumerate(nodes) for value in node.inputs}
    alive, peak = {value: size_of(value) for value in given}, 0
    for i, node in enumerate(nodes):
        results = {value: size_of(value) for value in node.outputs}
        dying = {value for value in node.inputs if value in alive and last[value] == i and value not in kept}
        in_place = not multiplies(node) and any(alive[value] == results[node.outputs[0]] for value in dying)
        peak = max(peak, sum(alive.values()) + sum(results.values()) - (results[node.outputs[0]] if in_place else 0))
        alive.update(results)
        alive = {value: size for value, size in alive.items() if value in kept or last.get(value, -1) > i}
    return peak
