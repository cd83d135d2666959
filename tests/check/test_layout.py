"""Where nodes are drawn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mslite.check.layout import HEIGHT, WIDTH, place


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    count = draw(st.integers(0, 30))
    return [
        sorted(draw(st.sets(st.integers(0, node - 1), max_size=min(node, 3)))) if node else [] for node in range(count)
    ]


@given(graphs())
def test_no_nodes_overlap_and_edges_go_down(inputs: list[list[int]]) -> None:
    places = place(inputs)
    assert len(places) == len(inputs)
    for node, read in enumerate(inputs):
        for one in read:
            assert places[one][1] + HEIGHT <= places[node][1]
    for first, (x0, y0) in enumerate(places):
        for x1, y1 in places[first + 1 :]:
            assert abs(x0 - x1) >= WIDTH - 1e-6 or abs(y0 - y1) >= HEIGHT
