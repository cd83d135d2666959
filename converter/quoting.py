"""Names and texts of a model file, as messages and reports quote them."""

from __future__ import annotations

import re

LONGEST = 120
"""Characters of a name that are shown."""

_LONGEST_LINE = 2000
_LONG_QUOTES = re.compile(rf"'([^'\n]{{{LONGEST + 1},}})'")
_LONG_WORDS = re.compile(rf"[^\s/]{{{2 * LONGEST},}}")
"""Of a path, the folders are words of their own."""


def shortened(text: str, limit: int = LONGEST) -> str:
    """One printable line of at most `limit` characters: of a longer text its beginning and its end."""
    if len(text) > 2 * limit:
        text = f"{text[:limit]}{text[-limit:]}"  # a length that is cut again below
    line = "".join(character if character.isprintable() else "?" for character in text)
    if len(line) <= limit:
        return line
    head = (limit - 3) * 2 // 3
    return f"{line[:head]}...{line[-(limit - 3 - head) :]}"


def quoted(text: str, limit: int = LONGEST) -> str:
    """As `shortened`, between quotation marks."""
    return f"'{shortened(text, limit)}'"


def counted(number: int, what: str) -> str:
    """1 input, 2 inputs."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def readable(text: str, limit: int = _LONGEST_LINE) -> str:
    """A message that may quote the file, its lines kept: what is quoted, words and lines of any length are shortened."""
    return "\n".join(_readable_line(line, limit) for line in text.split("\n"))


def _readable_line(line: str, limit: int) -> str:
    if len(line) <= LONGEST:
        return line
    line = _LONG_QUOTES.sub(lambda match: quoted(match[1]), line)
    line = _LONG_WORDS.sub(lambda match: shortened(match[0]), line)
    return line if len(line) <= limit else shortened(line, limit)
