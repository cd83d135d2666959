"""docs/environment.md names the environment variables that the sources read, and no others."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"""(?:getenv\(|environ(?:\.get\(|\.setdefault\(|\[))\s*["'](\w+)["']""")
OF_THE_SYSTEM = {
    "PATH",
    "LD_LIBRARY_PATH",
    "TERM",
    "XDG_CACHE_HOME",
    "PYTHONPATH",
    "RAY_USAGE_STATS_ENABLED",
    "TORCHINDUCTOR_CACHE_DIR",
}
OF_ONE_TEST = {
    "CALLS",
    "ELSEWHERE",
    "FAIL_AT",
    "FAKE_NNAPI_LEVEL",
    "FAKE_NNAPI_REFUSES",
    "FAKE_NNRT_REFUSES",
    "REAL_OPENVINO",
    "INTER_OP",
    "TF_USE_LEGACY_KERAS",
    "FAILING_AFTER",
    "FAILING_FOLDER",
}
"""Set by the test that reads them, for a program that it starts."""


def test_the_page_is_complete() -> None:
    patterns = ["*.py", "*.cc", "*.c", "*.h", "*.j2"]
    files = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    read: set[str] = set()
    for name in files.stdout.split():
        read.update(READ.findall((ROOT / name).read_text(encoding="utf-8")))
    assert {"GLOG_v", "MSLITE_ISA", "MSLITE_BUILD", "MSLITE_DUMP"} <= read, "the pattern finds what is known"
    page = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"`([A-Z][A-Z0-9_]*_[A-Za-z0-9_]+)(?:=[^`]*)?`", page))
    assert shown == read - OF_THE_SYSTEM - OF_ONE_TEST
