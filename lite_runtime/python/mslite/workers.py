"""Native models that take turns: who comes first runs first, on the caller's thread or on one that is kept for requests.

Of each model it is known whose run goes on, so that ending one request never ends another's run. All of them end before
Python does: a thread inside of the native module could not come back later.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:  # imported where they are needed: programs that do not wait for awaitables start sooner
    from concurrent.futures import Future

    from mslite import _runtime

Result = TypeVar("Result")
_POLL = 0.001
"""Seconds between two looks whether a run has ended that was told to."""


class _Request(Protocol):
    """Waits for a model."""

    model: _runtime.Model | None

    def start(self) -> None:
        """It has a model now. Called under the lock of the workers."""

    def refuse(self) -> None:
        """It never gets one."""


class _Turn:
    """A request of the calling thread."""

    def __init__(self) -> None:
        self.model: _runtime.Model | None = None
        self._answered = threading.Lock()
        self._answered.acquire()

    def start(self) -> None:
        self._answered.release()

    refuse = start

    def wait(self) -> None:
        self._answered.acquire()


class _Job:
    """A request that a thread of the workers runs."""

    def __init__(self, workers: Workers, work: Callable[[_runtime.Model], Any], future: Future[Any]) -> None:
        self.model: _runtime.Model | None = None
        self.future = future
        self._workers = workers
        self._work = work

    def start(self) -> None:
        self._workers.granted.put(self)

    def refuse(self) -> None:
        self.future.cancel()

    def run(self) -> None:
        """Runs the request; its model is free when the future is done."""
        if not self.future.set_running_or_notify_cancel():
            self._workers.leave(self)
            return
        try:
            assert self.model is not None
            result = self._work(self.model)
        except BaseException as error:
            self._workers.leave(self)
            self.future.set_exception(error)
        else:
            self._workers.leave(self)
            self.future.set_result(result)


class Workers:
    """Native models for requests that are served in the order in which they came."""

    def __init__(self, models: Sequence[_runtime.Model]) -> None:
        self.granted: SimpleQueue[_Job | None] = SimpleQueue()
        """Jobs that have their model; None ends a thread."""
        self.max_waiting = 1000
        self._threads = 0
        self.count = len(models)
        self._idle = list(models)
        self._lock = threading.Lock()
        self._waiting: OrderedDict[_Request, None] = OrderedDict()
        self._running: dict[_Request, _runtime.Model] = {}
        self._reason = "" if models else "no model was built"  # why nothing runs
        _all.add(self)

    def __del__(self) -> None:
        for _ in range(self._threads):
            self.granted.put(None)

    def run(self, work: Callable[[_runtime.Model], Result]) -> Result:
        """Waits for a model and calls `work` with it, on this thread. Raises RuntimeError when none runs."""
        request = _Turn()
        try:
            self._enter(request)
            request.wait()
            if request.model is None:
                raise RuntimeError(self._reason)
            return work(request.model)
        finally:
            self.leave(request)

    def submit(self, work: Callable[[_runtime.Model], Result]) -> _Job:
        """Queues `work`, which a thread calls with a model. Raises asyncio.QueueFull, RuntimeError when none runs."""
        from concurrent.futures import Future

        job = _Job(self, work, Future())
        self._enter(job, self.max_waiting)
        return job

    def _enter(self, request: _Request, limit: int | None = None) -> None:
        with self._lock:
            if self._reason:
                raise RuntimeError(self._reason)
            if limit is not None:
                self._make_room(limit)
            self._waiting[request] = None
            self._grant()

    def _make_room(self, limit: int) -> None:
        if not self._idle and len(self._waiting) >= limit:
            from asyncio import QueueFull

            raise QueueFull(f"{len(self._waiting)} requests wait for the model; max_waiting is {limit}")
        if self._threads < self.count:
            threading.Thread(target=_serve, args=(self.granted,), name="mslite", daemon=True).start()
            self._threads += 1

    def _grant(self) -> None:
        while self._idle and self._waiting:
            request, _ = self._waiting.popitem(last=False)
            request.model = self._running[request] = self._idle.pop()
            request.start()

    def leave(self, request: _Request) -> None:
        """Forgets the request, wherever it is; the model that it had is the next one's."""
        with self._lock:
            self._waiting.pop(request, None)
            if request in self._running:
                self._idle.append(self._running.pop(request))
            self._grant()

    def withdraw(self, job: _Job) -> bool:
        """Takes a job out that waits, or ends its run. False while that goes on: before its first operator it cannot be
        ended, so that one has to ask again."""
        job.future.cancel()
        with self._lock:
            self._waiting.pop(job, None)
            model = self._running.get(job)
            if model is not None:
                model.cancel()
            return model is None

    def cancel(self) -> bool:
        """Ends all runs that go on; false when there are none."""
        with self._lock:
            ended = [model.cancel() for model in self._running.values()]
        return any(ended)

    def close(self, reason: str) -> None:
        """Refuses what waits and what comes, ends what runs, and waits for its end."""
        with self._lock:
            self._reason = reason
            refused = list(self._waiting)
            self._waiting.clear()
        for request in refused:
            request.refuse()
        while True:
            self.cancel()
            with self._lock:
                if not self._running:
                    return
            time.sleep(_POLL)

    def forget_other_threads(self) -> None:
        """In the child of a fork, where the threads of the parent are not. A model that ran then stays locked for ever."""
        self._lock = threading.Lock()
        self.granted = SimpleQueue()
        self._threads = 0
        self._waiting.clear()
        self._running.clear()
        self.count = len(self._idle)
        if not self._idle and not self._reason:
            self._reason = "the model was running when this process was forked; build it again"


def _serve(granted: SimpleQueue[_Job | None]) -> None:
    while (job := granted.get()) is not None:
        job.run()
        del job  # which would keep the model alive until the next one comes


async def ask(workers: Workers, work: Callable[[_runtime.Model], Result]) -> Result:
    """What `work` returns for a model, without blocking the event loop.

    When the task is canceled, CancelledError comes when nothing of the request goes on any more."""
    import asyncio

    job = workers.submit(work)
    try:
        result: Result = await asyncio.wrap_future(job.future)
    except asyncio.CancelledError:
        while not workers.withdraw(job):
            try:
                await asyncio.sleep(_POLL)
            except asyncio.CancelledError:
                continue  # it is being canceled already
        raise
    except GeneratorExit:  # the loop is gone
        workers.withdraw(job)
        raise
    return result


_all: weakref.WeakSet[Workers] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for workers in list(_all):
        workers.close("Python is ending")


def _forget_other_threads() -> None:
    for workers in list(_all):
        workers.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
