"""Finds offsets of buffers for the smallest arena, with a bounded search.

For each pair of buffers, the forbidden differences of their offsets are a union of open intervals. This one kind of
rule covers buffers that must not overlap (-size of one, size of the other), buffers that may share an address, and
buffers that may overlap partly. Buffers are placed one after the other at the lowest possible offset; the search is
over the order of placement.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Interval = tuple[int, int]
ROUNDS = 400
"""Scale of the number of orders that the local search tries; it tries more if there are few buffers."""
WORK = 4_000_000
"""Limit of the local search: buffers^2 * orders."""
EXACT = 100
"""Largest number of buffers for the exact search."""
NODES = 6_000
"""Limit of the exact search, in nodes of the search tree."""


@dataclass(eq=False)
class Problem:
    """A placement problem. Buffers are numbered.

    `forbidden[i][j]`: open intervals that must not contain offset i - offset j; stored for both directions. `ticks`:
    the bytes in use of each buffer that is live at a tick, and the largest number of bytes that sharing saves at this
    tick. `bound`:
    lower bound for the arena.
    """

    alignment: int
    sizes: list[int] = field(default_factory=list)
    forbidden: list[dict[int, list[Interval]]] = field(default_factory=list)
    ticks: list[tuple[dict[int, int], int]] = field(default_factory=list)
    bound: int = 0
    boundary: int = 0
    """An offset that no buffer may cross (end of the fast memory); 0: none."""

    def add(self, size: int) -> int:
        self.sizes.append(size)
        self.forbidden.append({})
        return len(self.sizes) - 1

    def forbid(self, one: int, other: int, intervals: list[Interval]) -> None:
        """Forbids `intervals` for the offset of `one` minus that of `other`."""
        if intervals:
            self.forbidden[one][other] = intervals
            self.forbidden[other][one] = sorted((-high, -low) for low, high in intervals)


@dataclass(frozen=True)
class Placement:
    offsets: list[int]
    size: int
    best: bool
    """Whether no smaller arena is possible."""


def place(problem: Problem, seed: int = 0, effort: float = 1.0) -> Placement:
    """Returns the best placement that a bounded, reproducible search finds. `effort`: fraction of the limits to use."""
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
    """Returns orders that are good in practice. Buffers are numbered by the beginning of their lifetimes."""
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
    """Returns the lowest offset from `start` that is allowed for `thing` by the placed buffers (offset not -1)."""
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
    # The break is correct: intervals are sorted by their beginnings and are open, so a position at a beginning is
    # outside.
    return position


def fit(problem: Problem, order: list[int]) -> Placement:
    """Places buffers in this order, each at the lowest possible offset."""
    offsets, size = [-1] * len(problem.sizes), 0
    for thing in order:
        offsets[thing] = _lowest(problem, thing, offsets)
        size = max(size, offsets[thing] + problem.sizes[thing])
    return Placement(offsets, size, best=False)


def _local_search(problem: Problem, best: Placement, seed: int, effort: float) -> Placement:
    """Local search over orders: moves one of the topmost buffers forward, or swaps two random ones, and keeps orders
    that are not worse."""
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
    """Branch and bound over orders of placement with non-decreasing offsets. If each pair has a single forbidden
    interval, one of these orders gives the smallest arena."""

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
                    return  # the offset can only grow
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
        """Returns whether the unplaced buffers of some tick do not fit above `floor` within the best size."""
        return any(
            floor + sum(room for thing, room in live.items() if offsets[thing] < 0) - spared >= self.best.size
            for live, spared in self.problem.ticks
        )
