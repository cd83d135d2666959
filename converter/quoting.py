"""Names and texts of a model file, as messages and reports quote them."""

from __future__ import annotations

LONGEST = 120
"""Characters of a name that are shown."""


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
