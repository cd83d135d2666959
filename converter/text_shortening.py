"""Shortens and quotes names and texts of a model file for messages and reports."""

from __future__ import annotations

import re

LONGEST = 120
"""Most characters of a name that are shown."""

_LONGEST_LINE = 2000
_LONG_QUOTES = re.compile(rf"'([^'\n]{{{LONGEST + 1},}})'")
_LONG_WORDS = re.compile(rf"[^\s/]{{{2 * LONGEST},}}")
"""Words are separated by blanks and by `/`, so that each folder of a path is a word."""


def shortened(text: str, limit: int = LONGEST) -> str:
    """Returns one printable line of at most `limit` characters: the beginning and the end of a longer text."""
    if len(text) > 2 * limit:
        text = f"{text[:limit]}{text[-limit:]}"  # bounds the work below, which shortens it again
    line = "".join(character if character.isprintable() else "?" for character in text)
    if len(line) <= limit:
        return line
    head = (limit - 3) * 2 // 3
    return f"{line[:head]}...{line[-(limit - 3 - head) :]}"


def quoted(text: str, limit: int = LONGEST) -> str:
    """Returns the shortened text in quotation marks."""
    return f"'{shortened(text, limit)}'"


def counted(number: int, what: str) -> str:
    """Returns a count with its noun: "1 input", "2 inputs"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def readable(text: str, limit: int = _LONGEST_LINE) -> str:
    """Shortens long quotations, words and lines in a message that quotes the file; line breaks are kept."""
    return "\n".join(_readable_line(line, limit) for line in text.split("\n"))


def _readable_line(line: str, limit: int) -> str:
    if len(line) <= LONGEST:
        return line
    line = _LONG_QUOTES.sub(lambda match: quoted(match[1]), line)
    line = _LONG_WORDS.sub(lambda match: shortened(match[0]), line)
    return line if len(line) <= limit else shortened(line, limit)
