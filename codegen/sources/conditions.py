"""Conditions of the preprocessor, decided as far as they can be: what only the target's compiler knows stays open."""

from __future__ import annotations

import re

from .macros import Table, expand
from .tokens import Token, significant, tokenise

_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))


class Open(Exception):
    """The condition depends on what the target's compiler defines."""


def is_open(name: str) -> bool:
    """Names of compilers are theirs to define; every other name that has no definition is known to have none."""
    return name.startswith("__") and name != "__cplusplus"


def evaluate(condition: str, table: Table) -> int | None:
    """The value of what stands behind #if; None: it is open."""
    tokens = significant(_without_defined(condition, table))
    value, rest = _binary(significant(expand(tokens, table)), 0)
    if rest:
        raise ValueError(f"cannot read the condition {condition}")
    return value


def _without_defined(condition: str, table: Table) -> list[Token]:
    def known(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return "1" if name in table else ("__open" if is_open(name) else "0")

    return list(tokenise(re.sub(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))", known, condition)))


def _binary(tokens: list[Token], level: int) -> tuple[int | None, list[Token]]:
    if level == len(_LEVELS):
        return _single(tokens)
    left, rest = _binary(tokens, level + 1)
    while rest and rest[0].text in _LEVELS[level]:
        sign = rest[0].text
        right, rest = _binary(rest[1:], level + 1)
        left = _combined(sign, left, right)
    return left, rest


def _combined(sign: str, left: int | None, right: int | None) -> int | None:
    if sign == "&&":
        if 0 in (left, right):
            return 0
        return None if left is None or right is None else 1
    if sign == "||":
        if left or right:
            return 1
        return None if left is None or right is None else 0
    if left is None or right is None:
        return None
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right
        case "%":
            return left % right
    return int({"==": left == right, "!=": left != right, "<": left < right, ">": left > right, "<=": left <= right,
                ">=": left >= right}[sign])  # fmt: skip


def _single(tokens: list[Token]) -> tuple[int | None, list[Token]]:
    first, rest = tokens[0], tokens[1:]
    if first.text == "(":
        value, rest = _binary(rest, 0)
        return value, rest[1:]
    if first.text in ("!", "-", "+"):
        value, rest = _single(rest)
        if value is None:
            return None, rest
        return (int(not value) if first.text == "!" else -value if first.text == "-" else value), rest
    if first.kind == "number":
        return int(first.text.rstrip("uUlL"), 0), rest
    if rest and rest[0].text == "(":  # __has_builtin(x) and the like
        depth = 0
        for at, token in enumerate(rest):
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                return None, rest[at + 1 :]
    return (None if is_open(first.text) else 0), rest


def simplified(condition: str, table: Table) -> str:
    """An open condition without the conjuncts that are known to hold."""
    parts, depth, current = [], 0, ""
    for token in tokenise(condition):
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "||" and depth == 0:
            return condition
        if token.text == "&&" and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += token.text
    parts.append(current.strip())
    return " && ".join(part for part in parts if evaluate(part, table) is None)
