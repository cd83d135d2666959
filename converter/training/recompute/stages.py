"""Divides the forward pass of a training graph into a chain of stages.

A stage ends where at most one value is still needed, so that a block with branches is one stage, which is recomputed
as a whole. Values that live long within the forward pass, such as the skip connections of a U-Net, may be pinned: they
are always kept, and the nodes between producer and reader are divided into stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mslite.converter.mac_count import has_macs, macs
from mslite.converter.mindir.graph import Node, Value, numpy_type
from mslite.converter.training.recompute.schedule import Stage

_MAX_STAGES = 96
"""The time of the dynamic program is cubic in the number of stages."""
_SMALL = 16 << 10
"""Smaller values (bytes), such as channel statistics, are always kept."""
_WORK_OF_ELEMENT = 8
"""Cost of writing an element, in multiply-adds."""


@dataclass(frozen=True)
class Block:
    """A stage with its nodes of the forward and backward pass."""

    nodes: tuple[Node, ...]
    gradients: tuple[Node, ...]
    stage: Stage
    """Memory sizes in bytes."""


def size_of(value: Value) -> int:
    assert value.shape is not None
    return prod(value.shape) * numpy_type(value.dtype).itemsize


def blocks_of(
    forward: Sequence[Node], gradients: Mapping[Node, Node], outputs: Iterable[Value], longest: int | None
) -> tuple[list[Block], set[Value]]:
    """Returns the stages of `forward`, and the values that are always kept.

    `gradients` maps the nodes of the backward pass, in order, to their nodes of the forward pass. A value that is read
    more than `longest` nodes after its producer is pinned; None: no value is pinned."""
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
        """Values that the backward pass reads."""

    def blocks(self) -> list[Block]:
        bounds = self._fewer(self._bounds())
        return [self._block(first, end) for first, end in zip([0, *bounds], bounds, strict=False)]

    def _bounds(self) -> list[int]:
        """Returns the indices of the nodes before which stages end."""
        bounds, crossing = [], set[Value]()
        for i, node in enumerate(self.forward):
            crossing = {value for value in crossing if self.last[value] > i}
            crossing |= {value for value in node.outputs if self.last[value] > i and value not in self.pinned}
            if len(crossing) <= 1 and crossing <= self.kept:
                bounds.append(i + 1)
        return bounds if bounds and bounds[-1] == len(self.forward) else [*bounds, len(self.forward)]

    def _fewer(self, bounds: list[int]) -> list[int]:
        """Merges the smallest neighboring stages until there are at most `_MAX_STAGES`."""
        saved = [self._saved(first, end) for first, end in zip([0, *bounds], bounds, strict=False)]
        while len(bounds) > _MAX_STAGES:
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
        """Returns the gradients that the backward pass of a stage reads first."""
        inside = set(gradients)
        read = {value for node in inside for value in node.inputs}
        others = self.gradients.keys() - inside
        return {value for value in read if value.producer in others}

    def _inputs(self, nodes: Iterable[Node], inside: set[Node]) -> set[Value]:
        """Returns the values that come from the stage before."""
        read = {value for node in nodes for value in node.inputs}
        return {
            value for value in read if value in self.last and value not in self.pinned and value.producer not in inside
        }


def work_of(node: Node) -> float:
    """Returns the cost of a node in multiply-adds, including writing its outputs."""
    return macs(node) + _WORK_OF_ELEMENT * sum(prod(value.shape or ()) for value in node.outputs)


def _read_elsewhere(nodes: Sequence[Node]) -> set[Value]:
    """Returns the outputs that other nodes of the backward pass read; optimizers use gradients immediately."""
    inside = set(nodes)
    return {
        value
        for node in nodes
        for value in node.outputs
        if any(user not in inside and user.name.startswith("Gradients/") for user in value.users)
    }


def _peak(nodes: Sequence[Node], kept: set[Value], given: Iterable[Value] = ()) -> int:
    """Returns the peak memory of the values `given` and the outputs of these nodes. Element-wise functions overwrite
    their input."""
    last = {value: i for i, node in enumerate(nodes) for value in node.inputs}
    alive, peak = {value: size_of(value) for value in given}, 0
    for i, node in enumerate(nodes):
        results = {value: size_of(value) for value in node.outputs}
        dying = {value for value in node.inputs if value in alive and last[value] == i and value not in kept}
        in_place = not has_macs(node) and any(alive[value] == results[node.outputs[0]] for value in dying)
        peak = max(peak, sum(alive.values()) + sum(results.values()) - (results[node.outputs[0]] if in_place else 0))
        alive.update(results)
        alive = {value: size for value, size in alive.items() if value in kept or last.get(value, -1) > i}
    return peak
