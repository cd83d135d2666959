"""What converters of nodes stumble over where a node breaks its operator's definition: a reason to refuse the node."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mslite.converter.errors import Blocked, Blocker, ConversionError, ReturnCode
from mslite.converter.quoting import shortened

_STUMBLES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, RuntimeError, EOFError),
    *(struct.error, BufferError),
)
observers: list[Callable[[Exception], None]] = []
"""Called with each error that nobody foresaw; fuzzing collects where they come from."""

_REMEDY = (
    "Check the model with the tools of its framework and export it again; where it is right, report the node with it"
)


def _is_stumble(error: Exception) -> bool:
    """Whether nobody raised it on purpose: our own errors, and texts that are no UTF-8, are told elsewhere."""
    own = type(error).__module__.startswith("mslite.")
    return not own and not isinstance(error, RecursionError | UnicodeError)


def _what(error: Exception) -> str:
    text = next((line for line in str(error).splitlines() if line.strip()), "") or type(error).__name__
    return shortened(text.strip())


def _tell(error: Exception) -> None:
    for observer in observers:
        observer(error)


@contextmanager
def contradictions_block() -> Iterator[None]:
    """Makes Blocked of what goes wrong with a node that no converter foresees."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        raise Blocked(f"its operands or attributes contradict its definition ({_what(error)})", _REMEDY) from error


@contextmanager
def contradictions_refuse(file: str) -> Iterator[None]:
    """Makes ConversionError of what goes wrong with a file outside of its nodes."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        message = f"{file}: the parts of the file contradict each other ({_what(error)}). {_REMEDY}"
        raise ConversionError(message, code=ReturnCode.GRAPH_FILE_ERROR) from error


@contextmanager
def contradictions_at(node: str, operator: str) -> Iterator[None]:
    """Makes ConversionError, with the node as its blocker, of what a pass stumbles over."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        reason = f"its operands or attributes contradict its definition ({_what(error)})"
        raise ConversionError(
            "1 node prevents the conversion:",
            [Blocker(node, operator, reason, _REMEDY)],
            ReturnCode.INVALID_OP_ATTRIBUTE,
        ) from error


@contextmanager
def contradictions_in_step(step: str) -> Iterator[None]:
    """The same for a pass that does not know at which node it was."""
    try:
        yield
    except _STUMBLES as error:
        if not _is_stumble(error):
            raise
        _tell(error)
        message = (
            f"the step '{step}' cannot work on this model: its parts contradict each other ({_what(error)}). {_REMEDY}"
        )
        raise ConversionError(message, code=ReturnCode.NOT_SUPPORTED) from error
