"""Limits the memory that a conversion may allocate for sizes that the model file declares."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode, UsageError

_SHARE = 2
"""The default limit is the machine's memory divided by this."""

MIN_LIMIT = 64 << 20
_CGROUP_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_UNITS = {
    "": 20,
    "k": 10,
    "kb": 10,
    "kib": 10,
    "m": 20,
    "mb": 20,
    "mib": 20,
    "g": 30,
    "gb": 30,
    "gib": 30,
    "t": 40,
    "tb": 40,
    "tib": 40,
}
_SPELLING = re.compile(r"\s*(\d{1,15})\s*([a-z]*)\s*", re.IGNORECASE)


def machine_memory() -> int:
    """Returns the memory of the machine or its container in bytes."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30
    for name in _CGROUP_FILES:
        try:
            text = Path(name).read_text()
        except OSError:
            continue
        if text.strip().isdigit():
            total = min(total, int(text))
    return total


def default_limit() -> int:
    """Returns half of the machine's memory, in bytes."""
    return max(machine_memory() // _SHARE, MIN_LIMIT)


def parse_memory(text: str, name: str) -> int:
    """Returns the bytes of a size such as `2048` (MiB), `2048M` or `2GiB`. Raises UsageError, which names the flag
    `name`."""
    match = _SPELLING.fullmatch(text)
    if match is None or match[2].lower() not in _UNITS:
        raise UsageError(
            f"INPUT ILLEGAL: {name} must be a number of MiB, or a number with K, M, G or T, not '{text[:40]}'"
        )
    return int(match[1]) << _UNITS[match[2].lower()]


def parse_limit(text: str) -> int:
    """Returns --memoryLimit in bytes. Raises UsageError."""
    limit = parse_memory(text, "memoryLimit")
    if limit < MIN_LIMIT:
        raise UsageError(f"INPUT ILLEGAL: memoryLimit must be at least {shown(MIN_LIMIT)}")
    return limit


def shown(count: int) -> str:
    """Formats a number of bytes for messages."""
    for unit, bits in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << bits:
            digits = count / (1 << bits)
            return f"{digits:.0f} {unit}" if digits >= 100 or digits == int(digits) else f"{digits:.1f} {unit}"
    return f"{count} bytes"


@dataclass
class _Allowance:
    limit: int
    spent: int = 0


_allowance: ContextVar[_Allowance | None] = ContextVar("memory limit", default=None)


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """A context in which `spend` counts the allocations of one conversion against `limit` bytes, beginning at 0.

    None keeps the limit of the surrounding context, or the default.
    """
    token = _allowance.set(_Allowance(memory_limit() if limit is None else limit))
    try:
        yield
    finally:
        _allowance.reset(token)


def memory_limit() -> int:
    """Returns the limit of the running conversion in bytes."""
    allowance = _allowance.get()
    return default_limit() if allowance is None else allowance.limit


def spend(count: int, what: str) -> None:
    """Counts `count` bytes that the converter is about to allocate for the file.

    Raises ConversionError if the sum exceeds the limit. `what` begins the message: it names the file or the node, and
    the
    object that is too large.
    """
    allowance = _allowance.get()
    limit = memory_limit()
    total = count if allowance is None else allowance.spent + count
    if total > limit:
        rest = f", after {shown(total - count)} that are already used" if total > count else ""
        raise ConversionError(
            f"{what} takes {shown(count)}{rest}; the conversion may use {shown(limit)}. If the size is right, raise "
            "the limit "
            "with --memoryLimit",
            code=ReturnCode.MEMORY_FAILED,
        )
    if allowance is not None:
        allowance.spent = total


def try_spend(count: int) -> bool:
    """Counts `count` bytes and returns True if they are within the limit; else returns False and counts nothing."""
    allowance = _allowance.get()
    if count > memory_limit() - (0 if allowance is None else allowance.spent):
        return False
    if allowance is not None:
        allowance.spent += count
    return True
