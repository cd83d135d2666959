"""How long work tells how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears how much of something is done, of how much (None: nobody knows)."""

    def __call__(self, done: int, total: int | None, what: str = "calibration", /) -> None: ...


def silent(done: int, total: int | None, what: str = "calibration", /) -> None:
    """Tells nobody."""
