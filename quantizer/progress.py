"""Callbacks that report the progress of long work."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called with the steps that are done and their total number, or None if the total is unknown."""

    def __call__(self, done: int, total: int | None, what: str = "calibration", /) -> None: ...


def silent(done: int, total: int | None, what: str = "calibration", /) -> None:
    """Reports nothing."""
