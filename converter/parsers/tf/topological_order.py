"""Nodes that results depend on, in topological order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from .model import Ref, SourceGraph, SourceNode, damaged


def needed(source: SourceGraph, results: Iterable[Ref]) -> set[str]:
    """Returns the names of the nodes that results depend on."""
    seen: set[str] = set()
    open_names = [ref.node for ref in results]
    while open_names:
        name = open_names.pop()
        if name not in seen:
            seen.add(name)
            open_names.extend(ref.node for ref in source.nodes[name].inputs)
    return seen


def ordered(source: SourceGraph, results: Iterable[Ref], model: str) -> list[SourceNode]:
    """Returns the nodes that results depend on, in topological order, as close to the file's order as possible. Raises
    ConversionError for a cycle."""
    live = needed(source, results)
    numbers = {name: number for number, name in enumerate(source.nodes)}
    readers: dict[str, list[str]] = {name: [] for name in live}
    missing: dict[str, int] = {}
    for name in live:
        producers = {ref.node for ref in source.nodes[name].inputs}
        missing[name] = len(producers)
        for producer in producers:
            readers[producer].append(name)
    ready = [(numbers[name], name) for name, count in missing.items() if count == 0]
    heapq.heapify(ready)
    order: list[SourceNode] = []
    while ready:
        _, name = heapq.heappop(ready)
        order.append(source.nodes[name])
        for reader in readers[name]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, (numbers[reader], reader))
    if len(order) < len(live):
        stuck = next(name for name in source.nodes if name in live and missing[name] > 0)
        raise damaged(model, f"the graph has a cycle through '{stuck}'")
    return order
