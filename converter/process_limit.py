"""Sets a memory limit of the operating system for the process, in case `memory_limit` misses an allocation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mslite.converter.flag_values import memory_limit_of_flags
from mslite.converter.memory_limit import default_limit

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_WORK = 2
"""Factor for the model's memory: while a tensor is transformed, both copies exist."""

_OWN_BYTES = 1 << 30
"""Bytes for the program and its packages, without the model."""


def limit_process(given: Mapping[str, str]) -> None:
    """Limits the memory of this process by `--memoryLimit`. Raises FlagError for an invalid value."""
    limit = memory_limit_of_flags(given)
    if resource is None:
        return
    wanted = (
        (default_limit() if limit is None else limit) * (1 if limit is None else _WORK) + _OWN_BYTES + _data_bytes()
    )
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard < 0 or wanted < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _data_bytes() -> int:
    """Returns the bytes that this process has already allocated."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:")), 0)
