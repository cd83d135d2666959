"""Places buffers in two memories, a small fast one and a large slow one, so that the slow one has few accesses.

Both are one range of offsets, with the fast memory first, and no buffer crosses the boundary. Buffers are placed by
decreasing accesses per byte, each at the lowest possible offset, so that the first ones are in the fast memory.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from mslite.codegen.memory.placement import Placement, Problem, fit

TRIES = 1500
"""Number of orders that the local search tries."""


def place_in_tiers(problem: Problem, accesses: Sequence[int], fast_size: int, seed: int = 0) -> Placement:
    """Returns the placement with the fewest accesses to slow memory that a bounded search finds; if equal, the smaller
    one."""
    problem.boundary = fast_size
    numbers = list(range(len(problem.sizes)))

    def cost(placement: Placement) -> tuple[int, int]:
        return slow_accesses(placement, accesses, fast_size), placement.size

    density = [count / max(1, size) for count, size in zip(accesses, problem.sizes, strict=True)]
    orders = [
        sorted(numbers, key=lambda i: (-density[i], -problem.sizes[i], i)),
        sorted(numbers, key=lambda i: (-accesses[i], i)),
        sorted(numbers, key=lambda i: (-problem.sizes[i], i)),
    ]
    found = [(fit(problem, order), order) for order in orders]
    best, order = min(found, key=lambda one: cost(one[0]))
    least, current = cost(best), cost(best)
    choose = random.Random(seed)
    for _ in range(TRIES if len(numbers) > 1 else 0):
        if not least[0]:
            break
        following = list(order)
        place = choose.randrange(len(following))
        following.insert(choose.randrange(len(following)), following.pop(place))
        tried = fit(problem, following)
        if cost(tried) <= current:
            order, current = following, cost(tried)
            if current < least:
                best, least = tried, current
    return best


def slow_accesses(placement: Placement, accesses: Sequence[int], fast_size: int) -> int:
    """Returns the bytes that a run reads and writes in slow memory."""
    return sum(count for count, offset in zip(accesses, placement.offsets, strict=True) if offset >= fast_size)
