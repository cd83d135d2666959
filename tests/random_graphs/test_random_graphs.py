"""A hundred random graphs, the same in every run; `make check-slow` has two thousand more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

pytest.importorskip("onnxruntime", reason="onnxruntime, which computes what is right, is not installed")

from .chance import Seeded
from .compare import difference, problem
from .evaluate import Rejected
from .graphs import RandomGraph, graphs, grown
from .reduce import reduced
from .report import FOLDER, failure, load, save


@settings(max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_graphs_are_computed_as_onnxruntime_does(graph: RandomGraph) -> None:
    if text := problem(graph):
        pytest.fail(failure(graph, text, FOLDER / "test"))


def a_graph(seed: int = 0) -> RandomGraph:
    while True:
        try:
            graph = grown(Seeded(seed))
        except Rejected:
            seed += 1
            continue
        if any(sample.outputs for sample in graph.samples) and len(graph.model.graph.node) > 3:
            return graph
        seed += 1


def test_a_seed_gives_the_same_graph() -> None:
    first, second = a_graph(7), a_graph(7)
    assert first.model.SerializeToString() == second.model.SerializeToString()
    for name, value in first.values.items():
        np.testing.assert_array_equal(value.array, second.values[name].array)


def test_a_wrong_number_is_a_difference() -> None:
    sample = next(s for seed in range(50) for s in a_graph(seed).samples if any(o.size for o in s.outputs.values()))
    assert difference(sample, sample.outputs) == ""
    name = next(name for name, array in sample.outputs.items() if array.size)
    wrong = sample.outputs[name].copy()
    wrong.reshape(-1)[0] = not wrong.reshape(-1)[0] if wrong.dtype == bool else wrong.reshape(-1)[0] + 1
    assert name in difference(sample, {**sample.outputs, name: wrong})
    assert name in difference(sample, {**sample.outputs, name: sample.outputs[name].astype(np.complex64)})


def test_reducing_keeps_the_one_operator_that_fails(tmp_path: Path) -> None:
    """As if every graph with a certain operator failed."""
    graph = a_graph(3)
    operators = [node.op_type for node in graph.model.graph.node if node.op_type != "Constant"]
    culprit = operators[len(operators) // 2]
    small = reduced(graph, lambda g: any(node.op_type == culprit for node in g.model.graph.node))
    assert {node.op_type for node in small.model.graph.node} <= {culprit, "Constant"}
    again = load(save(small, tmp_path))
    assert again.model.SerializeToString() == small.model.SerializeToString()
    assert all(again.samples[0].drifts[name] == drift for name, drift in small.samples[0].drifts.items())
