"""The tables of registrations: those of the process, and those of one conversion with its plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from mslite.converter.frameworks import FmkType
from mslite.converter.registry.entries import CustomOperator, Entry, ModelParserEntry, PassPosition


@dataclass
class Tables:
    """All registrations."""

    node_parsers: dict[tuple[FmkType, str], Entry] = field(default_factory=dict)
    """(Framework, source operator) -> parser."""
    model_parsers: dict[str, ModelParserEntry] = field(default_factory=dict)
    """Name of the format, as in --fmk -> parser."""
    passes: dict[str, Entry] = field(default_factory=dict)
    schedules: dict[PassPosition, tuple[str, ...]] = field(default_factory=dict)
    operators: dict[str, CustomOperator] = field(default_factory=dict)
    """Type of Custom nodes -> operator."""
    plugins: tuple[Path, ...] = ()
    """The files that were loaded."""
    config: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The sections of the conversion's configuration file."""

    def copy(self) -> Tables:
        """Returns a copy, whose changes do not affect these tables."""
        return replace(
            self,
            node_parsers=dict(self.node_parsers),
            model_parsers=dict(self.model_parsers),
            passes=dict(self.passes),
            schedules=dict(self.schedules),
            operators=dict(self.operators),
        )


_PROCESS = Tables()
_ACTIVE: ContextVar[Tables] = ContextVar("mslite_registry", default=_PROCESS)


def active() -> Tables:
    """Returns the current tables: those of the running conversion, else those of the process."""
    return _ACTIVE.get()


@contextmanager
def scope(tables: Tables) -> Iterator[Tables]:
    """A context in which these tables are active."""
    token = _ACTIVE.set(tables)
    try:
        yield tables
    finally:
        _ACTIVE.reset(token)


def caller_file() -> str:
    """Returns the file of the calling code outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == Path(__file__).parent:
        frame = frame.f_back
    return frame.f_code.co_filename
