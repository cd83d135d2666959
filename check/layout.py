"""Where the nodes of a graph are drawn: in layers from top to bottom, neighbors near each other, long graphs in columns.

After K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system structures (1981): layers by
the longest path, order within them by the mean place of the nodes that are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 190.0, 46.0
"""Of a node, in units of the drawing."""
_GAP_X, _GAP_Y = 24.0, 34.0
_LANE = 70.0
"""Between columns, where edges go up from the foot of one to the head of another."""
_ASPECT = 1.5
"""Width over height that columns come near to: that of the window on a screen."""
_MOST_COLUMNS = 60


@dataclass(frozen=True)
class Place:
    """The left upper corner of a node, the number of its column, and where the lane before that column lies."""

    x: float
    y: float
    column: int
    lane: float


def fold(places: Sequence[tuple[float, float]]) -> list[Place]:
    """Layers side by side in columns, the first to the left, so that a long graph fills a window. One column where that
    is no narrower than the window."""
    if not places:
        return []
    step = HEIGHT + _GAP_Y
    layers = round(max(y for _, y in places) / step) + 1
    spans = [(math.inf, -math.inf)] * layers
    for x, y in places:
        low, high = spans[round(y / step)]
        spans[round(y / step)] = min(low, x), max(high, x + WIDTH)
    best = min(range(1, _MOST_COLUMNS + 1), key=lambda count: _height_in_window(spans, math.ceil(layers / count)))
    depth = math.ceil(layers / best)
    columns = [spans[first : first + depth] for first in range(0, layers, depth)]
    found, starts, right = [], [], 0.0
    for column in columns:
        starts.append((right, min(low for low, _ in column)))
        right += _width(column) + _LANE
    for x, y in places:
        number, row = divmod(round(y / step), depth)
        start, low = starts[number]
        found.append(Place(start + x - low, row * step, number, start - _LANE / 2))
    return found


def _width(column: Sequence[tuple[float, float]]) -> float:
    return max(high for _, high in column) - min(low for low, _ in column)


def _height_in_window(spans: Sequence[tuple[float, float]], depth: int) -> float:
    """Of the window that columns of so many layers fill."""
    columns = [spans[first : first + depth] for first in range(0, len(spans), depth)]
    width = sum(_width(column) for column in columns) + _LANE * (len(columns) - 1)
    return max(width / _ASPECT, depth * (HEIGHT + _GAP_Y))


def place(inputs: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """The left upper corner of each node; `inputs[n]` are the nodes that node n reads, all of them before n."""
    layers = _layers(inputs)
    places = [(0.0, 0.0)] * len(inputs)
    center = [0.0] * len(inputs)
    for depth, members in enumerate(layers):
        wanted = {
            node: sum(center[one] for one in inputs[node]) / len(inputs[node]) if inputs[node] else 0.0
            for node in members
        }
        row = sorted(members, key=lambda node: (wanted[node], node))
        step = WIDTH + _GAP_X
        first = sum(wanted[node] for node in row) / len(row) - (len(row) - 1) * step / 2
        for index, node in enumerate(row):
            center[node] = wanted[node] if len(row) == 1 else first + index * step
            places[node] = (center[node] - WIDTH / 2, depth * (HEIGHT + _GAP_Y))
    return places


def _layers(inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    depth = [0] * len(inputs)
    for node, read in enumerate(inputs):
        depth[node] = max((depth[one] + 1 for one in read if one < node), default=0)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, own in enumerate(depth):
        layers[own].append(node)
    return layers
