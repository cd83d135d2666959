"""Reads the fields of a layer from its text, for parameters that mslite has no schema for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_TOKEN = re.compile(
    r"""(?P<skip>\#[^\n]*|[\s,;]+)|(?P<open>[{<])|(?P<close>[}>])|(?P<start>\[)|(?P<end>\])|(?P<colon>:)
      |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[^\s,;{}<>\[\]:#"']+)""",
    re.VERBOSE,
)
_MAX_DEPTH = 64

Fields = dict[str, Any]
"""Name -> number, boolean, string or nested fields; a list of these if a name occurs several times."""


def layer_fields(text: str) -> Fields:
    """Returns the fields of all messages `<name>_param` of a layer. Raises ValueError if the text is not protobuf
    text."""
    fields = _block(_tokens(text), 0)
    merged: Fields = {}
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            if name.endswith("_param") and isinstance(one, dict):
                merged.update(one)
    return merged


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(f"'{text[at : at + 20]}' cannot be read")
        at = match.end()
        if match.lastgroup != "skip":
            yield match.lastgroup, match.group()


def _block(tokens: Iterator[tuple[str, str]], depth: int) -> Fields:
    if depth > _MAX_DEPTH:
        raise ValueError("its messages are nested too deeply")
    fields: dict[str, list[Any]] = {}
    name = ""
    in_list = False
    for kind, token in tokens:
        if kind == "close":
            break
        if kind == "open" and name:
            fields.setdefault(name, []).append(_block(tokens, depth + 1))
        elif kind == "start":
            in_list = True
        elif kind == "end":
            in_list, name = False, ""
        elif kind == "word" and not name:
            name = token
            continue
        elif kind in ("word", "text") and name:
            fields.setdefault(name, []).append(_scalar(kind, token))
        elif kind != "colon":
            raise ValueError(f"'{token}' cannot be read")
        if kind != "colon" and not in_list:
            name = ""
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _scalar(kind: str, token: str) -> Any:
    if kind == "text":
        return token[1:-1].encode().decode("unicode_escape", "replace") if "\\" in token else token[1:-1]
    if token in ("true", "false"):
        return token == "true"
    for convert in (int, float):
        try:
            return convert(token)
        except ValueError:
            pass
    return token
