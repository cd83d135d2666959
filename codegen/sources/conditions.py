"""Evaluates preprocessor conditions. Conditions on macros of the target's compiler stay open."""

from __future__ import annotations

import re
from collections.abc import Set

from .macros import Macro, Table, expand
from .tokens import Token, significant, tokenize

_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
_OPEN = "__open"


def evaluate(condition: str, table: Table, open_names: Set[str] = frozenset()) -> int | None:
    """Returns the value of an #if condition, or None if it is open.

    A condition is open if it depends on names that begin with two underscores, which the compiler defines, or on names
    in `open_names`, which are defined under open conditions. Other names without definition are undefined. Raises
    ValueError.
    """
    known = {name: macro for name, macro in table.items() if name not in open_names}
    known |= {name: Macro(name, None, (Token("name", _OPEN),)) for name in open_names}
    tokens = significant(expand(tokenize(_without_defined(condition, known, open_names)), known))
    value, rest = _binary(tokens, 0)
    if rest:
        raise ValueError(f"cannot read the condition {condition}")
    return value


def simplified(condition: str, table: Table, open_names: Set[str] = frozenset()) -> str:
    """Returns an open condition without the operands of && that are known to be true."""
    parts, depth, current = [], 0, ""
    for token in tokenize(condition):
        depth += (token.text == "(") - (token.text == ")")
        if token.text == "||" and depth == 0:
            return condition
        if token.text == "&&" and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += token.text
    parts.append(current.strip())
    return " && ".join(part for part in parts if evaluate(part, table, open_names) is None)


def _is_open(name: str) -> bool:
    return name.startswith("__") and name != "__cplusplus"


def _without_defined(condition: str, table: Table, open_names: Set[str]) -> str:
    def known(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name in open_names:
            return _OPEN
        return "1" if name in table else _OPEN if _is_open(name) else "0"

    return re.sub(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))", known, condition)


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
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case ">":
            return int(left > right)
        case "<=":
            return int(left <= right)
        case _:
            return int(left >= right)


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
    if rest and rest[0].text == "(":  # such as __has_builtin(x)
        depth = 0
        for at, token in enumerate(rest):
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                return None, rest[at + 1 :]
    return (None if _is_open(first.text) else 0), rest
