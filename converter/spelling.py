"""What a misspelled name may have meant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from mslite.converter.errors import UsageError
from mslite.converter.quoting import shortened

_NEAR = 2
"""Letters that may be wrong, missing or too many."""


def nearest(name: str, known: Iterable[str], letters: int = _NEAR) -> str | None:
    """The known name from which `name` differs in the fewest letters, and in no more than `letters`; case is no difference."""
    ranked = [(_distance(name.lower(), one.lower(), letters), one) for one in known]
    return min(((count, one) for count, one in ranked if count <= letters), default=(0, None))[1]


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is unknown: what is near it, else all that there is."""
    names = sorted(known)
    # A long name with several errors is still recognized; a short one is not taken for just any other.
    found = nearest(name, names, max(1, min(len(name) // 3, 4)))
    return f"; did you mean `{found}`?" if found else f"; known are {', '.join(names)}"


def check_keys(
    keys: Iterable[str],
    section: str,
    known: Collection[str],
    home: Callable[[str], str | None] = lambda key: None,
) -> None:
    """Raises UsageError for a key that a section does not have. `home` tells the section that has it."""
    for key in keys:
        if key not in known:
            other = home(key)
            rest = f"; it belongs to [{other}]" if other else meant(key, known)
            raise UsageError(f"INPUT ILLEGAL: `{shortened(key)}` is not supported in [{section}]{rest}")


def _distance(a: str, b: str, most: int) -> int:
    """Letters to change, insert, delete or swap with their neighbor (Damerau, 1964); `most` + 1 where there are more."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return min(last[-1], most + 1)
