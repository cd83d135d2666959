"""The form in which the rules' tests are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mslite.converter.mindir.graph import Module

Build = Callable[[], Module]


@dataclass(frozen=True)
class Case:
    """One rule: graphs that it rewrites, with the operators that remain, and one that it refuses, with the reason."""

    rewritten: tuple[tuple[Build, list[str]], ...]
    refused: Build
    reason: str
