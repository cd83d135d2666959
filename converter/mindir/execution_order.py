"""Sorts nodes into execution order."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from .graph import Node


class CycleError(Exception):
    """A cycle of nodes."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"node '{node.name}' is part of a cycle")
        self.node = node


def execution_order(nodes: Sequence[Node]) -> list[Node]:
    """Returns the nodes with producers before users, otherwise in the given order. Raises CycleError."""
    position = {id(node): index for index, node in enumerate(nodes)}
    waiting = [0] * len(nodes)
    users: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        before = {position[id(value.producer)] for value in node.inputs if id(value.producer) in position}
        waiting[index] = len(before)
        for producer in before:
            users[producer].append(index)
    ready = [index for index, number in enumerate(waiting) if number == 0]
    result = []
    while ready:
        index = heapq.heappop(ready)
        result.append(nodes[index])
        for user in users[index]:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, user)
    if len(result) < len(nodes):
        raise CycleError(next(node for index, node in enumerate(nodes) if waiting[index]))
    return result
