"""Finds the order of steps with the lowest peak memory.

The live tensors after some steps depend only on the set of these steps, not on their order. The search visits the
possible sets (the downsets of the graph) once each, in the order of the peak that is needed to reach them (as in
Dijkstra's algorithm). The first path that reaches all steps is the best order. If there are too many sets, a beam
search is used. A step that neither raises the peak nor increases the live memory is run at once, because delaying it
cannot help.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from mslite.codegen.memory.graph import Graph, Live, gain
from mslite.codegen.program import Tensor

STATES = 20_000
"""Largest number of visited sets before the beam search is used: a few seconds. Not a time limit, to be
reproducible."""
BEAM = 48
"""Width of the beam search."""


@dataclass(frozen=True)
class _State:
    done: int
    live: frozenset[Tensor]
    room: int
    peak: int
    steps: tuple[int, ...]
    ready: tuple[int, ...]
    """Steps that can run next, in the given order."""


@dataclass(frozen=True)
class Order:
    """An order of steps. `peak`: largest number of live bytes of a step, a lower bound for the arena; `best`: whether
    no other order has a lower peak."""

    steps: list[int]
    peak: int
    best: bool


def find_order(graph: Graph, reorder: bool = True) -> Order:
    """Returns the best order, or the given one with its peak if `reorder` is False."""
    search = _Search(graph)
    given = search.along(range(len(graph.steps)))
    if not reorder or len(graph.steps) < 2:
        return Order(list(given.steps), given.peak, best=False)
    found, best = search.exact()
    if found is None:
        found = search.beam()
    if found.peak >= given.peak:  # prefer the given order if it is as good
        found = given
    return Order(list(found.steps), found.peak, best)


class _Search:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.live = Live(graph.layout)
        self.count = len(graph.steps)
        self.simple = all(len(block.bases) == 1 for block in graph.layout.blocks)
        self.followers: list[list[int]] = [[] for _ in graph.steps]
        for number, before in enumerate(graph.after):
            while before:
                self.followers[(before & -before).bit_length() - 1].append(number)
                before &= before - 1
        live = frozenset(base for base in graph.given if graph.readers[base] or base in graph.kept)
        room = self.live.room(set(live))
        first = tuple(number for number, before in enumerate(graph.after) if not before)
        self.start = _State(0, live, room, self.live.room(set(graph.given)), (), first)

    def run(self, state: _State, step: int) -> _State:
        graph = self.graph
        written = [base for base in graph.writes[step] if base not in state.live]
        during = state.live.union(written)
        gone = [base for base in (*graph.reads[step], *written) if graph.dies(base, step, state.done)]
        after = during.difference(gone)
        if self.simple:
            most = state.room + sum(base.size for base in written)
            room = most - sum(base.size for base in dict.fromkeys(gone))
        else:
            most, room = self.live.room(set(during)), self.live.room(set(after))
        workspace = graph.steps[step].workspace
        most += workspace - gain(graph.usable(step, state.done))
        done = state.done | 1 << step
        freed = [one for one in self.followers[step] if not graph.after[one] & ~done]
        ready = tuple(sorted([one for one in state.ready if one != step] + freed))
        return _State(done, after, room, max(state.peak, most), (*state.steps, step), ready)

    def along(self, steps: range) -> _State:
        state = self.start
        for step in steps:
            state = self.run(state, step)
        return state

    def settle(self, state: _State) -> tuple[_State, list[_State]]:
        """Runs all steps that cannot increase memory. Returns the state after them and the states that can follow
        it."""
        while True:
            following = [self.run(state, step) for step in state.ready]
            free = [after for after in following if after.peak <= state.peak and after.room <= state.room]
            if len(following) == 1:
                free = following
            if not free:
                return state, following
            state = free[0]

    def exact(self) -> tuple[_State | None, bool]:
        """Returns the best order, or None if there are too many sets of steps."""
        everything = (1 << self.count) - 1
        heap: list[tuple[int, int, int, _State]] = [(self.start.peak, 0, 0, self.start)]
        seen: set[int] = set()
        entries = 0
        while heap:
            _, _, _, state = heapq.heappop(heap)
            if state.done in seen:
                continue
            seen.add(state.done)
            if len(seen) > STATES:
                return None, False
            state, following = self.settle(state)
            if state.done == everything:
                if state.peak <= (heap[0][0] if heap else state.peak):
                    return state, True
                entries += 1
                heapq.heappush(heap, (state.peak, -self.count - 1, entries, state))
                seen.discard(state.done)
                continue
            for after in following:
                if after.done not in seen:
                    entries += 1
                    heapq.heappush(heap, (after.peak, -len(after.steps), entries, after))
        raise ValueError("the steps form a cycle")

    def beam(self) -> _State:
        states = [self.start]
        while len(states[0].steps) < self.count:
            following: dict[int, _State] = {}
            for state in states:
                for step in state.ready:
                    after = self.run(state, step)
                    known = following.get(after.done)
                    if known is None or (after.peak, after.steps) < (known.peak, known.steps):
                        following[after.done] = after
            if not following:
                raise ValueError("the steps form a cycle")
            states = sorted(following.values(), key=lambda one: (one.peak, one.room, one.steps))[:BEAM]
        return states[0]
