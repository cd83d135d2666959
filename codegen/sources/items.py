"""Parses the top level of a C file: declarations, definitions, macros, and macro calls that expand to these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .macros import Table, call_at, expand, substitute
from .text import realigned, unwrapped_body
from .tokens import KEYWORDS, Token, join, matching, significant, tokenize


@dataclass(eq=False)
class Item:
    """A declaration, definition, macro, or a macro call that expands to some of these (`parts`)."""

    kind: str
    """function, declaration, type, enum, variable, define, undef, include or call."""
    text: str
    table: Table
    comment: str = ""
    spaced: bool = False
    """Whether there is a blank line before it."""
    names: tuple[str, ...] = ()
    is_static: bool = False
    parts: list[Item] = field(default_factory=list)
    macro: str = ""
    """Name of the macro, for a call."""
    opened: tuple[tuple[int, int], ...] = ()
    """Open preprocessor conditions around it: (index of the condition, index of the branch)."""

    def all(self) -> Iterator[Item]:
        """Yields the item and all its parts, recursively."""
        yield self
        for part in self.parts:
            yield from part.all()

    def leaves(self) -> Iterator[Item]:
        """Yields the declarations and definitions that it consists of or expands to."""
        if self.kind == "call":
            for part in self.parts:
                yield from part.leaves()
        else:
            yield self


def offsets(tokens: list[Token]) -> Iterator[int]:
    """Yields the offset of each token in the text."""
    at = 0
    for token in tokens:
        yield at
        at += len(token.text)


def code_end(text: str, at: int, tokens: list[Token], table: Table) -> int:
    """Returns the end of the declaration, definition or macro call at `at`, with a comment in the same line. `tokens`
    begin there."""
    first = tokens[0]
    macro = table.get(first.text)
    end = -1
    if macro is not None and macro.parameters is not None and macro.name != "MSLITE_ISA_NAME":
        call = call_at(tokens, 0, macro)
        if call is not None:
            end = call[1]
            if end + 1 < len(tokens) and tokens[end + 1].text == ";":
                end += 1
    if end < 0:
        end = _declaration_end(tokens)
    length = len(join(tokens[: end + 1]))
    rest = re.compile(r"[ \t]*(/\*[^\n]*\*/)?[ \t]*\n?").match(text, at + length)
    return rest.end() if rest else at + length


def _declaration_end(tokens: list[Token]) -> int:
    index, is_type, before = 0, False, ""
    while index < len(tokens):
        token = tokens[index]
        if token.text in ("typedef", "struct", "enum", "union") and before != ")":
            is_type = True
        if token.text == "=" or token.text == "(":
            is_type = is_type and token.text != "("
        if token.kind == "mark" and token.text in "([{":
            index = matching(tokens, index)
            if token.text == "{" and before in (")", "name") and not is_type:
                return index
            before = tokens[index].text
        elif token.text == ";":
            return index
        elif not token.is_blank:
            before = "=" if token.text == "=" else token.text
        index += 1
    raise ValueError(f"no end of {join(tokens)[:80]}")


def make_item(text: str, table: Table) -> Item:
    """Makes an item from one declaration, definition or macro call."""
    tokens = significant(tokenize(text))
    macro = table.get(tokens[0].text)
    if macro is not None and macro.parameters is not None and macro.name != "MSLITE_ISA_NAME":
        call = call_at(tokens, 0, macro)
        if call is not None:
            raw = list(tokenize(text))
            given = call_at(raw, 0, macro)
            assert given is not None
            body = realigned(unwrapped_body(join(macro.body)), unwrapped_body(join(substitute(macro, given[0]))))
            return Item("call", text, table, parts=list(_parts(body, table)), macro=macro.name)
    kind, names, is_static = _classified(significant(expand(tokens, table)))
    return Item(kind, text, table, names=names, is_static=is_static)


def _parts(text: str, table: Table) -> Iterator[Item]:
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        end = code_end(text, at, list(tokenize(text[at:])), table)
        yield make_item(text[at:end].rstrip(), table)
        at = end


def _classified(tokens: list[Token]) -> tuple[str, tuple[str, ...], bool]:
    words = [token.text for token in tokens]
    is_static = "static" in words[: words.index("(")] if "(" in words else "static" in words
    if words[0] == "typedef":
        return "type", (_typedef_name(tokens), *_enumerators(tokens)), False
    if words[0] in ("enum", "struct", "union") and "{" in words and words.index("{") <= 2 and words[-2] == "}":
        tag = () if words[1] == "{" else (words[1],)
        return "enum" if words[0] == "enum" else "type", (*tag, *_enumerators(tokens)), False
    depth, at = 0, 0
    while at < len(tokens):
        word = words[at]
        if word in ("__attribute__", "_Pragma"):
            at = matching(tokens, at + 1) + 1
            continue
        if word in ("=", "[", ";") and depth == 0:
            break
        if word == "(" and depth == 0:
            kind = "function" if words[-1] == "}" else "declaration"
            return kind, (words[at - 1],), is_static
        at += 1
    return ("declaration" if words[0] == "extern" else "variable"), (words[at - 1],), is_static


def _typedef_name(tokens: list[Token]) -> str:
    words = [token.text for token in tokens]
    if "__attribute__" in words:
        at = words.index("__attribute__")
        del words[at : matching(tokens, at + 1) + 1]
    at = len(words) - 2
    if words[at] == ")" and "(" in words and "{" not in words[: words.index("(")]:
        opening = words.index("(")
        return words[opening + 2] if words[opening + 1] == "*" else words[opening - 1]
    while words[at] in ("]", ")"):
        depth = 0
        while True:
            depth += (words[at] in "])") - (words[at] in "[(")
            at -= 1
            if depth == 0:
                break
    return words[at]


def _enumerators(tokens: list[Token]) -> tuple[str, ...]:
    words = [token.text for token in tokens]
    if "enum" not in words:
        return ()
    opening = words.index("{")
    found, depth, fresh = [], 0, True
    for token in tokens[opening + 1 : matching(tokens, opening)]:
        if token.kind == "name" and fresh and depth == 0 and token.text not in KEYWORDS:
            found.append(token.text)
        depth += (token.text == "(") - (token.text == ")")
        fresh = token.text == "," and depth == 0
    return tuple(found)
