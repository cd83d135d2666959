"""The last resort under the memory limit: the operating system refuses the program what goes beyond."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mslite.converter.flag_values import asked_memory
from mslite.converter.memory_limit import default_limit

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_WORK = 2
"""The model's own memory, times this: what is made of a tensor exists beside it for a while."""

_OWN_BYTES = 1 << 30
"""What the program and the packages may take that a model does not ask for."""


def limit_process(given: Mapping[str, str]) -> None:
    """Lets this process have no more memory than `--memoryLimit` says. Raises FlagError for a wrong value of it."""
    limit = asked_memory(given)
    if resource is None:
        return
    wanted = (
        (default_limit() if limit is None else limit) * (1 if limit is None else _WORK) + _OWN_BYTES + _data_bytes()
    )
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard < 0 or wanted < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _data_bytes() -> int:
    """What this process has already."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:")), 0)
