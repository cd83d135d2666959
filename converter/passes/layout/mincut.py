"""Minimum cut of a small directed graph (Dinic's algorithm), with integers and in a deterministic order."""

from __future__ import annotations

from collections import deque

INFINITE = 1 << 60


class FlowNetwork:
    """A flow network. Vertex 0 is the source, vertex 1 the sink; others are added."""

    def __init__(self) -> None:
        self._edges: list[list[int]] = [[], []]
        self._head: list[int] = []
        self._room: list[int] = []

    def vertex(self) -> int:
        self._edges.append([])
        return len(self._edges) - 1

    def edge(self, tail: int, head: int, capacity: int) -> None:
        """Adds an edge that costs `capacity` if `tail` is on the source side and `head` on the sink side of the cut."""
        if tail == head or capacity <= 0:
            return
        for end, other, room in ((tail, head, capacity), (head, tail, 0)):
            self._edges[end].append(len(self._head))
            self._head.append(other)
            self._room.append(room)

    def _levels(self) -> list[int]:
        level = [-1] * len(self._edges)
        level[0] = 0
        queue = deque([0])
        while queue:
            vertex = queue.popleft()
            for edge in self._edges[vertex]:
                if self._room[edge] > 0 and level[self._head[edge]] < 0:
                    level[self._head[edge]] = level[vertex] + 1
                    queue.append(self._head[edge])
        return level

    def _augment(self, level: list[int], position: list[int]) -> bool:
        """Sends flow along one shortest path; returns False if the level graph has no path left."""
        path: list[int] = []
        vertex = 0
        while vertex != 1:
            edges = self._edges[vertex]
            while position[vertex] < len(edges):
                edge = edges[position[vertex]]
                if self._room[edge] > 0 and level[self._head[edge]] == level[vertex] + 1:
                    break
                position[vertex] += 1
            else:
                if not path:
                    return False
                edge = path.pop()
                vertex = self._head[edge ^ 1]
                position[vertex] += 1
                continue
            path.append(edge)
            vertex = self._head[edge]
        flow = min(self._room[edge] for edge in path)
        for edge in path:
            self._room[edge] -= flow
            self._room[edge ^ 1] += flow
        return True

    def source_side(self) -> list[bool]:
        """Returns for each vertex whether it is on the source side of the minimum cut with the smallest source side."""
        while True:
            level = self._levels()
            if level[1] < 0:
                return [depth >= 0 for depth in level]
            position = [0] * len(self._edges)
            while self._augment(level, position):
                pass
