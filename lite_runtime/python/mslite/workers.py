"""Workers: native models that run requests in the order of their arrival, on the caller's thread or on a worker thread.

The running request of each model is recorded, so canceling a request never ends the run of another one. All requests
end before the Python interpreter does, because a thread in the native module could not return later.
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

if TYPE_CHECKING:  # imported in functions, to reduce the start time of programs that do not use asyncio
    from concurrent.futures import Future

    from mslite import _runtime

Result = TypeVar("Result")
_POLL = 0.001
"""Seconds between two checks if a canceled run has ended."""


class _Request(Protocol):
    """A request that waits for a model."""

    model: _runtime.Model | None

    def start(self) -> None:
        """Called when the request has been assigned a model, with the lock of the workers held."""

    def refuse(self) -> None:
        """Called if the request is not run."""


class _SyncRequest:
    """A request that runs on the calling thread."""

    def __init__(self) -> None:
        self.model: _runtime.Model | None = None
        self._answered = threading.Lock()
        self._answered.acquire()

    def start(self) -> None:
        self._answered.release()

    refuse = start

    def wait(self) -> None:
        self._answered.acquire()


class _AsyncRequest:
    """A request that runs on a worker thread."""

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
        """Runs the request. The model is idle again before the future is done."""
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
    """A set of native models that run requests in the order of their arrival."""

    def __init__(self, models: Sequence[_runtime.Model]) -> None:
        self.granted: SimpleQueue[_AsyncRequest | None] = SimpleQueue()
        """Jobs that have been assigned a model; None ends a thread."""
        self.max_waiting = 1000
        self._threads = 0
        self.count = len(models)
        self._idle = list(models)
        self._lock = threading.Lock()
        self._waiting: OrderedDict[_Request, None] = OrderedDict()
        self._running: dict[_Request, _runtime.Model] = {}
        self._reason = "" if models else "no model was built"  # why requests are refused
        _all.add(self)

    def __del__(self) -> None:
        for _ in range(self._threads):
            self.granted.put(None)

    def run(self, work: Callable[[_runtime.Model], Result]) -> Result:
        """Waits for a model and calls `work` with it on this thread. Raises RuntimeError if requests are refused."""
        request = _SyncRequest()
        try:
            self._enter(request)
            request.wait()
            if request.model is None:
                raise RuntimeError(self._reason)
            return work(request.model)
        finally:
            self.leave(request)

    def submit(self, work: Callable[[_runtime.Model], Result]) -> _AsyncRequest:
        """Queues `work`, which a worker thread calls with a model. Raises asyncio.QueueFull, or RuntimeError if requests are
        refused."""
        from concurrent.futures import Future

        job = _AsyncRequest(self, work, Future())
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

            raise QueueFull(f"{len(self._waiting)} requests are waiting for the model; max_waiting is {limit}")
        if self._threads < self.count:
            threading.Thread(target=_serve, args=(self.granted,), name="mslite", daemon=True).start()
            self._threads += 1

    def _grant(self) -> None:
        while self._idle and self._waiting:
            request, _ = self._waiting.popitem(last=False)
            request.model = self._running[request] = self._idle.pop()
            request.start()

    def leave(self, request: _Request) -> None:
        """Removes a request. Its model is assigned to the next request."""
        with self._lock:
            self._waiting.pop(request, None)
            if request in self._running:
                self._idle.append(self._running.pop(request))
            self._grant()

    def cancel_request(self, job: _AsyncRequest) -> bool:
        """Removes a waiting job or cancels a running one. Returns False while it is running. A run cannot be canceled before
        its first operator, so the caller must repeat the call."""
        job.future.cancel()
        with self._lock:
            self._waiting.pop(job, None)
            model = self._running.get(job)
            if model is not None:
                model.cancel()
            return model is None

    def cancel(self) -> bool:
        """Cancels all running requests. Returns False if there are none."""
        with self._lock:
            ended = [model.cancel() for model in self._running.values()]
        return any(ended)

    def close(self, reason: str) -> None:
        """Refuses waiting and later requests, cancels the running ones and waits for their end."""
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

    def reset_after_fork(self) -> None:
        """Resets the state in the child of a fork, which does not have the threads of its parent. A model that was running
        during the fork stays locked and is not used any more."""
        self._lock = threading.Lock()
        self.granted = SimpleQueue()
        self._threads = 0
        self._waiting.clear()
        self._running.clear()
        self.count = len(self._idle)
        if not self._idle and not self._reason:
            self._reason = "the model was running when the process forked; build it again"


def _serve(granted: SimpleQueue[_AsyncRequest | None]) -> None:
    while (job := granted.get()) is not None:
        job.run()
        del job  # otherwise it would keep the model alive until the next job arrives


async def ask(workers: Workers, work: Callable[[_runtime.Model], Result]) -> Result:
    """Calls `work` with a model without blocking the event loop. Returns its result.

    If the task is canceled, CancelledError is raised after the request has ended."""
    import asyncio

    job = workers.submit(work)
    try:
        result: Result = await asyncio.wrap_future(job.future)
    except asyncio.CancelledError:
        while not workers.cancel_request(job):
            try:
                await asyncio.sleep(_POLL)
            except asyncio.CancelledError:
                continue  # the request is already being canceled
        raise
    except GeneratorExit:  # the event loop has been closed
        workers.cancel_request(job)
        raise
    return result


_all: weakref.WeakSet[Workers] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for workers in list(_all):
        workers.close("the Python interpreter is shutting down")


def _forget_other_threads() -> None:
    for workers in list(_all):
        workers.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
