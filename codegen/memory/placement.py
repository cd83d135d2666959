"""Offsets for things that may not lie over each other: the smallest arena that a bounded search finds.

For each pair of things, the differences between their offsets that are forbidden are a union of open intervals, so that a
plain pair (-size of the one, size of the other), a pair that may share an address, and one that may overlap shifted, are one kind
of rule. Things are placed one after the other, each as low as it can go; what is searched is the order of placing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Interval = tuple[int, int]
ROUNDS = 400
"""Orders that the local search tries at least; fewer things are given more."""
WORK = 4_000_000
"""Bound of the local search: things times things times rounds."""
EXACT = 100
"""The exact search is tried for so many things."""
NODES = 6_000
"""Bound of the exact search."""


@dataclass(eq=False)
class Problem:
    """`forbidden[i][j]`: open intervals that offset i less offset j is not in; kept for both directions. `ticks`: the room of each
    thing that is there at the same time, with the bytes that sharing can spare there at most; `bound`: no arena is smaller."""

    alignment: int
    sizes: list[int] = field(default_factory=list)
    forbidden: list[dict[int, list[Interval]]] = field(default_factory=list)
    ticks: list[tuple[dict[int, int], int]] = field(default_factory=list)
    bound: int = 0
    boundary: int = 0
    """A byte that nothing may lie across; 0: there is none."""

    def add(self, size: int) -> int:
        self.sizes.append(size)
        self.forbidden.append({})
        return len(self.sizes) - 1

    def forbid(self, one: int, other: int, intervals: list[Interval]) -> None:
        """Bars `intervals` for the offset of `one` less that of `other`."""
        if intervals:
            self.forbidden[one][other] = intervals
            self.forbidden[other][one] = sorted((-high, -low) for low, high in intervals)


@dataclass(frozen=True)
class Placement:
    offsets: list[int]
    size: int
    best: bool
    """Nothing smaller is possible."""


def place(problem: Problem, seed: int = 0, effort: float = 1.0) -> Placement:
    """The best placement that a bounded, repeatable search finds; `effort` is the share of the bounds that it may use."""
    count = len(problem.sizes)
    if not count:
        return Placement([], 0, best=True)
    best: Placement | None = None
    for order in _orders(problem):
        best = _better(best, fit(problem, order))
        if best.size <= problem.bound:
            return Placement(best.offsets, best.size, best=True)
    assert best is not None
    best = _local_search(problem, best, seed, effort)
    if best.size <= problem.bound:
        return Placement(best.offsets, best.size, best=True)
    return _Exact(problem, best, effort).search() if count <= EXACT else best


def _better(one: Placement | None, other: Placement) -> Placement:
    return other if one is None or other.size < one.size else one


def _orders(problem: Problem) -> list[list[int]]:
    """Orders that are good in practice. Things are numbered in the order of their birth."""
    numbers = list(range(len(problem.sizes)))
    peak = problem.ticks[0][0] if problem.ticks else {}
    weight = {i: sum(problem.sizes[j] for j in problem.forbidden[i]) for i in numbers}
    return [
        sorted(numbers, key=lambda i: -problem.sizes[i]),
        sorted(numbers, key=lambda i: (-problem.sizes[i], -i)),
        sorted(numbers, key=lambda i: (i not in peak, -problem.sizes[i])),
        sorted(numbers, key=lambda i: (i not in peak, -i)),
        sorted(numbers, key=lambda i: (-problem.sizes[i] - weight[i], i)),
        numbers[::-1],
        numbers,
    ]


def _lowest(problem: Problem, thing: int, offsets: list[int], start: int = 0) -> int:
    """The lowest offset from `start` on that the placed things (offset not -1) leave to `thing`."""
    barred = [
        (offsets[other] + low, offsets[other] + high)
        for other, intervals in problem.forbidden[thing].items()
        if offsets[other] >= 0
        for low, high in intervals
    ]
    if problem.boundary:
        barred.append((problem.boundary - problem.sizes[thing], problem.boundary))
    barred.sort()
    position, mask = start, problem.alignment - 1
    for low, high in barred:
        if position <= low:
            break
        if position < high:
            position = (high + mask) & ~mask
    # The break is right: intervals are sorted by their beginnings, and a position at the beginning of one is outside of it.
    return position


def fit(problem: Problem, order: list[int]) -> Placement:
    """Places things in this order, each as low as it can go."""
    offsets, size = [-1] * len(problem.sizes), 0
    for thing in order:
        offsets[thing] = _lowest(problem, thing, offsets)
        size = max(size, offsets[thing] + problem.sizes[thing])
    return Placement(offsets, size, best=False)


def _local_search(problem: Problem, best: Placement, seed: int, effort: float) -> Placement:
    """Moves what sticks out to the front, or exchanges things at random, and keeps what is not worse."""
    count = len(problem.sizes)
    choose = random.Random(seed)
    order = sorted(range(count), key=lambda i: (best.offsets[i], i))
    current = fit(problem, order)
    best = _better(best, current)
    for _ in range(int(effort * max(ROUNDS // 4, min(5 * ROUNDS, WORK // (count * count))))):
        following = list(order)
        top = [i for i in range(count) if current.offsets[i] + problem.sizes[i] == current.size]
        if choose.random() < 0.5:
            thing = choose.choice(top)
            place = following.index(thing)
            following.insert(choose.randrange(place + 1), following.pop(place))
        else:
            one, other = choose.randrange(count), choose.randrange(count)
            following[one], following[other] = following[other], following[one]
        found = fit(problem, following)
        if found.size <= current.size:
            order, current = following, found
            best = _better(best, current)
            if best.size <= problem.bound:
                break
    return best


class _Exact:
    """Branch and bound over the orders of placing, with offsets that do not fall. Where pairs are barred from one interval only,
    some such order gives the smallest arena."""

    def __init__(self, problem: Problem, best: Placement, effort: float) -> None:
        self.problem, self.best = problem, best
        self.nodes, self.limit = 0, int(effort * NODES)
        self.complete = all(len(found) == 1 for row in problem.forbidden for found in row.values())

    def search(self) -> Placement:
        self._go([-1] * len(self.problem.sizes), 0, 0, len(self.problem.sizes))
        done = self.nodes <= self.limit and self.complete
        return Placement(self.best.offsets, self.best.size, best=done or self.best.size <= self.problem.bound)

    def _go(self, offsets: list[int], floor: int, size: int, left: int) -> None:
        self.nodes += 1
        if not left:
            self.best = _better(self.best, Placement(list(offsets), size, best=False))
            return
        if self.nodes > self.limit or self._hopeless(offsets, floor):
            return
        sizes = self.problem.sizes
        places = []
        for thing, offset in enumerate(offsets):
            if offset < 0:
                lowest = _lowest(self.problem, thing, offsets)
                if max(lowest, floor) + sizes[thing] >= self.best.size:
                    return  # it can only rise
                if lowest >= floor:
                    places.append((lowest, -sizes[thing], thing))
        for lowest, _, thing in sorted(places):
            if max(size, lowest + sizes[thing]) < self.best.size:
                offsets[thing] = lowest
                self._go(offsets, lowest, max(size, lowest + sizes[thing]), left - 1)
                offsets[thing] = -1
            if self.best.size <= self.problem.bound or self.nodes > self.limit:
                return

    def _hopeless(self, offsets: list[int], floor: int) -> bool:
        """Whether what is still to be placed at one tick, from `floor` upwards, is too much."""
        return any(
            floor + sum(room for thing, room in live.items() if offsets[thing] < 0) - spared >= self.best.size
            for live, spared in self.problem.ticks
        )
