"""Graphs of one node, made from the reference cases and rewritten for a version of MindSpore Lite."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.mindir.graph import Array, Format, Graph, Module, Node, Value, constant, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import REFERENCES, Case
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.target.lower import lower
from mslite.converter.verify.interpreter import run_graph
from tests.kernels.calls import inputs_of


def module_of(case: Case, run_time: int = 1) -> Module:
    """Returns the case's call with the first operands as inputs and the others as constants."""
    arrays = inputs_of(case)
    constant_ones = {index for index in range(len(arrays)) if index >= run_time or index in case.constants}
    values = [
        constant(f"constant{index}", array, Format.NHWC)
        if index in constant_ones
        else Value(f"in{index}", data_type_of(array), tuple(array.shape), format=Format.NHWC)
        for index, array in enumerate(arrays)
    ]
    expected = REFERENCES[case.op.name](case.op, case.inputs)
    results = tuple(Value(f"out{index}", DataType.UNKNOWN, format=Format.NHWC) for index in range(len(expected)))
    graph = Graph("main", [value for value in values if not value.is_constant], list(results))
    graph.nodes.append(Node(case.op, "node", tuple(values), results))
    return Module([graph])


def lowered(module: Module, version: Version) -> Context:
    """Rewrites the module for the version."""
    context = Context(Settings(target=version))
    infer_shapes(module, context)
    lower(module, context)
    return context


def run(module: Module, case: Case) -> list[Array]:
    """Returns the results of the module for the operands of the case."""
    given = {f"in{index}": array for index, array in enumerate(inputs_of(case))}
    contents = run_graph(module.main, given)
    return [np.asarray(contents[value]) for value in module.main.outputs]
