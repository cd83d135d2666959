"""Turns inputs and outputs of an ONNX model that represent a program's state into variables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable


def with_variables(module: Module, folder: Path) -> None:
    """Replaces the inputs and outputs listed in `folder`/state.json by variables. Without this file there is no state.

    Variables that no output depends on, in this run or a later one, are removed. Raises OSError.
    """
    listed = folder / "state.json"
    if not listed.is_file():
        return
    records = json.loads(listed.read_text())
    with np.load(folder / "state.npz", allow_pickle=False) as file:
        first = [file[f"arr_{place}"] for place in range(len(records))]
    graph = module.main
    ends = graph.outputs[len(graph.outputs) - len(records) :]
    del graph.outputs[len(graph.outputs) - len(records) :]
    inputs = {value.name: value for value in graph.inputs}
    starts = [inputs[record["input"]] for record in records]
    graph.inputs = [value for value in graph.inputs if value not in starts]
    needed = _needed(graph.outputs, dict(zip(starts, ends, strict=True)))
    for record, array, start, end in zip(records, first, starts, ends, strict=True):
        name = record["variable"]
        initial = constant(graph.unique_name(f"{name}/initial"), array)
        graph.nodes.insert(0, Node(ReadVariable(variable=name), start.name, (initial,), (start,)))
        if start in needed:
            result = Value(graph.unique_name(f"{name}/assigned"), end.dtype, end.shape)
            graph.nodes.append(Node(AssignVariable(variable=name), end.name, (end,), (result,)))


def _needed(outputs: list[Value], next_values: dict[Value, Value]) -> set[Value]:
    """Returns the values that the outputs depend on; a needed variable also needs its next value."""
    found: set[Value] = set()
    work = list(outputs)
    while work:
        value = work.pop()
        if value in found:
            continue
        found.add(value)
        if value in next_values:
            work.append(next_values[value])
        if value.producer is not None:
            work.extend(value.producer.inputs)
    return found
