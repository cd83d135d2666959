"""What is registered: in the process, or by the plug-ins of one conversion."""

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
    """Everything that is registered."""

    node_parsers: dict[tuple[FmkType, str], Entry] = field(default_factory=dict)
    """By framework and source operator."""
    model_parsers: dict[str, ModelParserEntry] = field(default_factory=dict)
    """By the format's name, which --fmk takes."""
    passes: dict[str, Entry] = field(default_factory=dict)
    schedules: dict[PassPosition, tuple[str, ...]] = field(default_factory=dict)
    operators: dict[str, CustomOperator] = field(default_factory=dict)
    """By the type of Custom nodes."""
    plugins: tuple[Path, ...] = ()
    """The files that were loaded."""
    config: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The sections of the conversion's configuration file."""

    def copy(self) -> Tables:
        """Tables of its own that begin with the same entries."""
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
    """The tables that hold now: those of the conversion that runs, or else those of the process."""
    return _ACTIVE.get()


@contextmanager
def scope(tables: Tables) -> Iterator[Tables]:
    """Lets these tables hold for a while."""
    token = _ACTIVE.set(tables)
    try:
        yield tables
    finally:
        _ACTIVE.reset(token)


def caller_file() -> str:
    """The file of the code outside of this package that registers something."""
    frame = sys._getframe(1)
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == Path(__file__).parent:
        frame = frame.f_back
    return frame.f_code.co_filename
