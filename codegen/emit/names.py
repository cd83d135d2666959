"""Identifiers of C, made of the names in a model."""

from __future__ import annotations

import re

from mslite.codegen.literals import c_string as c_string

_RESERVED = frozenset({
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false", "main", "errno",
})  # fmt: skip


class Names:
    """Gives each thing a name of its own."""

    def __init__(self) -> None:
        self._used = set(_RESERVED)

    def make(self, text: str, fallback: str) -> str:
        """A name like `text`: its last readable part, lower case; numbered where it is taken."""
        name = short(text, fallback)
        unique, number = name, 1
        while unique in self._used:
            number += 1
            unique = f"{name}_{number}"
        self._used.add(unique)
        return unique


def short(text: str, fallback: str) -> str:
    """The part of a node's name that tells most, as an identifier of at most 40 characters."""
    # TensorFlow Lite joins the names of the nodes that became one: that of a convolution tells more than its normalisation's.
    telling = [name for name in text.split(";") if not _NORMALISATION.search(name)] or [text]
    parts = [
        re.sub(r"\W+", "_", part, flags=re.ASCII).strip("_").lower()
        for name in telling
        for part in re.split(r"[/:]", name)
    ]
    parts = list(dict.fromkeys(part for part in parts if part and part not in _NOISE)) or [fallback]
    name = parts[0] if len(parts) == 1 else "_".join(parts[-2:])
    name = re.sub(r"_+", "_", name)[-40:].strip("_") or fallback
    return name if not name[0].isdigit() else f"{fallback}_{name}"


_NORMALISATION = re.compile(r"batch_?norm", re.IGNORECASE)
_NOISE = frozenset(
    {
        "squeeze",
        "readvariableop",
        "biasadd",
        "resource",
        "fusedbatchnormv3",
        "readvariableop_resource",
        "biasadd_readvariableop_resource",
    }
)


def brief(text: str) -> str:
    """The end of a long name, where what differs is."""
    return text if len(text) <= 60 else "..." + text[-57:]


def comment(text: str) -> str:
    """Text of a model, safe within a comment."""
    clean = "".join(character if character.isprintable() and character.isascii() else "?" for character in text)
    return clean.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/")
