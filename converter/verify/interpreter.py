"""Runs a module node by node with the scalar kernels and keeps every intermediate result."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mslite.converter.mindir.graph import Array, Graph, Value
from mslite.converter.passes import native
from mslite.converter.verify.quantized import evaluate

_VARIABLES = frozenset({"ReadVariable", "AssignVariable"})
"""In a first run their result is their operand."""


class InterpreterError(Exception):
    """A node that cannot be run."""


def run_graph(graph: Graph, inputs: Mapping[str, Array]) -> dict[Value, Array]:
    """The contents of every value, from those of the graph's inputs. Raises InterpreterError."""
    contents: dict[Value, Array] = {}
    for value in graph.inputs:
        if value.name not in inputs:
            raise InterpreterError(f"no data for the input '{value.name}'")
        contents[value] = inputs[value.name]
    for node in graph.nodes:
        operands = []
        for value in node.inputs:
            data = _stored(value) if value.data is not None else contents.get(value)
            if data is None:
                raise InterpreterError(f"{node.op.name} '{node.name}': '{value.name}' was not computed")
            operands.append(data)
        try:
            results = operands if node.op.name in _VARIABLES else evaluate(node, operands)
        except (native.RuleError, ValueError) as error:
            raise InterpreterError(f"{node.op.name} '{node.name}': {error}") from None
        contents.update(zip(node.outputs, results, strict=True))
    return contents


def _stored(value: Value) -> Array:
    """A constant as the runtime loads it: it computes in float32 what is stored as float16."""
    data = value.array()
    return data.astype(np.float32) if data.dtype == np.float16 else data
