"""Runs a graph node by node with the scalar kernels and keeps all intermediate results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mslite.converter.mindir.graph import Array, Graph, Value
from mslite.converter.passes import native_rules
from mslite.converter.verify.quantized import evaluate

_VARIABLES = frozenset({"ReadVariable", "AssignVariable"})
"""Operators whose output is their input in the first run."""


class InterpreterError(Exception):
    """A node that cannot be run."""


def run_graph(graph: Graph, inputs: Mapping[str, Array]) -> dict[Value, Array]:
    """Returns the elements of every value, given those of the graph's inputs by name. Raises InterpreterError."""
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
        except (native_rules.NativeRuleError, ValueError) as error:
            raise InterpreterError(f"{node.op.name} '{node.name}': {error}") from None
        contents.update(zip(node.outputs, results, strict=True))
    return contents


def _stored(value: Value) -> Array:
    """Returns a constant as the runtime loads it: float16 is converted to float32."""
    data = value.array()
    return data.astype(np.float32) if data.dtype == np.float16 else data
