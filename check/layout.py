"""Computes the positions of a graph's nodes in the drawing: layers from top to bottom, long graphs in several columns.

After K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system structures (1981): layers
by the longest path; within a layer, nodes are sorted by the mean position of the nodes that they read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 190.0, 46.0
"""Size of a node, in units of the drawing."""
_GAP_X, _GAP_Y = 24.0, 34.0
_LANE = 70.0
"""Width of the gap between columns. Edges from the bottom of a column to the top of the next run there."""
_ASPECT = 1.5
"""Ratio of width to height that the drawing should have: that of a window."""
_MAX_COLUMNS = 60


@dataclass(frozen=True)
class Place:
    """Position of a node: its upper left corner, the index of its column, and the x of the lane before that column."""

    x: float
    y: float
    column: int
    lane: float


def fold(places: Sequence[tuple[float, float]]) -> list[Place]:
    """Splits the layers into columns, from left to right, so that a long graph fits a window.

    A graph that is wide enough stays in one column.
    """
    if not places:
        return []
    step = HEIGHT + _GAP_Y
    layers = round(max(y for _, y in places) / step) + 1
    spans = [(math.inf, -math.inf)] * layers
    for x, y in places:
        low, high = spans[round(y / step)]
        spans[round(y / step)] = min(low, x), max(high, x + WIDTH)
    best = min(range(1, _MAX_COLUMNS + 1), key=lambda count: _height_in_window(spans, math.ceil(layers / count)))
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
    """Returns the height of the smallest window that shows all columns if each has `depth` layers."""
    columns = [spans[first : first + depth] for first in range(0, len(spans), depth)]
    width = sum(_width(column) for column in columns) + _LANE * (len(columns) - 1)
    return max(width / _ASPECT, depth * (HEIGHT + _GAP_Y))


def place(inputs: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Returns the upper left corner of each node. `inputs[n]` are the nodes that node n reads, all with indices below
    n."""
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
