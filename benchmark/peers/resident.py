"""How much memory this process has had resident, as Linux counts it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _megabytes(name: str) -> float | None:
    """A line of the process's status, such as `VmHWM`; None where the system shows none."""
    if not _STATUS.exists():
        return None
    found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else None


class PeakBeyond:
    """The peak of what is resident, beyond what is when this is made."""

    def __init__(self) -> None:
        # The peak begins again; where that is not allowed, it holds what the process had before, too.
        with contextlib.suppress(OSError):
            _CLEAR.write_text("5")
        self._before = _megabytes("VmRSS")

    def megabytes(self) -> float | None:
        """None where the system does not tell."""
        peak = _megabytes("VmHWM")
        return None if peak is None or self._before is None else max(0.0, peak - self._before)
