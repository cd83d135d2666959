"""Makes C identifiers from names in a model."""

from __future__ import annotations

import re

from mslite.codegen.literals import c_string as c_string

_RESERVED = frozenset({
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false", "main", "errno",
})  # fmt: skip


class Names:
    """Makes unique identifiers."""

    def __init__(self) -> None:
        self._used = set(_RESERVED)

    def make(self, text: str, fallback: str) -> str:
        """Returns `short(text, fallback)`, with a number appended if it is used already."""
        name = short(text, fallback)
        unique, number = name, 1
        while unique in self._used:
            number += 1
            unique = f"{name}_{number}"
        self._used.add(unique)
        return unique


def short(text: str, fallback: str) -> str:
    """Returns the last part of a node's name as a lower-case identifier of at most 40 characters."""
    # TensorFlow Lite joins the names of fused nodes with ";". The last one that is not a normalization names the layer.
    joined = text.split(";")
    pieces = [parts for one in joined if not _NORMALIZATION.search(one) and (parts := _parts(one))]
    last = (pieces or [_parts(text.replace(";", "/"))])[-1] or [fallback]
    if len(last) > 1 and len(joined) > 1 and all(parts[0] == last[0] for parts in pieces):
        last = last[1:]  # all begin with the network's name
    name = re.sub(r"_+", "_", "_".join(last[-2:]))[-40:].strip("_") or fallback
    return name if not name[0].isdigit() else f"{fallback}_{name}"


_NORMALIZATION = re.compile(r"batch_?norm", re.IGNORECASE)
_NOISE = re.compile(r"(|readvariableop\w*|biasadd\w*|resource\d*|squeeze|fusedbatchnormv3)")


def _parts(name: str) -> list[str]:
    """Splits a name into identifiers, without parts that occur in most layers' names."""
    parts = (re.sub(r"\W+", "_", part, flags=re.ASCII).strip("_").lower() for part in re.split(r"[/:]", name))
    return [part for part in parts if not _NOISE.fullmatch(part)]


def brief(text: str) -> str:
    """Returns at most 60 characters from the end of a name, where names differ."""
    return text if len(text) <= 60 else "..." + text[-57:]


def comment(text: str) -> str:
    """Returns text from a model in a form that is safe in a C comment."""
    clean = "".join(character if character.isprintable() and character.isascii() else "?" for character in text)
    return clean.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/")
