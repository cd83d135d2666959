"""Suggests known names for misspelled ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from mslite.converter.errors import UsageError
from mslite.converter.text_shortening import shortened

_NEAR = 2
"""Most letters that may be changed, inserted, deleted or swapped."""


def nearest(name: str, known: Iterable[str], letters: int = _NEAR) -> str | None:
    """Returns the known name closest to `name`, with at most `letters` edits, ignoring case; None if there is none."""
    ranked = [(_distance(name.lower(), one.lower(), letters), one) for one in known]
    return min(((count, one) for count, one in ranked if count <= letters), default=(0, None))[1]


def meant(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: the closest known name, or all known names."""
    names = sorted(known)
    # More errors are allowed in a long name than in a short one.
    found = nearest(name, names, max(1, min(len(name) // 3, 4)))
    return f"; did you mean `{found}`?" if found else f"; known names: {', '.join(names)}"


def check_keys(
    keys: Iterable[str],
    section: str,
    known: Collection[str],
    home: Callable[[str], str | None] = lambda key: None,
) -> None:
    """Raises UsageError for an unknown key of a section. `home` returns the section that the key belongs to, or
    None."""
    for key in keys:
        if key not in known:
            other = home(key)
            rest = f"; it belongs to [{other}]" if other else meant(key, known)
            raise UsageError(f"INPUT ILLEGAL: `{shortened(key)}` is not supported in [{section}]{rest}")


def _distance(a: str, b: str, most: int) -> int:
    """Returns the edit distance with swaps of neighbors (Damerau, 1964), or `most` + 1 if it is larger."""
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
