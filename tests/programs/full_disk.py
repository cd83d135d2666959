"""Runs the `main` of a module repeatedly; in each run, the disk is full one call later.

`python full_disk.py MODULE FOLDER STEP ARGUMENT...`, with failing_disk.c: prints one JSON object per run, with the status, the number of
failed calls, the text on standard error, and the contents of FOLDER afterwards. In the last run no call fails. Its own files are written
to $ELSEWHERE.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def files_of(folder: Path) -> dict[str, str]:
    """Returns path of each file -> digest of its contents; of each folder -> nothing."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


def run(program: Callable[[list[str]], int], arguments: list[str], errors: Path, calls: int) -> tuple[int, int]:
    """Runs the program in a separate process. Returns its status and the number of failed calls."""
    disk = ctypes.CDLL(None)
    disk.disk_failures.restype = ctypes.c_long
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        disk.disk_fails_after(ctypes.c_long(calls))
        status = program(arguments)
        sys.stderr.flush()
        os.write(writing, str(disk.disk_failures()).encode())
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as answer:
        failures = int(answer.read() or 0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), failures


def main() -> None:
    module, folder, step, *arguments = sys.argv[1:]
    program = importlib.import_module(module).main
    before = files_of(Path(folder))
    with tempfile.TemporaryDirectory(dir=os.environ["ELSEWHERE"]) as kept:
        failures, calls = 1, 0
        while failures:
            errors = Path(kept) / "errors"
            status, failures = run(program, arguments, errors, calls)
            files = files_of(Path(folder))
            found = {"status": status, "failures": failures, "said": errors.read_text(), "is_same": files == before}
            print(json.dumps({**found, "files": files}), flush=True)
            calls += int(step)


if __name__ == "__main__":
    main()
