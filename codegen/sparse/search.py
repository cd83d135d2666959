"""Chooses by contribution per byte, under a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from mslite.codegen.sparse.choices import Choice

Price = Callable[[Collection[Choice]], int]
"""Bytes of a set of choices."""
_LOOKED_AT = 4
"""So many of the best are planned with what is chosen already, before one is added."""
_FREE = 64
"""Bytes that what costs nothing is taken to cost: contributions decide there."""


@dataclass(frozen=True)
class Added:
    """A choice and the bytes of all that is chosen with it; None where nobody has asked for them."""

    choice: Choice
    contribution: float
    bytes: int | None


@dataclass
class Found:
    """In the order in which the search added it. `first`: with what it began."""

    first: Sequence[Choice]
    added: list[Added] = field(default_factory=list)

    @property
    def chosen(self) -> list[Choice]:
        """Without the shares that larger ones of the same weights took the place of."""
        every = [*self.first, *(one.choice for one in self.added)]
        return [one for one in every if not any(_replaces(other, one) and other.share > one.share for other in every)]

    def take_back(self) -> None:
        """What was added last."""
        self.added.pop()


def search(first: Sequence[Choice], contributions: Mapping[Choice, float], price: Price, budget: int) -> Found:
    """Begins with `first`, which fits, and adds what contributes most for its bytes as long as it fits.

    What a choice costs depends on the others: once gradients reach a layer, those behind it cost little more. So prices of the best
    are asked for again after each addition; others keep their last one. Shares of one layer's weights replace each other.
    """
    found = Found(first)
    now = price(found.chosen)
    costs = {choice: price([*first, choice]) - now for choice in contributions}
    open_ = set(contributions)
    while True:
        ranked = sorted(
            _open(open_, found.chosen, contributions), key=lambda one: -_worth(one, found, contributions, costs)
        )
        fitting: list[tuple[float, Choice, int]] = []
        for choice in ranked:
            total = price([*found.chosen, choice])
            costs[choice] = total - now
            if total > budget:
                open_.discard(choice)  # with more chosen it does not fit either
            else:
                fitting.append((_worth(choice, found, contributions, costs), choice, total))
            if len(fitting) == _LOOKED_AT:
                break
        if not fitting:
            return found
        _, best, now = max(fitting, key=lambda one: one[0])
        found.added.append(Added(best, _gain(best, found.chosen, contributions), now))


def from_the_end(
    first: Sequence[Choice], contributions: Mapping[Choice, float], price: Price, budget: int, share: Fraction
) -> Found:
    """The last layers, with their biases and this share of their weights, as far back as they fit; `contributions` are in the order of the
    forward pass.

    How far that is, is found by halving: the more layers, the more bytes. So few sets are planned, of which each takes long.
    """
    choices = [choice for choice in reversed(list(contributions)) if choice.share in (0, share)]
    totals: dict[int, int] = {}
    fit, least_unfit = 0, len(choices) + 1
    while least_unfit - fit > 1:
        count = (fit + least_unfit) // 2
        totals[count] = price(Found(first, [Added(one, 0.0, None) for one in choices[:count]]).chosen)
        if totals[count] > budget:
            least_unfit = count
        else:
            fit = count
    added = [Added(choice, contributions[choice], totals.get(number)) for number, choice in enumerate(choices[:fit], 1)]
    return Found(first, added)


def _replaces(choice: Choice, other: Choice) -> bool:
    return bool(choice.share and other.share) and choice.layer == other.layer


def _open(left: Collection[Choice], chosen: Collection[Choice], contributions: Mapping[Choice, float]) -> list[Choice]:
    """What is not chosen and would add something."""
    return [
        choice
        for choice in contributions
        if choice in left and choice not in chosen and _gain(choice, chosen, contributions) > 0
    ]


def _gain(choice: Choice, chosen: Collection[Choice], contributions: Mapping[Choice, float]) -> float:
    """Its contribution, less that of the smaller share that it takes the place of; nothing where a larger one is chosen."""
    if any(_replaces(choice, one) and one.share > choice.share for one in chosen):
        return 0.0
    return contributions[choice] - sum(contributions.get(one, 0.0) for one in chosen if _replaces(choice, one))


def _worth(choice: Choice, found: Found, contributions: Mapping[Choice, float], costs: Mapping[Choice, int]) -> float:
    return _gain(choice, found.chosen, contributions) / max(costs[choice], _FREE)
