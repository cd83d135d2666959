"""The words of a command line, as people type them: `--name=value`, `--name value` and `--name = value` say the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from mslite.converter.spelling import nearest

Takes = Callable[[str], bool]
"""Whether a word that follows a flag can be its value."""


def is_value(word: str) -> bool:
    """Of a flag that needs a value: also what begins with one `-`, as numbers may."""
    return not word.startswith("--") and word != "-h"


def is_bare(word: str) -> bool:
    """Of a flag that may stand alone."""
    return not word.startswith("-")


def joined(words: Sequence[str], takes: Callable[[str], Takes | None]) -> Iterator[str]:
    """The same words with each flag and its value in one. `takes` says of a flag's name which words can be its value; None: none."""
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
"""Letters of a name in which two that are wrong are many."""


_USUAL = ("output", "outputFile", "modelFile", "models")
"""What `-o` and `-m` mean to most people."""


_LEAST = 3
"""Letters of a word that is looked for within names."""


def canonical(text: str, allowed: Collection[str]) -> str | None:
    """The allowed value that is meant: case is no difference."""
    return next((one for one in allowed if one == text), None) or next(
        (one for one in allowed if one.lower() == text.lower()), None
    )


def _holding(word: str, names: Collection[str]) -> str | None:
    """The only name that holds the word, or of those that begin with it the usual one."""
    begun = [one for one in names if word and one.lower().startswith(word)]
    usual = [one for one in begun if one in _USUAL]
    held = [one for one in names if len(word) >= _LEAST and word in one.lower()]
    return next((one[0] for one in (begun, usual, held) if len(one) == 1), None)


def meant_flag(word: str, names: Collection[str]) -> str:
    """The end of a message about a word that is no flag: what is near it, else how flags are written."""
    name = word.lstrip("-").partition("=")[0]
    near = nearest(name, names, 1 if len(name) < _SHORT else 2) or _holding(name.lower(), names)
    if near:
        return f". Did you mean --{near}?"
    if word.startswith("--"):
        return ""
    return ". Flags are --name=value or --name value; values with blanks need quotes"
