"""Values of configuration keys, in any case: each parser raises ValueError with what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Any

from mslite.converter.command_words import canonical

Parser = Callable[[str], Any]


def integer(low: int, high: int) -> Parser:
    """Whole numbers from `low` to `high`."""

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
    """Numbers between `low` and `high`, both excluded."""

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
    """true or false."""
    found = canonical(text, ("true", "false"))
    if found is None:
        raise ValueError("true|false")
    return found == "true"


def choice(*allowed: str) -> Parser:
    """One of some texts."""

    def parse(text: str) -> str:
        found = canonical(text, allowed)
        if found is None:
            raise ValueError("|".join(filter(None, allowed)))
        return found

    return parse


def member(kind: type[Enum], spellings: Mapping[str, str] | None = None) -> Parser:
    """A member of an enumeration by its value, or by another spelling of it."""

    def parse(text: str) -> Enum:
        known = {member.value: member for member in kind}
        others = {word: known[value] for word, value in (spellings or {}).items()}
        found = canonical(text, (*known, *others))
        if found is None:
            raise ValueError("|".join(value for value in known if value))
        return known.get(found) or others[found]

    return parse


def names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name for name in text.split(",") if name)


def folder(text: str) -> Path | None:
    """A path."""
    return Path(text) if text else None


def reals(text: str) -> tuple[float, ...]:
    """Numbers in brackets."""
    if not text.startswith("[") or not text.endswith("]"):
        raise ValueError("numbers in brackets, as [127.5,127.5,127.5]")
    try:
        return tuple(float(part) for part in text[1:-1].split(","))
    except ValueError:
        raise ValueError("numbers in brackets, as [127.5,127.5,127.5]") from None


def folders(text: str) -> dict[str, Path]:
    """`input:folder,other:folder2`; an input's name may itself have colons, a folder not."""
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
    """A field of a section's dataclass."""
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"parse": parse})
    return field(default=default, metadata={"parse": parse})


SIZE = integer(1, 65535)
"""Of an image, or a number of files."""
