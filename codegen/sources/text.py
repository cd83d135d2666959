"""Small changes to C text that leave its layout as it was."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from .tokens import Token, join, tokenize


def renamed(text: str, renames: Mapping[str, str]) -> str:
    """With other names; nothing is left of MSLITE_ISA_NAME."""
    tokens = [
        Token(token.kind, renames[token.text]) if token.kind == "name" and token.text in renames else token
        for token in tokenize(text)
    ]
    changed = realigned(text, re.sub(r"MSLITE_ISA_NAME\((\w+)\)", r"\1", join(tokens)))
    return _backslashes_aligned(changed) if "\\\n" in changed else changed


def laid_out(body: str) -> str:
    """A macro's body as it would be written without the macro."""
    lines = [line.rstrip() for line in body.replace("\\\n", "\n").split("\n")]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def realigned(old: str, new: str) -> str:
    """`new`, which is `old` with longer or shorter words, with arguments below each other where they were in `old`."""
    before, after = old.split("\n"), new.split("\n")
    if old == new or len(before) != len(after):
        return new
    stack: list[tuple[int, int]] = []  # open brackets: (line, how many there are before it in the line)
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
    """The column of the opening bracket that has `count` others before it."""
    found = [match.start() for match in re.finditer(r"\(", line)]
    return found[count] if count < len(found) else None


def _backslashes_aligned(text: str) -> str:
    lines = text.split("\n")
    bare = [line[:-1].rstrip() if line.endswith("\\") else line for line in lines]
    width = max(len(line) for line, full in zip(bare, lines, strict=True) if full.endswith("\\"))
    return "\n".join(
        f"{line:<{width}} \\" if full.endswith("\\") else line for line, full in zip(bare, lines, strict=True)
    )
