"""The test cases of pass rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mslite.converter.mindir.graph import Module

Build = Callable[[], Module]


@dataclass(frozen=True)
class Case:
    """A rule: graphs that it rewrites, with the remaining operators, and one that it does not rewrite, with the reason."""

    rewritten: tuple[tuple[Build, list[str]], ...]
    refused: Build
    reason: str
