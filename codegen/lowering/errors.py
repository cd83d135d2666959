"""The error for models that are unsupported in generated C."""

from __future__ import annotations

from mslite.converter.errors import Blocker, ConversionError, ReturnCode


class LoweringError(ConversionError):
    """Raised for a model that is unsupported in generated C. `blockers`: all unsupported nodes."""

    def __init__(self, message: str, blockers: tuple[Blocker, ...] = (), code: ReturnCode | None = None) -> None:
        super().__init__(message, blockers, code or ReturnCode.NOT_SUPPORTED)
