"""Splits a command line: `--name=value`, `--name value` and `--name = value` are the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from mslite.converter.spelling import nearest

Takes = Callable[[str], bool]
"""Whether a word that follows a flag can be its value."""


def is_value(word: str) -> bool:
    """Returns whether a word can be the value of a flag that needs one. It may begin with one `-`, as numbers do."""
    return not word.startswith("--") and word != "-h"


def is_bare(word: str) -> bool:
    """Returns whether a word can be the value of a flag that may be given without one."""
    return not word.startswith("-")


def joined(words: Sequence[str], takes: Callable[[str], Takes | None]) -> Iterator[str]:
    """Yields the words, with each flag and its value joined to `--name=value`.

    `takes` returns, for the name of a flag, the function that decides whether a word can be its value, or None.
    """
    left = iter(range(len(words)))
    for i in left:
        word = words[i]
        if word == "--":
            yield from words[i:]
            return
        known = takes(word[2:]) if word.startswith("--") else None
        following = words[i + 1 : i + 3]
        if known is None or not following:
            yield word
        elif following[0] == "=" and len(following) == 2 and known(following[1]):
            yield f"{word}={following[1]}"
            next(islice(left, 1, 2))
        elif known(following[0]):
            yield f"{word}={following[0]}"
            next(left)
        else:
            yield word


_SHORT = 6
"""A shorter name may differ from the suggested flag in one letter only, not in two."""


_USUAL = ("output", "outputFile", "modelFile", "models")
"""Flags that are suggested for `-o` and `-m`."""


_MIN = 3
"""Shorter words are not searched for within names."""


def canonical(text: str, allowed: Collection[str]) -> str | None:
    """Returns the allowed value that `text` names; an exact match first, then any case. None if there is none."""
    return next((one for one in allowed if one == text), None) or next(
        (one for one in allowed if one.lower() == text.lower()), None
    )


def _holding(word: str, names: Collection[str]) -> str | None:
    """Returns the only name that begins with the word, else the most usual of these, else the only one that contains
    it."""
    begun = [one for one in names if word and one.lower().startswith(word)]
    usual = [one for one in begun if one in _USUAL]
    held = [one for one in names if len(word) >= _MIN and word in one.lower()]
    return next((one[0] for one in (begun, usual, held) if len(one) == 1), None)


def suggested_flag(word: str, names: Collection[str]) -> str:
    """Returns the end of a message about an unknown flag: the closest flag, or how flags are written."""
    name = word.lstrip("-").partition("=")[0]
    near = nearest(name, names, 1 if len(name) < _SHORT else 2) or _holding(name.lower(), names)
    if near:
        return f". Did you mean --{near}?"
    if word.startswith("--"):
        return ""
    return ". Flags are --name=value or --name value; values with blanks need quotes"
