"""The forward pass, backward pass and optimizer steps of a training graph, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable


@dataclass
class Passes:
    """The nodes of each pass, in order; the nodes of the loss are in none of them."""

    forward: list[Node] = field(default_factory=list)
    gradients: dict[Node, Node] = field(default_factory=dict)
    """Node of the backward pass -> its node of the forward pass."""
    steps: list[list[Node]] = field(default_factory=list)
    """The nodes of the optimizer, for each parameter."""

    def renewed(self, old: Sequence[Node], new: Sequence[Node]) -> Passes:
        """Returns the passes of a copy of the graph; `new` are the copies of the nodes `old`."""
        copy = dict(zip(old, new, strict=True))
        return Passes(
            [copy[node] for node in self.forward if node in copy],
            {copy[node]: copy[of] for node, of in self.gradients.items() if node in copy},
            [[copy[node] for node in step if node in copy] for step in self.steps],
        )


def with_steps(others: Iterable[Node], steps: Sequence[Sequence[Node]]) -> list[Node]:
    """Inserts each step into `others` as soon as its gradient is complete and the old parameter is not read any more.

    The memory of the gradient is then free, and the parameter can be updated in place."""
    ordered = list(others)
    place = {node: i for i, node in enumerate(ordered)}
    behind: dict[int, list[Node]] = {}
    for step in steps:
        assigned = {node.op.variable for node in step if isinstance(node.op, AssignVariable)}
        last = -1
        for node in step:
            for value in node.inputs:
                made = value.producer
                if made is None:
                    continue
                last = max(last, place.get(made, -1))
                if isinstance(made.op, ReadVariable) and made.op.variable in assigned:
                    last = max(last, *(place.get(user, -1) for user in value.users))
        behind.setdefault(last, []).extend(step)
    result = behind.get(-1, [])
    for i, node in enumerate(ordered):
        result += [node, *behind.get(i, [])]
    return result
