"""The parts of a training graph by what they are for, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable


@dataclass
class Passes:
    """The nodes of each pass, in their order; those of the loss are in none."""

    forward: list[Node] = field(default_factory=list)
    gradients: dict[Node, Node] = field(default_factory=dict)
    """Each with the node of the forward pass that it belongs to."""
    steps: list[list[Node]] = field(default_factory=list)
    """The optimizer's, by parameter."""

    def renewed(self, old: Sequence[Node], new: Sequence[Node]) -> Passes:
        """The same of a copy, whose nodes `new` are those of `old`."""
        copy = dict(zip(old, new, strict=True))
        return Passes(
            [copy[node] for node in self.forward if node in copy],
            {copy[node]: copy[of] for node, of in self.gradients.items() if node in copy},
            [[copy[node] for node in step if node in copy] for step in self.steps],
        )


def with_steps(others: Iterable[Node], steps: Sequence[Sequence[Node]]) -> list[Node]:
    """`others` with each step as soon as its gradient is complete and nobody reads the old parameter any more: the memory of the
    gradient is free from then on, and the parameter may change where it is."""
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
