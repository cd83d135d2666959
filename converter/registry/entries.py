"""What the tables of the registry hold: things of a plug-in's that are called, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Something of a plug-in's that is called."""

    call: Callable[..., Any]
    origin: str
    """The file that registered it."""

    def place(self, error: BaseException) -> str:
        """Where in the plug-in an exception arose, for messages."""
        return place_of(error, self.origin)


def place_of(error: BaseException, origin: str) -> str:
    """`plugin.py, line 12`: the last line of that file on the way to an exception."""
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
    """What is registered of a type of Custom nodes."""

    type: str
    rule: Entry
    elementwise: bool


class PassPosition(IntEnum):
    """When passes run. BEGIN: types and shapes are known, constants are not folded yet, images lie as in the source
    model. END: after all fusions; images are NHWC (with --saveType=MINDIR as in the source model)."""

    BEGIN = 0
    END = 1
