"""Converts each file on the command line in a separate process, and prints one JSON line per file.

The line has exit status or signal, seconds of CPU time, peak memory in KiB, the output, and the files left behind.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

# Imported before the first fork, so that it happens once.
import mslite.converter.parsers.caffe
import mslite.converter.parsers.mindir
import mslite.converter.parsers.onnx
import mslite.converter.parsers.tf
import mslite.converter.parsers.tflite  # noqa: F401
from mslite.converter import cli

CPU_SECONDS = 10
"""Limit of CPU time (SIGXCPU), which does not depend on the load of the machine."""

WALL_SECONDS = 120
"""Limit of elapsed time (SIGALRM), for conversions that wait forever."""

FORMATS = {
    ".onnx": "ONNX",
    ".tflite": "TFLITE",
    ".ms": "MSLITE",
    ".prototxt": "CAFFE",
    ".pb": "TF",
    ".mindir": "MINDIR",
}


def child(model: Path, output: Path, log: int) -> int:
    """Converts in this (forked) process; output goes to `log`."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.alarm(WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    weights = model.with_suffix(".caffemodel")
    extra = [f"--weightFile={weights}"] if model.suffix == ".prototxt" else []
    code = cli.main([f"--fmk={FORMATS[model.suffix]}", f"--modelFile={model}", f"--outputFile={output}", *extra])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def convert(model: Path, folder: Path) -> dict[str, object]:
    output = folder / f"{model.stem}.ms"
    with tempfile.TemporaryFile() as log:
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                code = child(model, output, log.fileno())
            except BaseException:  # the test looks for tracebacks
                import traceback

                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(code)
        _, status, usage = os.wait4(pid, 0)
        log.seek(0)
        text = log.read().decode(errors="replace")
    left = [path.name for path in folder.iterdir()]
    for path in folder.iterdir():
        path.unlink()
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss,
        "text": text,
        "left": left,
    }


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:]:
            print(json.dumps(convert(Path(name), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
