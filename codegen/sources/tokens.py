"""Splits C text into tokens, including white space and comments: joined tokens give the original text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?P<string>  "(?:\\.|[^"\\])*" )
    | (?P<char>    '(?:\\.|[^'\\])+' )
    | (?P<number>  \.?\d(?:[eEpP][+-]|[\w.])* )
    | (?P<name>    [A-Za-z_]\w* )
    | (?P<space>   (?:\\\n|\s)+ )
    | (?P<mark>    \#\# | -> | \+\+ | -- | <<= | >>= | << | >> | [<>=!]= | && | \|\| | [-+*/%&|^]= | \.\.\. | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_TEXT = re.compile(re.sub(r"\?P<\w+>", "?:", _TOKEN.pattern), re.VERBOSE | re.DOTALL)
"""Same as _TOKEN, without groups."""

KEYWORDS = frozenset(
    [
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "true",
        "false",
        "__attribute__",
        "_Pragma",
        "defined",
    ]
)


class Token(NamedTuple):
    """A token. `kind`: name of a group in _TOKEN; `is_blank`: white space or comment."""

    kind: str
    text: str
    is_blank: bool = False


class _Known(dict[str, Token]):
    """Cache of tokens by text. The text determines the kind, and all files together have a few thousand different
    tokens."""

    def __missing__(self, text: str) -> Token:
        match = _TOKEN.match(text)
        assert match is not None
        kind = str(match.lastgroup)
        self[text] = Token(kind, text, kind in ("space", "comment"))
        return self[text]


_KNOWN = _Known()


@lru_cache(maxsize=4096)
def tokenize(text: str) -> tuple[Token, ...]:
    """Returns the tokens of a text."""
    return tuple(map(_KNOWN.__getitem__, _TEXT.findall(text)))


def join(tokens: Iterable[Token]) -> str:
    return "".join(token.text for token in tokens)


def significant(tokens: Iterable[Token]) -> list[Token]:
    """Returns the tokens without white space and comments."""
    return [token for token in tokens if not token.is_blank]


def matching(tokens: list[Token] | tuple[Token, ...], at: int) -> int:
    """Returns the index of the bracket that closes the one at `at`. Raises ValueError."""
    depth = 0
    for index in range(at, len(tokens)):
        if tokens[index].kind == "mark":
            if tokens[index].text in "([{":
                depth += 1
            elif tokens[index].text in ")]}":
                depth -= 1
                if depth == 0:
                    return index
    raise ValueError(f"unclosed {tokens[at].text}")


def arguments(tokens: list[Token] | tuple[Token, ...], at: int) -> tuple[list[list[Token]], int]:
    """Returns the arguments in the brackets that open at `at`, and the index of the closing bracket."""
    end = matching(tokens, at)
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[at + 1 : end]:
        if token.kind == "mark" and token.text in "([{":
            depth += 1
        elif token.kind == "mark" and token.text in ")]}":
            depth -= 1
        if depth == 0 and token.text == "," and token.kind == "mark":
            found.append([])
        else:
            found[-1].append(token)
    return [_stripped(argument) for argument in found], end


def _stripped(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[0].is_blank:
        tokens = tokens[1:]
    while tokens and tokens[-1].is_blank:
        tokens = tokens[:-1]
    return tokens
