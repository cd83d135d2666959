"""Processes that run functions of modules beside this one.

Those of `multiprocessing` import the program that started them. A script that calls the converter without
`if __name__ == "__main__":` would convert again in each of them. These import the function's module and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from mslite.converter.errors import ConversionError, ReturnCode

_Result = TypeVar("_Result")

_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import answer_calls; answer_calls()"
)


class ProcessPool(ThreadPoolExecutor):
    """An executor with `count` processes. Functions, arguments and results are pickled; a function is found by its
    module's name, which is not `__main__`.

    A future raises what its function raised, or ConversionError where the process ended before it answered.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        try:
            for _ in range(count):
                worker = _Worker()
                self._workers.append(worker)
                self._idle.put(worker)
        except BaseException:
            self.shutdown()
            raise

    def submit(self, function: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        return super().submit(self._call, function, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.end()

    def _call(self, function: Callable[..., _Result], args: Any, kwargs: Any) -> _Result:
        worker = self._idle.get()
        try:
            return worker.call(function, args, kwargs)
        finally:
            self._idle.put(worker)


class _Worker:
    """One process, which answers a call at a time."""

    def __init__(self) -> None:
        # -P: nothing is imported from the current folder before the search path of this process is known.
        command = [sys.executable, "-P", "-c", _START]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.suppress(OSError):  # the first call says that the process has ended
            self._send(sys.path)

    def call(self, function: Callable[..., _Result], args: Any, kwargs: Any) -> _Result:
        message = pickle.dumps((function, args, kwargs))
        assert self._process.stdout is not None
        try:
            self._send(message)
            succeeded, result = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise ConversionError(self._reason(), code=ReturnCode.ERROR) from None
        if not succeeded:
            raise result
        answer: _Result = result
        return answer

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def _reason(self) -> str:
        status = self._process.wait()
        how = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return (
            f"a process of the search ended {how} before it answered. Where memory was short, "
            "processes=1 in [accuracy_param] searches in one process"
        )

    def end(self) -> None:
        """Waits until the process has ended, which it does when nobody calls it any more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # what could not be sent to a process that has ended
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def answer_calls() -> None:
    """The other side: answers what standard input asks until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ending this process is for the caller to do
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints must not get between the answers
    with contextlib.suppress(EOFError, BrokenPipeError, pickle.UnpicklingError):  # the caller has ended
        while True:
            message = pickle.load(sys.stdin.buffer)
            try:
                function, args, kwargs = pickle.loads(message)
                answer = pickle.dumps((True, function(*args, **kwargs)))
            except BaseException as error:
                answer = pickle.dumps((False, _portable(error)))
            answers.write(answer)
            answers.flush()


def _portable(error: BaseException) -> BaseException:
    """The exception, or where it does not outlive pickling one that says the same."""
    with contextlib.suppress(Exception):
        pickle.loads(pickle.dumps(error))
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
