"""Parsers for the values of configuration keys. They ignore case and raise ValueError with the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Any

from mslite.converter.command_line import canonical

Parser = Callable[[str], Any]


def integer(low: int, high: int) -> Parser:
    """Returns a parser for integers from `low` to `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise ValueError(f"an integer in [{low}, {high}]")
        return value

    return parse


def real(low: float, high: float, described: str) -> Parser:
    """Returns a parser for floats between `low` and `high`, both excluded. `described` is the text of its error."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low
        if not low < value < high:
            raise ValueError(described)
        return value

    return parse


def boolean(text: str) -> bool:
    """Parses true or false."""
    found = canonical(text, ("true", "false"))
    if found is None:
        raise ValueError("true|false")
    return found == "true"


def choice(*allowed: str) -> Parser:
    """Returns a parser that accepts the texts in `allowed`."""

    def parse(text: str) -> str:
        found = canonical(text, allowed)
        if found is None:
            raise ValueError("|".join(filter(None, allowed)))
        return found

    return parse


def member(kind: type[Enum], spellings: Mapping[str, str] | None = None) -> Parser:
    """Returns a parser for the values of an enumeration. `spellings` are other names -> value."""

    def parse(text: str) -> Enum:
        known = {member.value: member for member in kind}
        others = {word: known[value] for word, value in (spellings or {}).items()}
        found = canonical(text, (*known, *others))
        if found is None:
            raise ValueError("|".join(value for value in known if value))
        return known.get(found) or others[found]

    return parse


def names(text: str) -> tuple[str, ...]:
    """Parses names that are separated by commas."""
    return tuple(name for name in text.split(",") if name)


def folder(text: str) -> Path | None:
    """Parses a path; None if the text is empty."""
    return Path(text) if text else None


def reals(text: str) -> tuple[float, ...]:
    """Parses floats in brackets."""
    if not text.startswith("[") or not text.endswith("]"):
        raise ValueError("numbers in brackets, for example [127.5,127.5,127.5]")
    try:
        return tuple(float(part) for part in text[1:-1].split(","))
    except ValueError:
        raise ValueError("numbers in brackets, for example [127.5,127.5,127.5]") from None


def folders(text: str) -> dict[str, Path]:
    """Parses `input:folder,other:folder2`. The name of an input may contain colons, a folder may not."""
    found: dict[str, Path] = {}
    for part in filter(None, text.split(",")):
        name, colon, path = part.rpartition(":")
        if not colon or not name or not path or name in found:
            raise ValueError("input:folder[,input2:folder2], each input once")
        found[name] = Path(path)
    if not found:
        raise ValueError("input:folder[,input2:folder2]")
    return found


def key(default: Any, parse: Parser) -> Any:
    """Returns a dataclass field for a configuration key with a default value and a parser."""
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"parse": parse})
    return field(default=default, metadata={"parse": parse})


SIZE = integer(1, 65535)
"""Parser for the width or height of an image, or a number of files."""
