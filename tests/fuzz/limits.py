"""Limits of each conversion of a malformed file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 5
KIBIBYTES = 512 * 1024
SUCCESS, REFUSALS = 0, (1, 3)

# MSLITE_VERIFY lets an unexpected exception through as a traceback, which is what the tests look for. The programs run in other
# folders, so Python's path is absolute.
_PATH = [Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
ENVIRONMENT = {"MSLITE_VERIFY": "1", "PYTHONPATH": os.pathsep.join(str(entry) for entry in [ROOT, *_PATH])}


def problem_of(result: Mapping[str, Any]) -> str | None:
    """Returns the problem of a line of run_converter.py, or None."""
    text = result["text"]
    refused = result["code"] != SUCCESS
    wrong = {
        f"exit code {result['code']}": result["code"] not in (SUCCESS, *REFUSALS),
        "a traceback": "Traceback" in text or "please report it" in text,
        f"{result['seconds']:.1f} s": result["seconds"] > SECONDS,
        f"{result['memory'] // 1024} MiB": result["memory"] > KIBIBYTES,
        "no message": refused and len(text.strip()) < 20,
        f"left {result['left']}": refused and bool(result["left"]),
    }
    return next((name for name, is_wrong in wrong.items() if is_wrong), None)
