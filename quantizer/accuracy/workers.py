"""Where the many small runs of a search are done: in this process, on all of its cores, or on a cluster."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.extras import install
from mslite.quantizer.accuracy.processes import ProcessPool

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Function = Callable[[bytes | Path, _Item], _Result]
"""Gets what all runs share, bytes or a file that holds them, and one item; a function that its module's name finds."""


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Workers:
    """Runs one function on many items."""

    executor: Executor | None
    share: Callable[[bytes], Any]
    """Makes of a payload what is handed to every run; a cluster sends it to its machines once."""
    count: int

    def map(
        self, function: Function[_Item, _Result], payload: bytes, items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result]]:
        """Pairs of item and result, in the order in which they are done. What a run raises is raised here."""
        if self.executor is None:
            for item in items:
                yield item, function(payload, item)
            return
        shared = self.share(payload)
        futures: dict[Future[_Result], _Item] = {self.executor.submit(function, shared, item): item for item in items}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()


@contextmanager
def workers(address: str = "", processes: int = 0) -> Iterator[Workers]:
    """All usable cores, `processes` of them, or with an address those of a Dask cluster (`dask.distributed`).

    Raises ConversionError when the cluster cannot be had.
    """
    if address:
        yield from _cluster(address)
        return
    count = processes or usable_cores()
    if count == 1 or not sys.executable:  # a program that embeds Python has no other to start
        yield Workers(None, lambda payload: payload, 1)
        return
    executor = _started(count)
    try:
        with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
            yield Workers(executor, lambda payload: _kept(payload, Path(folder)), count)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _started(count: int) -> ProcessPool:
    """The processes. They are started while interruption is ignored, which they inherit: this process ends them."""
    if threading.current_thread() is not threading.main_thread():
        return ProcessPool(count)  # signals belong to the main thread
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return ProcessPool(count)
    finally:
        signal.signal(signal.SIGINT, before)


def _kept(payload: bytes, folder: Path) -> Path:
    """A file with the payload, so that it does not go through a pipe again for every run."""
    path = folder / hashlib.sha256(payload).hexdigest()
    if not path.exists():
        path.write_bytes(payload)
    return path


def _cluster(address: str) -> Iterator[Workers]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ConversionError(
            f"--cluster needs the package distributed. Install it with: {install('dask')}",
            code=ReturnCode.NOT_SUPPORTED,
        ) from None
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConversionError(
            f"--cluster: no scheduler answers at {address}: {error}", code=ReturnCode.INPUT_PARAMETER_INVALID
        ) from None
    try:
        count = sum(client.nthreads().values())
        sent: dict[str, Any] = {}  # as long as it is kept, the cluster keeps it

        def share(payload: bytes) -> Any:
            key = hashlib.sha256(payload).hexdigest()
            if key not in sent:
                sent[key] = client.scatter(payload, broadcast=True)
            return sent[key]

        yield Workers(client.get_executor(pure=False), share, count)
    finally:
        client.close()
