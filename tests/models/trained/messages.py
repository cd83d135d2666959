"""Sentences in sixteen languages: the translated messages of Django's user interface, as character codes [N, 64].

A message and all of its translations are either in the training or in the held-out part.
"""

from __future__ import annotations

import functools
import struct
from pathlib import Path

import numpy as np

from .dataset import Dataset, divided, is_held_out, package_folder

LANGUAGES = ("ca", "cs", "da", "de", "en", "es", "fi", "fr", "it", "nb", "nl", "pl", "pt", "ro", "sk", "sv")
LENGTH = 64
CHARACTERS = " abcdefghijklmnopqrstuvwxyz'-.,:?()%\"/" + "áàâãäåæçčćďéèêëęěíìîïłńňñóòôõöøœřśšßťúùûüůýźżžąăâșțşţ·"
VOCABULARY = 96
"""Code 0 is padding, 1 any other character."""


def encode(text: str) -> list[int]:
    """Returns `LENGTH` character codes: lower case, truncated or padded with 0."""
    numbers = [CHARACTERS.find(character) + 2 if character in CHARACTERS else 1 for character in text.lower()]
    return (numbers + [0] * LENGTH)[:LENGTH]


def catalog(content: bytes) -> dict[str, str]:
    """Reads message -> translation from a GNU `.mo` file; the first one of plural forms."""
    order = "<" if content[:4] == b"\xde\x12\x04\x95" else ">"
    count, originals, translations = struct.unpack_from(order + "3I", content, 8)

    def string(table: int, index: int) -> str:
        length, offset = struct.unpack_from(order + "2I", content, table + 8 * index)
        return content[offset : offset + length].split(b"\0")[0].split(b"\x04")[-1].decode()

    return {string(originals, index): string(translations, index) for index in range(count)}


def catalogs(folder: Path, language: str) -> list[dict[str, str]]:
    """The catalogs of one language, for Django itself and its applications."""
    homes = [folder / "conf" / "locale", *(app / "locale" for app in (folder / "contrib").iterdir() if app.is_dir())]
    found = [home / language / "LC_MESSAGES" / "django.mo" for home in sorted(homes, key=str)]
    return [catalog(path.read_bytes()) for path in found if path.is_file()]


@functools.cache
def load() -> Dataset:
    """About 7700 sentences, without untranslated ones and those of fewer than 12 characters."""
    folder = package_folder("django")
    sentences: dict[tuple[str, int], str] = {}
    for label, language in enumerate(LANGUAGES):
        if language == "en":
            continue
        for messages in catalogs(folder, language):
            for message, translation in messages.items():
                if len(message) >= 12:
                    sentences[message, LANGUAGES.index("en")] = message
                if len(translation) >= 12 and translation != message:
                    sentences[message, label] = translation
    known = {tuple(encode(text)) for (message, _), text in sentences.items() if not is_held_out(message)}
    kept = [  # truncated and in lower case, some held-out sentences are equal to others
        (encode(text), label, is_held_out(message))
        for (message, label), text in sentences.items()
        if not (is_held_out(message) and tuple(encode(text)) in known)
    ]
    samples = np.array([numbers for numbers, _, _ in kept], np.int32)
    return divided("messages", samples, [label for _, label, _ in kept], [out for _, _, out in kept], LANGUAGES)
