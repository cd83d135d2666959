"""Lifetimes of buffers, from which the rules for their placement follow.

Time is counted in ticks: one for the state before the run, then one for each step. A buffer ("thing") is memory that
gets one offset: a block, blocks that share an address because a step works in place, or the workspace of a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from mslite.codegen.memory.placement import Interval, Problem

TICKS = 40
"""Number of ticks with the most memory that the exact search uses to prune."""


@dataclass(frozen=True)
class Span:
    """The bytes `low` to `high` of a buffer are in use from tick `first` to tick `last`."""

    first: int
    last: int
    low: int
    high: int


@dataclass(eq=False)
class PlacedBuffer:
    """A buffer: memory that gets one offset. `spans`: the times at which its bytes are in use."""

    name: str
    size: int = 0
    spans: list[Span] = field(default_factory=list)

    def use(self, first: int, last: int, low: int, high: int) -> None:
        """Adds a span. Spans may overlap in time until `settle` is called."""
        if first <= last and low < high:
            self.spans.append(Span(first, last, low, high))
            self.size = max(self.size, high)

    def settle(self) -> None:
        """Replaces the spans by spans that do not overlap in time, each from its first to its last byte in use."""
        if len(self.spans) < 2:
            return
        edges = sorted({span.first for span in self.spans} | {span.last + 1 for span in self.spans})
        found: list[Span] = []
        for first, end in pairwise(edges):
            live = [span for span in self.spans if span.first <= first <= span.last]
            if not live:
                continue
            low, high = min(span.low for span in live), max(span.high for span in live)
            if found and (found[-1].last + 1, found[-1].low, found[-1].high) == (first, low, high):
                found[-1] = Span(found[-1].first, end - 1, low, high)
            else:
                found.append(Span(first, end - 1, low, high))
        self.spans = found


@dataclass(eq=False)
class Timeline:
    """Buffers of a program. `relaxed`: for a tick and two buffers (made, taken) that may share memory, the forbidden
    open intervals of offset(made) - offset(taken); `spared`: largest number of bytes that this saves at the tick."""

    things: list[PlacedBuffer] = field(default_factory=list)
    relaxed: dict[tuple[int, PlacedBuffer, PlacedBuffer], list[Interval]] = field(default_factory=dict)
    spared: dict[int, int] = field(default_factory=dict)
    needs: dict[int, int] = field(default_factory=dict)
    """Lower bound of the bytes that each tick needs; set by `problem`."""

    @property
    def peak_tick(self) -> int:
        """The first of the ticks that need the most bytes."""
        return min(self.needs, key=lambda tick: (-self.needs[tick], tick), default=0)

    def problem(self, alignment: int) -> Problem:
        """Returns a placement problem with the buffers, sorted by the beginning of their lifetimes, and lower bounds.

        `add_rules` adds the forbidden offsets."""
        for thing in self.things:
            thing.settle()
        self.things = sorted((thing for thing in self.things if thing.spans), key=lambda thing: thing.spans[0].first)
        problem = Problem(alignment)
        for thing in self.things:
            problem.add(thing.size)
        self._fill_ticks(problem)
        return problem

    def add_rules(self, problem: Problem) -> None:
        """Forbids the differences of offsets with which buffers would overwrite each other."""
        shared: dict[tuple[PlacedBuffer, PlacedBuffer], dict[int, list[Interval]]] = {}
        for (tick, made, taken), intervals in self.relaxed.items():
            shared.setdefault((made, taken), {})[tick] = intervals
            shared.setdefault((taken, made), {})[tick] = [(-high, -low) for low, high in intervals]
        for place, one in enumerate(self.things):
            last = one.spans[-1].last
            for later, other in enumerate(self.things[place + 1 :], place + 1):
                if other.spans[0].first > last:
                    break
                problem.forbid(place, later, _forbidden(one, other, shared.get((one, other), {})))

    def _fill_ticks(self, problem: Problem) -> None:
        sizes_at: dict[int, dict[int, int]] = {}
        lows: dict[int, int] = {}
        for number, thing in enumerate(self.things):
            for span in thing.spans:
                for tick in range(span.first, span.last + 1):
                    sizes_at.setdefault(tick, {})[number] = span.high - span.low
                    lows[tick] = max(lows.get(tick, 0), span.low)
        bounds: dict[int, int] = {}
        for tick, live in sizes_at.items():
            bounds[tick] = sum(live.values()) - self.spared.get(tick, 0)
            if (
                not self.spared.get(tick) and not lows[tick]
            ):  # all but the topmost end before a multiple of the alignment
                padding = [-room % problem.alignment for room in live.values()]
                bounds[tick] += sum(padding) - max(padding)
        self.needs = bounds
        problem.bound = max(bounds.values(), default=0)
        known: set[tuple[tuple[int, int], ...]] = set()
        for tick in sorted(bounds, key=lambda tick: (-bounds[tick], tick)):
            if tuple(sizes_at[tick].items()) not in known and len(known) < TICKS:
                known.add(tuple(sizes_at[tick].items()))
                problem.ticks.append((sizes_at[tick], self.spared.get(tick, 0)))


def _forbidden(one: PlacedBuffer, other: PlacedBuffer, shared: dict[int, list[Interval]]) -> list[Interval]:
    found: set[Interval] = set()
    for a in one.spans:
        for b in other.spans:
            first, last = max(a.first, b.first), min(a.last, b.last)
            if first > last:
                continue
            special = [tick for tick in shared if first <= tick <= last]
            for tick in special:
                found.update(shared[tick])
            if len(special) <= last - first:
                found.add((b.low - a.high, b.high - a.low))
    return unite(found)


def unite(intervals: Iterable[Interval]) -> list[Interval]:
    """Returns the union of open intervals of integers, without empty ones. A point between two intervals stays
    allowed."""
    found: list[Interval] = []
    for low, high in sorted(intervals):
        if high - low < 2:
            continue
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def shared_intervals(made: int, taken: int, in_place: bool, lead: int) -> list[Interval]:
    """Returns the forbidden differences address(made) - address(taken) of an output of `made` bytes that may share
    memory with an input of `taken` bytes."""
    below = min(made, lead) if lead >= 0 else made
    return [(-below, 0), (0, taken)] if in_place else [(-below, taken)]
