"""Ends a command-line program with an exit status and at most one line of text on Ctrl-C or if its output cannot be
written."""

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


class StandardOutputError(BaseException):
    """Standard output cannot be written. Not an Exception, like KeyboardInterrupt, so that `except Exception` does not
    catch it."""


class _Output:
    """Standard output; its errors become StandardOutputError, so that they are not confused with errors of other files."""

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
        raise StandardOutputError(error.errno, error.strerror or str(error)) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_command: ContextVar[str] = ContextVar("command", default="")

_SECRET = re.compile(r"(\w*[kK]ey=).+", re.DOTALL)


def without_keys(argument: str) -> str:
    """Returns a command-line argument without the value of `...key=`, for messages and reports."""
    return _SECRET.sub(r"\1...", argument)


def command_line() -> str:
    """Returns the running command, quoted for a shell, without keys; "" if the API was called from Python."""
    return _command.get()


@contextlib.contextmanager
def running(name: str, arguments: Sequence[str]) -> Iterator[None]:
    """Sets the command that `command_line` returns."""
    token = _command.set(shlex.join([name, *(without_keys(one) for one in arguments)]))
    try:
        yield
    finally:
        _command.reset(token)


def handle_output_errors(name: str) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Decorates the `main` of the program `name` so that it does not raise KeyboardInterrupt or StandardOutputError.

    The exit status is 130 after Ctrl-C, and 1 if standard output cannot be written; both print one line. A closed pipe
    (EPIPE) prints nothing.
    """

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            stream = sys.stdout
            if isinstance(stream, TextIOWrapper):  # file names may contain invalid UTF-8
                stream.reconfigure(errors="backslashreplace")
            sys.stdout = cast(TextIO, _Output(stream))
            try:
                status = main(*args, **kwargs)
                sys.stdout.flush()
            except KeyboardInterrupt as stop:
                _forget(stream)
                print(f"{name}: interrupted{''.join(f'; {remark}' for remark in stop.args)}", file=sys.stderr)
                return _INTERRUPTED
            except StandardOutputError as lost:
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
    """Redirects buffered output to /dev/null: Python's exit would otherwise fail on it, or block."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a stream without a file descriptor, in tests
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def reason_of(error: OSError) -> str:
    """Returns the file and the reason of an error."""
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"
