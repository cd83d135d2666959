"""Makes the names of nodes and values unique."""

from __future__ import annotations

from mslite.converter.mindir.graph import Module


def make_names_unique(module: Module) -> None:
    """Adds a number to duplicate names of nodes and values; the model's inputs and outputs keep their names."""
    boundary = [value for graph in module.graphs for value in (*graph.inputs, *graph.outputs)]
    boundary += module.outputs or []
    values = dict.fromkeys([*boundary, *(value for graph in module.graphs for value in graph.values())])
    taken: set[str] = set()
    for value in values:
        value.name = _free(value.name or "value", taken)
        taken.add(value.name)
    node_names: set[str] = set()
    for graph in module.graphs:
        for node in graph.nodes:
            node.name = _free(node.name or node.op.name, node_names)
            node_names.add(node.name)


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
