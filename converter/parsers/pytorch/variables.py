"""The state of a program, which its ONNX model has as inputs and outputs, as variables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable


def with_variables(module: Module, folder: Path) -> None:
    """Makes variables of the inputs and outputs that `state.json` in `folder` lists; there is none for programs without state.

    What no output depends on, in this run or a later one, is left out. Raises OSError.
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
    """Everything that the outputs depend on; what a variable becomes counts where the variable does."""
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
