"""Where the nodes of a graph are drawn: in layers from top to bottom, neighbours near each other.

After K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system structures (1981): layers by
the longest path, order within them by the mean place of the nodes that are read.
"""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 190.0, 46.0
"""Of a node, in units of the drawing."""
_GAP_X, _GAP_Y = 24.0, 34.0


def place(inputs: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """The left upper corner of each node; `inputs[n]` are the nodes that node n reads, all of them before n."""
    layers = _layers(inputs)
    places = [(0.0, 0.0)] * len(inputs)
    centre = [0.0] * len(inputs)
    for depth, members in enumerate(layers):
        wanted = {
            node: sum(centre[one] for one in inputs[node]) / len(inputs[node]) if inputs[node] else 0.0
            for node in members
        }
        row = sorted(members, key=lambda node: (wanted[node], node))
        step = WIDTH + _GAP_X
        first = sum(wanted[node] for node in row) / len(row) - (len(row) - 1) * step / 2
        for index, node in enumerate(row):
            centre[node] = wanted[node] if len(row) == 1 else first + index * step
            places[node] = (centre[node] - WIDTH / 2, depth * (HEIGHT + _GAP_Y))
    return places


def _layers(inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    depth = [0] * len(inputs)
    for node, read in enumerate(inputs):
        depth[node] = max((depth[one] + 1 for one in read if one < node), default=0)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, own in enumerate(depth):
        layers[own].append(node)
    return layers
