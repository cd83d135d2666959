"""The schedules of chains: against a search over all of them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mslite.converter.training.recompute.schedule import Chain, Kind, Stage, Step


@dataclass(frozen=True, order=True)
class _State:
    """What lies in memory: outputs by the number of their stage, saved stages, the output that was made last, and the stage
    whose backward pass comes next, with the gradient of its output."""

    kept: frozenset[int] = frozenset()
    saved: frozenset[int] = frozenset()
    fresh: int = -1
    turn: int = 0


def _bytes(stages: list[Stage], state: _State) -> int:
    gradient = stages[state.turn].output if state.turn >= 0 else 0
    bare = state.kept - state.saved
    fresh = stages[state.fresh].output if state.fresh >= 0 and state.fresh not in bare | state.saved else 0
    return sum(stages[i].output for i in bare) + sum(stages[i].saved for i in state.saved) + gradient + fresh


def _moves(stages: list[Stage], state: _State) -> Iterator[tuple[Step, int, float, _State]]:
    """The steps that may come next: with the memory that each needs, what it costs, and what is there then."""
    base = _bytes(stages, state)
    for i, stage in enumerate(stages[: state.turn + 1]):
        if i and i - 1 not in state.kept | state.saved | {state.fresh}:
            continue
        need = base + stage.output + stage.discarding
        if i - 1 != state.fresh and state.fresh not in state.kept | state.saved:
            need -= stages[state.fresh].output if state.fresh >= 0 else 0
        if i not in state.saved:
            for kept in {state.kept, state.kept | ({i - 1} if i and i - 1 == state.fresh else frozenset())}:
                yield Step(Kind.DISCARD, i), need, stage.cost, _State(kept, state.saved, i, state.turn)
            kept = state.kept | ({i - 1} if i and i - 1 not in state.saved else frozenset())
            after = _State(kept, state.saved | {i}, -1, state.turn)
            before = _State(kept, state.saved, -1, state.turn)
            yield Step(Kind.SAVE, i), _bytes(stages, before) + stage.saved + stage.saving, stage.cost, after
    i = state.turn
    if i in state.saved:
        gradient = stages[i - 1].output if i else 0
        alone = _State(state.kept, state.saved, -1, i)
        after = _State(state.kept - {i - 1, i}, state.saved - {i}, -1, i - 1)
        yield Step(Kind.BACKWARD, i), _bytes(stages, alone) + gradient + stages[i].backward, 0.0, after


def _least_cost(stages: list[Stage], memory: int) -> float:
    """By Dijkstra's search."""
    start = _State(turn=len(stages) - 1)
    costs = {start: 0.0}
    queue = [(0.0, 0, start)]
    number = 0
    while queue:
        cost, _, state = heapq.heappop(queue)
        if cost > costs[state]:
            continue
        if state.turn < 0:
            return cost
        for _, need, more, after in _moves(stages, state):
            if need <= memory and cost + more < costs.get(after, math.inf):
                costs[after] = cost + more
                number += 1
                heapq.heappush(queue, (cost + more, number, after))
    return math.inf


_STAGES = st.lists(
    st.builds(
        lambda cost, output, more, discarding, saving, backward: Stage(
            cost, output, output + more, discarding, saving, backward
        ),
        st.integers(1, 9).map(float),
        st.integers(0, 3),
        st.integers(0, 3),
        *[st.integers(0, 2)] * 3,
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(_STAGES, st.integers(0, 24))
def test_the_cost_is_the_least(stages: list[Stage], memory: int) -> None:
    assert Chain(stages, memory).cost(memory) == _least_cost(stages, memory)


@settings(max_examples=150, deadline=None)
@given(_STAGES, st.integers(0, 24))
def test_the_schedule_is_one(stages: list[Stage], memory: int) -> None:
    """Step by step: what each reads is there, memory suffices, and the costs add up."""
    chain = Chain(stages, memory)
    if math.isinf(chain.cost(memory)):
        with pytest.raises(ValueError, match="no schedule fits"):
            chain.schedule(memory)
        return
    states, cost = {_State(turn=len(stages) - 1)}, 0.0
    for step in chain.schedule(memory):
        moves = [move for state in states for move in _moves(stages, state) if move[0] == step and move[1] <= memory]
        assert moves, step
        cost += moves[0][2]
        states = {after for *_, after in moves}
    assert {state.turn for state in states} == {-1}
    assert cost == chain.cost(memory)


def test_levels() -> None:
    """Three alike: the first two are run once more where not all fits."""
    stages = [Stage(1.0, 1, 1)] * 3
    chain = Chain(stages, 8)
    assert [(level, chain.cost(level)) for level in chain.levels()] == [(4, 5.0), (5, 3.0)]
