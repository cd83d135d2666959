"""The compiled programs of the wheel, started from the scripts that pip makes."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def benchmark() -> None:
    """Becomes the `benchmark` program, with the same arguments. Exits 1 where it was not built."""
    program = Path(__file__).parent / "bin" / "benchmark"
    if not program.is_file():
        sys.exit(f"benchmark: {program} is missing; this installation of mslite is not complete")
    os.execv(program, [str(program), *sys.argv[1:]])
