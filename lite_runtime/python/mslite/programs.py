"""The programs of the package, started from the scripts that pip makes.

What they need is loaded here, behind a handler of Ctrl-C: importing may take seconds. So this module and the package's
`__init__` load nothing but the standard library and `extras`, which loads nothing.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from types import FrameType

from mslite.extras import remedy

_INTERRUPTED = 130


def converter_lite() -> int:
    """Converts a model. Returns the exit status."""
    return _run("converter_lite", "mslite.converter.cli")


def mslite_show() -> int:
    """Prints a model. Returns the exit status."""
    return _run("mslite-show", "mslite.converter.mindir.show")


def mslite_codegen() -> int:
    """Writes a model as C. Returns the exit status."""
    return _run("mslite-codegen", "mslite.codegen.cli")


def mslite_sparse() -> int:
    """Chooses what of a model to train in little memory. Returns the exit status."""
    return _run("mslite-sparse", "mslite.codegen.sparse.cli")


def mslite_crop() -> int:
    """Cuts the runtime down to some models. Returns the exit status."""
    return _run("mslite-crop", "mslite.cropper.cli")


def cropper() -> int:
    """The same with the flags of MindSpore Lite's tool. Returns the exit status."""
    return _run("cropper", "mslite.cropper.original")


def benchmark() -> None:
    """Becomes the `benchmark` program, with the same arguments. Exits 1 where it was not built."""
    _become("benchmark")


def benchmark_train() -> None:
    """Becomes the `benchmark_train` program, with the same arguments. Exits 1 where it was not built."""
    _become("benchmark_train")


def _become(name: str) -> None:
    program = os.path.join(os.path.dirname(__file__), "bin", name)
    if not os.path.isfile(program):
        sys.exit(f"{name}: {program} is missing: this mslite was built without it; `make install` builds all of it")
    os.execv(program, [program, *sys.argv[1:]])


def _run(name: str, module: str) -> int:
    line = f"{name}: interrupted\n".encode()

    def stop(number: int, frame: FrameType | None) -> None:
        # At once: raised in the middle of an import, KeyboardInterrupt comes out of some packages as another error.
        os.write(2, line)
        os._exit(_INTERRUPTED)

    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else it is ignored, as in a script's background
        signal.signal(signal.SIGINT, stop)
    _open_standard_files()
    try:
        main = import_module(module).main
    except ModuleNotFoundError as error:
        advice = remedy(error)
        if advice is None:
            raise
        print(f"{name}: {advice}", file=sys.stderr)
        return 1
    try:
        signal.signal(signal.SIGINT, usual)
        status: int = main()
    except KeyboardInterrupt:
        os.write(2, line)
        status = _INTERRUPTED
    # The work is done, and the status says what became of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


def _open_standard_files() -> None:
    """Gives a program that was started without standard files empty ones, or the next file opened would be one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # as long as the program
