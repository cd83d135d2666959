"""Turns unexpected Python errors in parsers and passes into messages about the model.

An unexpected error (IndexError, TypeError, ...) usually means that a node violates the definition of its operator.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mslite.converter.errors import Blocked, Blocker, ConversionError, ReturnCode
from mslite.converter.text_shortening import shortened

_STUMBLES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, RuntimeError, EOFError),
    *(struct.error, BufferError),
)
observers: list[Callable[[Exception], None]] = []
"""Functions that are called with each unexpected error; fuzzing collects where these come from."""

_REMEDY = "Check the model with the tools of its framework and export it again; if it is valid, please report this"


def _is_stumble(error: Exception) -> bool:
    """Returns whether the error is unexpected: not one of mslite's errors and not invalid UTF-8, which are reported
    elsewhere."""
    own = type(error).__module__.startswith("mslite.")
    return not own and not isinstance(error, RecursionError | UnicodeError)


def _what(error: Exception) -> str:
    text = next((line for line in str(error).splitlines() if line.strip()), "") or type(error).__name__
    return shortened(text.strip())


def _tell(error: Exception) -> None:
    for observer in observers:
        observer(error)


@contextmanager
def unexpected_errors_to_blocked() -> Iterator[None]:
    """Raises Blocked in place of an unexpected error while a node is converted."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        raise Blocked(f"its inputs or attributes contradict its definition ({_what(error)})", _REMEDY) from error


@contextmanager
def unexpected_errors_to_file_error(file: str) -> Iterator[None]:
    """Raises ConversionError in place of an unexpected error in a file that belongs to no node."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        message = f"{file}: the file is inconsistent ({_what(error)}). {_REMEDY}"
        raise ConversionError(message, code=ReturnCode.GRAPH_FILE_ERROR) from error


@contextmanager
def unexpected_errors_at_node(node: str, operator: str) -> Iterator[None]:
    """Raises ConversionError, with the node as its blocker, in place of an unexpected error in a pass."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        reason = f"its inputs or attributes contradict its definition ({_what(error)})"
        raise ConversionError(
            "1 node prevents the conversion:",
            [Blocker(node, operator, reason, _REMEDY)],
            ReturnCode.INVALID_OP_ATTRIBUTE,
        ) from error


@contextmanager
def unexpected_errors_in_step(step: str) -> Iterator[None]:
    """Raises ConversionError in place of an unexpected error in a pass if the node is unknown."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        message = f"the step '{step}' failed: the model is inconsistent ({_what(error)}). {_REMEDY}"
        raise ConversionError(message, code=ReturnCode.NOT_SUPPORTED) from error
