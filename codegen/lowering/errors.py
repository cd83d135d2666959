"""Why a model cannot become a program: all unsupported nodes, at once."""

from __future__ import annotations

from mslite.converter.errors import Blocker, ConversionError, ReturnCode


class LoweringError(ConversionError):
    """A model that cannot become a program, with all unsupported nodes."""

    def __init__(self, message: str, blockers: tuple[Blocker, ...] = (), code: ReturnCode | None = None) -> None:
        super().__init__(message, blockers, code or ReturnCode.NOT_SUPPORTED)
