"""Registry of writers for MindIR operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .call import Call

Writer = Callable[["Call"], None]

WRITERS: dict[str, Writer] = {}


def writes(*names: str) -> Callable[[Writer], Writer]:
    """Registers a writer for MindIR operators."""

    def register(writer: Writer) -> Writer:
        for name in names:
            if name in WRITERS:
                raise TypeError(f"operator {name} has two writers")
            WRITERS[name] = writer
        return writer

    return register
