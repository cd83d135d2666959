"""Searches for the candidates with the largest contribution per byte within a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from mslite.codegen.sparse.candidates import UpdateCandidate

Price = Callable[[Collection[UpdateCandidate]], int]
"""Computes the arena in bytes of a set of candidates."""
_LOOKED_AT = 4
"""Number of best candidates whose memory is computed again before one of them is added."""
_FREE = 64
"""Smallest cost of a candidate in bytes, so that candidates without cost are ranked by contribution."""


@dataclass(frozen=True)
class Added:
    """An added candidate. `bytes`: arena of the whole set up to it; None if it was not computed."""

    choice: UpdateCandidate
    contribution: float
    bytes: int | None


@dataclass
class UpdateSearchResult:
    """Result of a search. `first`: candidates that it began with; `added`: candidates in the order of addition."""

    first: Sequence[UpdateCandidate]
    added: list[Added] = field(default_factory=list)

    @property
    def chosen(self) -> list[UpdateCandidate]:
        """All candidates, without those that a larger share of the same weights replaces."""
        every = [*self.first, *(one.choice for one in self.added)]
        return [one for one in every if not any(_replaces(other, one) and other.share > one.share for other in every)]

    def take_back(self) -> None:
        """Removes the candidate that was added last."""
        self.added.pop()


def search(
    first: Sequence[UpdateCandidate], contributions: Mapping[UpdateCandidate, float], price: Price, budget: int
) -> UpdateSearchResult:
    """Begins with `first`, which fits, and adds the candidates with the largest contribution per byte while they fit.

    The cost of a candidate depends on the others: once gradients reach a layer, the layers after it cost little more.
    So the costs of the best candidates are computed again after each addition; others keep their last value. A larger
    share of a layer's weights replaces a smaller one.
    """
    found = UpdateSearchResult(first)
    now = price(found.chosen)
    costs = {choice: price([*first, choice]) - now for choice in contributions}
    open_ = set(contributions)
    while True:
        ranked = sorted(
            _open(open_, found.chosen, contributions), key=lambda one: -_worth(one, found, contributions, costs)
        )
        fitting: list[tuple[float, UpdateCandidate, int]] = []
        for choice in ranked:
            total = price([*found.chosen, choice])
            costs[choice] = total - now
            if total > budget:
                open_.discard(choice)  # it does not fit a larger set either
            else:
                fitting.append((_worth(choice, found, contributions, costs), choice, total))
            if len(fitting) == _LOOKED_AT:
                break
        if not fitting:
            return found
        _, best, now = max(fitting, key=lambda one: one[0])
        found.added.append(Added(best, _gain(best, found.chosen, contributions), now))


def last_layers(
    first: Sequence[UpdateCandidate],
    contributions: Mapping[UpdateCandidate, float],
    price: Price,
    budget: int,
    share: Fraction,
) -> UpdateSearchResult:
    """Selects the largest number of last layers that fit, with their biases and this share of their weights.

    `contributions` are in the order of the forward pass. The number is found by bisection, because memory grows with
    the number of layers and planning a set is slow.
    """
    choices = [choice for choice in reversed(list(contributions)) if choice.share in (0, share)]
    totals: dict[int, int] = {}
    fit, least_unfit = 0, len(choices) + 1
    while least_unfit - fit > 1:
        count = (fit + least_unfit) // 2
        totals[count] = price(UpdateSearchResult(first, [Added(one, 0.0, None) for one in choices[:count]]).chosen)
        if totals[count] > budget:
            least_unfit = count
        else:
            fit = count
    added = [Added(choice, contributions[choice], totals.get(number)) for number, choice in enumerate(choices[:fit], 1)]
    return UpdateSearchResult(first, added)


def _replaces(choice: UpdateCandidate, other: UpdateCandidate) -> bool:
    return bool(choice.share and other.share) and choice.layer == other.layer


def _open(
    left: Collection[UpdateCandidate],
    chosen: Collection[UpdateCandidate],
    contributions: Mapping[UpdateCandidate, float],
) -> list[UpdateCandidate]:
    """Returns the candidates of `left` that are not selected and have a positive gain."""
    return [
        choice
        for choice in contributions
        if choice in left and choice not in chosen and _gain(choice, chosen, contributions) > 0
    ]


def _gain(
    choice: UpdateCandidate, chosen: Collection[UpdateCandidate], contributions: Mapping[UpdateCandidate, float]
) -> float:
    """Returns the contribution of a candidate, less that of a smaller share that it replaces; 0 if a larger one is
    selected."""
    if any(_replaces(choice, one) and one.share > choice.share for one in chosen):
        return 0.0
    return contributions[choice] - sum(contributions.get(one, 0.0) for one in chosen if _replaces(choice, one))


def _worth(
    choice: UpdateCandidate,
    found: UpdateSearchResult,
    contributions: Mapping[UpdateCandidate, float],
    costs: Mapping[UpdateCandidate, int],
) -> float:
    return _gain(choice, found.chosen, contributions) / max(costs[choice], _FREE)
