"""How a command-line program ends: with a status and at most one line, whatever becomes of its output or stops it."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from io import TextIOWrapper
from typing import Any, NoReturn, ParamSpec, TextIO, cast

P = ParamSpec("P")

_FAILED = 1
_INTERRUPTED = 130


class OutputLost(BaseException):
    """Standard output takes no more. Like KeyboardInterrupt no Exception: what judges models must not take it for one."""


class _Output:
    """Standard output, whose errors cannot be taken for those of a file that is read or written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._lost(error)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> NoReturn:
        raise OutputLost(error.errno, error.strerror or str(error)) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_command: ContextVar[str] = ContextVar("command", default="")

_SECRET = re.compile(r"(\w*[kK]ey=).+", re.DOTALL)


def without_keys(argument: str) -> str:
    """A word of a command line as messages and pages may repeat it: what stands behind `...key=` is left out."""
    return _SECRET.sub(r"\1...", argument)


def command_line() -> str:
    """The command that is running, as a shell takes it; keys are left out. Empty where Python calls a function instead."""
    return _command.get()


@contextlib.contextmanager
def running(name: str, arguments: Sequence[str]) -> Iterator[None]:
    """Makes it the command that is running."""
    token = _command.set(shlex.join([name, *(without_keys(one) for one in arguments)]))
    try:
        yield
    finally:
        _command.reset(token)


def ends_quietly(name: str) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Makes of the `main` of the program `name` one that never raises: its status is 130 after Ctrl-C, and 1 when standard
    output takes no more; both are said in one line. Without a word it ends when nobody reads its output any more."""

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            stream = sys.stdout
            if isinstance(stream, TextIOWrapper):  # names of files may be any bytes
                stream.reconfigure(errors="backslashreplace")
            sys.stdout = cast(TextIO, _Output(stream))
            try:
                status = main(*args, **kwargs)
                sys.stdout.flush()
            except KeyboardInterrupt as stop:
                _forget(stream)
                print(f"{name}: interrupted{''.join(f'; {remark}' for remark in stop.args)}", file=sys.stderr)
                return _INTERRUPTED
            except OutputLost as lost:
                code, reason = lost.args
                if code != errno.EPIPE:
                    print(f"{name}: standard output cannot be written: {reason}", file=sys.stderr)
                _forget(stream)
                return _FAILED
            finally:
                sys.stdout = stream
            return status

        return run

    return decorate


def _forget(stream: TextIO) -> None:
    """Lets what is still held back go nowhere: when Python ends, it would complain, or wait for a reader that does not read."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a stream without a file, as in tests
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def reason_of(error: OSError) -> str:
    """Which file, and what is the matter with it."""
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"
