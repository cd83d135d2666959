"""Expands macros of the C preprocessor, and finds the macros that a text uses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .tokens import Token, arguments, join, tokenize

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?[ \t]*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Macro:
    name: str
    parameters: tuple[str, ...] | None
    """None for an object-like macro."""
    body: tuple[Token, ...]


Table = Mapping[str, Macro]


def read_define(directive: str) -> Macro:
    """Parses a #define directive with its continued lines. Raises ValueError."""
    match = _DEFINE.match(directive)
    if match is None:
        raise ValueError(f"not a macro: {directive}")
    parameters = None
    if match[2] is not None:
        parameters = tuple(name.strip() for name in match[3].replace("\\\n", " ").split(",") if name.strip())
    body = [token for token in tokenize(match[4]) if token.kind != "comment"]
    while body and body[-1].kind == "space":
        body.pop()
    return Macro(match[1], parameters, tuple(body))


def _next(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].is_blank:
        at += 1
    return at


def call_at(tokens: Sequence[Token], at: int, macro: Macro) -> tuple[list[list[Token]], int] | None:
    """Returns the arguments of a call of `macro` at `at` and the index of its last token, or None if it is not
    called."""
    if macro.parameters is None:
        return [], at
    opening = _next(tokens, at + 1)
    if opening >= len(tokens) or tokens[opening].text != "(":
        return None
    return arguments(list(tokens), opening)


def substitute(macro: Macro, given: Sequence[Sequence[Token]], table: Table | None = None) -> list[Token]:
    """Returns the macro's body with these arguments. With a `table`, arguments are expanded first, as by the
    preprocessor."""
    named = dict(zip(macro.parameters or (), given, strict=False))
    body = list(macro.body)
    result: list[Token] = []
    at = 0
    while at < len(body):
        token = body[at]
        after = _next(body, at + 1)
        if token.text == "#" and token.kind == "mark" and after < len(body) and body[after].text in named:
            text = join(named[body[after].text]).replace("\\", "\\\\").replace('"', '\\"')
            result.append(Token("string", f'"{text}"'))
            at = after + 1
            continue
        if token.text == "##":
            while result and result[-1].is_blank:
                result.pop()
            left = result.pop().text if result else ""
            right = list(named.get(body[after].text, [body[after]]))
            pasted = tokenize(left + (right[0].text if right else ""))
            result.extend(pasted)
            result.extend(right[1:])
            at = after + 1
            continue
        if token.kind == "name" and token.text in named:
            argument = list(named[token.text])
            is_pasted = after < len(body) and body[after].text == "##"
            result.extend(argument if table is None or is_pasted else expand(argument, table))
        else:
            result.append(token)
        at += 1
    return result


def expand(
    tokens: Sequence[Token], table: Table, used: set[str] | None = None, hidden: frozenset[str] = frozenset()
) -> list[Token]:
    """Returns `tokens` with all macros expanded. The names of expanded macros are added to `used`."""
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        macro = table.get(token.text) if token.kind == "name" and token.text not in hidden else None
        call = call_at(tokens, at, macro) if macro is not None else None
        if macro is None or call is None:
            result.append(token)
            at += 1
            continue
        if used is not None:
            used.add(macro.name)
            for argument in call[0]:
                expand(argument, table, used)
        result.extend(expand(substitute(macro, call[0], table), table, used, hidden | {macro.name}))
        at = call[1] + 1
    return result
