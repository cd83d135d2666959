"""Where nodes are drawn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mslite.check.layout import HEIGHT, WIDTH, Place, fold, place


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


@given(graphs())
def test_columns_keep_nodes_apart_and_in_order(inputs: list[list[int]]) -> None:
    places = fold(place(inputs))
    for node, read in enumerate(inputs):
        for one in read:
            before, after = places[one], places[node]
            assert (before.column, before.y) < (after.column, after.y)
    for first, a in enumerate(places):
        assert a.lane < a.x, "the lane lies before the column"
        for b in places[first + 1 :]:
            assert abs(a.x - b.x) >= WIDTH - 1e-6 or abs(a.y - b.y) >= HEIGHT
            assert a.column == b.column or not (a.lane - 1 < b.x + WIDTH and b.x < a.lane + 1)


def extent(places: list[Place]) -> tuple[float, float]:
    return max(one.x for one in places) + WIDTH, max(one.y for one in places) + HEIGHT


def test_a_long_chain_fills_the_window() -> None:
    width, height = extent(fold(place([[], *([index] for index in range(249))])))
    assert 1 < width / height < 2.2
    width, height = extent(fold(place([[], [0], [1]])))
    assert (width, height) == (WIDTH, height)
    assert fold([]) == []
