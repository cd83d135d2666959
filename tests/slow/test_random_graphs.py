"""Two thousand random graphs, the same in every run; hypothesis shrinks the first that differs.

`python -m tests.random_graphs --seed N` makes others.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.random_graphs.compare import problem
from tests.random_graphs.graphs import RandomGraph, graphs
from tests.random_graphs.report import FOLDER, failure

pytestmark = pytest.mark.nonconforming("any operators behind each other, in NCHW")


@settings(max_examples=2000, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs(most=20))
def test_graphs_are_computed_as_onnxruntime_does(graph: RandomGraph) -> None:
    if text := problem(graph):
        pytest.fail(failure(graph, text, FOLDER / "slow"))
