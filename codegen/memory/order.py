"""The order of the steps that needs the least memory.

What is live after some steps depends only on which steps these were, so the search goes over the sets of steps that can have
been run (the downsets of the graph), each visited once, in the order of the peak that leads to it: the first time all steps are
reached is the best order. Where there are too many sets, a beam of the best ones goes on. A step that can run without raising the
peak and leaves no more behind than it found is run at once: waiting with it cannot help.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from mslite.codegen.memory.graph import Graph, Live, gain
from mslite.codegen.program import Tensor

STATES = 20_000
"""So many sets of steps are looked at before the beam takes over: seconds, and the same on every machine."""
BEAM = 48


@dataclass(frozen=True)
class _State:
    done: int
    live: frozenset[Tensor]
    room: int
    peak: int
    steps: tuple[int, ...]
    ready: tuple[int, ...]
    """Steps that can be run next, in the given order."""


@dataclass(frozen=True)
class Order:
    """`peak`: bytes that are live at the same time in the worst step; no placement needs less. `best`: no other order has a
    lower peak."""

    steps: list[int]
    peak: int
    best: bool


def find_order(graph: Graph, reorder: bool = True) -> Order:
    """The best order, or the given one with its peak when `reorder` is False."""
    search = _Search(graph)
    given = search.along(range(len(graph.steps)))
    if not reorder or len(graph.steps) < 2:
        return Order(list(given.steps), given.peak, best=False)
    found, best = search.exact()
    if found is None:
        found = search.beam()
    if found.peak >= given.peak:  # the given order is as good: stay with it
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
        """Runs what is free to run; the states that follow then."""
        while True:
            following = [self.run(state, step) for step in state.ready]
            free = [after for after in following if after.peak <= state.peak and after.room <= state.room]
            if len(following) == 1:
                free = following
            if not free:
                return state, following
            state = free[0]

    def exact(self) -> tuple[_State | None, bool]:
        """The best order; None when there are too many sets of steps."""
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
