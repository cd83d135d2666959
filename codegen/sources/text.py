"""Changes C text and keeps its formatting."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from .tokens import Token, join, tokenize


def renamed(text: str, renames: Mapping[str, str]) -> str:
    """Returns the text with names replaced, and MSLITE_ISA_NAME(name) replaced by `name`."""
    tokens = [
        Token(token.kind, renames[token.text]) if token.kind == "name" and token.text in renames else token
        for token in tokenize(text)
    ]
    changed = realigned(text, re.sub(r"MSLITE_ISA_NAME\((\w+)\)", r"\1", join(tokens)))
    return _backslashes_aligned(changed) if "\\\n" in changed else changed


def unwrapped_body(body: str) -> str:
    """Returns a macro's body as ordinary code, without backslashes and indentation."""
    lines = [line.rstrip() for line in body.replace("\\\n", "\n").split("\n")]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def realigned(old: str, new: str) -> str:
    """Returns `new` with continued argument lists aligned as in `old`. `new` is `old` with other words."""
    before, after = old.split("\n"), new.split("\n")
    if old == new or len(before) != len(after):
        return new
    stack: list[tuple[int, int]] = []  # open brackets: (line, number of brackets before it in the line)
    for index, line in enumerate(before):
        if stack and line.strip():
            where, count = stack[-1]
            column, wanted = _bracket(before[where], count), _bracket(after[where], count)
            if wanted is not None and column is not None and _indent(line) == column + 1:
                after[index] = " " * (wanted + 1) + after[index].lstrip()
        brackets = 0
        for character in line:
            if character == "(":
                stack.append((index, brackets))
                brackets += 1
            elif character == ")" and stack:
                stack.pop()
    return "\n".join(after)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bracket(line: str, count: int) -> int | None:
    """Returns the column of the opening bracket number `count` in a line."""
    found = [match.start() for match in re.finditer(r"\(", line)]
    return found[count] if count < len(found) else None


def _backslashes_aligned(text: str) -> str:
    lines = text.split("\n")
    bare = [line[:-1].rstrip() if line.endswith("\\") else line for line in lines]
    width = max(len(line) for line, full in zip(bare, lines, strict=True) if full.endswith("\\"))
    return "\n".join(
        f"{line:<{width}} \\" if full.endswith("\\") else line for line, full in zip(bare, lines, strict=True)
    )
