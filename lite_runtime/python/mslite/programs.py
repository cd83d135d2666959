"""Entry points of the command-line programs of the package.

Importing a program may take seconds, so a handler of Ctrl-C is installed first. For this reason, this module and the
package's `__init__` import only the standard library and `extras`.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from types import FrameType

from mslite.extras import install_hint

_INTERRUPTED = 130


def converter_lite() -> int:
    """Runs `converter_lite`, which converts models. Returns the exit status."""
    return _run("converter_lite", "mslite.converter.cli")


def mslite_show() -> int:
    """Runs `mslite-show`, which prints models. Returns the exit status."""
    return _run("mslite-show", "mslite.converter.mindir.show")


def mslite_codegen() -> int:
    """Runs `mslite-codegen`, which generates C. Returns the exit status."""
    return _run("mslite-codegen", "mslite.codegen.cli")


def mslite_sparse() -> int:
    """Runs `mslite-sparse`, which selects the weights to train for a memory limit. Returns the exit status."""
    return _run("mslite-sparse", "mslite.codegen.sparse.cli")


def mslite_crop() -> int:
    """Runs `mslite-crop`, which reduces the runtime to the operators of given models. Returns the exit status."""
    return _run("mslite-crop", "mslite.cropper.cli")


def cropper() -> int:
    """Runs `cropper`, the same program with the flags of MindSpore Lite's tool. Returns the exit status."""
    return _run("cropper", "mslite.cropper.mindspore_cropper")


def benchmark() -> None:
    """Runs the C++ program `benchmark` with the same arguments. Exits with 1 if it is not built."""
    _become("benchmark")


def benchmark_train() -> None:
    """Runs the C++ program `benchmark_train` with the same arguments. Exits with 1 if it is not built."""
    _become("benchmark_train")


def _become(name: str) -> None:
    program = os.path.join(os.path.dirname(__file__), "bin", name)
    if not os.path.isfile(program):
        sys.exit(f"{name}: {program} is missing: this mslite was built without it; build it with `make install`")
    os.execv(program, [program, *sys.argv[1:]])


def _run(name: str, module: str) -> int:
    line = f"{name}: interrupted\n".encode()

    def stop(number: int, frame: FrameType | None) -> None:
        # Exits at once. Some packages turn a KeyboardInterrupt during their import into another error.
        os.write(2, line)
        os._exit(_INTERRUPTED)

    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else SIGINT is ignored, for example in a background job of a script
        signal.signal(signal.SIGINT, stop)
    _open_standard_files()
    try:
        main = import_module(module).main
    except ModuleNotFoundError as error:
        advice = install_hint(error)
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
    # The program has finished: Ctrl-C must not change its exit status.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


def _open_standard_files() -> None:
    """Opens /dev/null for missing standard files. Otherwise the next opened file would be used as a standard file."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until the program ends
