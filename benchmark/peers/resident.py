"""Measures the peak resident memory of this process on Linux."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _megabytes(name: str) -> float | None:
    """Returns a field of /proc/self/status, such as `VmHWM`, in MB; None if the system does not provide it."""
    if not _STATUS.exists():
        return None
    found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else None


class PeakBeyond:
    """Peak resident memory, less the memory that was resident when this object was made."""

    def __init__(self) -> None:
        # Resets the kernel's peak counter. If that is not permitted, an earlier peak of the process counts too.
        with contextlib.suppress(OSError):
            _CLEAR.write_text("5")
        self._before = _megabytes("VmRSS")

    def megabytes(self) -> float | None:
        """Returns the peak in MB; None if the system does not provide it."""
        peak = _megabytes("VmHWM")
        return None if peak is None or self._before is None else max(0.0, peak - self._before)
