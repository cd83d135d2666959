"""Runs the loader and the kernels under libFuzzer, a coverage-guided fuzzer, with `.ms` files.

    python -m tests.fuzz.loader --program build-fuzz/tests/load_fuzzer --seconds 600 [--corpus FOLDER] [--processes 2]

The initial corpus are files of one node for every reference case of the kernels, and whole models. The exit code is not 0 at the first
input with a sanitizer report, a timeout or excessive memory; libFuzzer writes the input to the working directory.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .matrix import spoiled_cases
from .seeds import ms_seeds

_MEBIBYTES, _SECONDS = 3072, 30
"""Limits for one input."""

_MAX_BYTES = 65536
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16:allocator_may_return_null=1:max_allocation_size_mb=1024",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "GLOG_v": "4",
}


def write_seeds(corpus: Path) -> None:
    """Writes the initial corpus to an existing folder."""
    for number, content in enumerate(ms_seeds()):
        (corpus / f"model{number}").write_bytes(content)
    for name, content in spoiled_cases(1):
        (corpus / name).write_bytes(content)


def fuzz(program: Path, seconds: int, corpus: Path, processes: int = 1) -> tuple[int, int, str]:
    """Returns exit code, executions and the end of the output."""
    flags = [
        f"-max_total_time={seconds}", f"-rss_limit_mb={_MEBIBYTES}", f"-timeout={_SECONDS}", f"-max_len={_MAX_BYTES}",
        "-print_final_stats=1", "-use_value_profile=0", "-close_fd_mask=1", "-verbosity=1",
    ]  # fmt: skip
    if processes > 1:
        flags += [f"-fork={processes}", "-ignore_crashes=0"]
    run = subprocess.run(
        [program.absolute(), *flags, corpus], env={**os.environ, **_OPTIONS}, capture_output=True, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    numbers = re.findall(r"^(?:stat::number_of_executed_units:\s*|#)(\d+)", run.stderr, re.MULTILINE)
    return run.returncode, int(numbers[-1]) if numbers else 0, "\n".join(run.stderr.splitlines()[-60:])


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzzes the loader with libFuzzer.")
    parser.add_argument("--program", type=Path, required=True, help="load_fuzzer of a build with -DMSLITE_FUZZ=ON")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument(
        "--corpus", type=Path, help="folder for the corpus, which is kept; an empty folder gets the initial corpus"
    )
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = asked.corpus or Path(folder)
        corpus.mkdir(parents=True, exist_ok=True)
        if not any(corpus.iterdir()):
            write_seeds(corpus)
        code, executions, end = fuzz(asked.program, asked.seconds, corpus, asked.processes)
    print(f"{end}\n{executions} executions, exit code {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
