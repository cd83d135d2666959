"""The entries of the registry's tables: functions of plug-ins, with their properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A function of a plug-in."""

    call: Callable[..., Any]
    origin: str
    """The file that registered it."""

    def place(self, error: BaseException) -> str:
        """Returns the file and line of the plug-in that raised an exception, for messages."""
        return place_of(error, self.origin)


def place_of(error: BaseException, origin: str) -> str:
    """Returns `plugin.py, line 12`: the innermost line of that file in the traceback."""
    line = 0
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == origin:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{origin}, line {line}" if line else origin


@dataclass(frozen=True)
class ModelParserEntry:
    """A registered model parser."""

    fmk: str
    parser: Entry
    suffixes: tuple[str, ...]


@dataclass(frozen=True)
class CustomOperator:
    """A registered type of Custom nodes."""

    type: str
    rule: Entry
    elementwise: bool


class PassPosition(IntEnum):
    """The positions at which passes of plug-ins run.

    BEGIN: data types and shapes are inferred, constants are not folded yet, and images have the layout of the source
    model. END: after all fusions; images are NHWC (with --saveType=MINDIR in the layout of the source model).
    """

    BEGIN = 0
    END = 1
