"""A pool of worker processes that import only the module of the function they run.

Workers of `multiprocessing` import the main program. A script that calls the converter without
`if __name__ == "__main__":` would convert again in each of them.
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
    """An executor with `count` processes.

    Functions, arguments and results are pickled. A function must be importable, so it cannot be in `__main__`. A future
    raises the exception of its function, or ConversionError if the process ended before it returned a result.
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
    """One process, which runs one call at a time."""

    def __init__(self) -> None:
        # -P: do not import from the current folder before sys.path of this process has arrived.
        command = [sys.executable, "-P", "-c", _START]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.suppress(OSError):  # if the process has ended, the first call reports it
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
        return f"a worker process of the search ended {how}. If memory was low, set processes=1 in [accuracy_param]"

    def end(self) -> None:
        """Closes the input of the process, which ends it, and waits for it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # the process has ended, and unsent data cannot be flushed
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def answer_calls() -> None:
    """Main function of a worker: runs the calls from standard input until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of a function must not mix with the results
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
    """Returns the exception or, if it cannot be pickled, a RuntimeError with the same text."""
    with contextlib.suppress(Exception):
        pickle.loads(pickle.dumps(error))
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
