"""Runs the measurements of a search: in this process, in several processes, or on a Dask cluster."""

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
from mslite.quantizer.accuracy.process_pool import ProcessPool

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Function = Callable[[bytes | Path, _Item], _Result]
"""An importable function. Its arguments are the shared payload (bytes, or a file with them) and one item."""


def usable_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Workers:
    """Runs one function on many items."""

    executor: Executor | None
    share: Callable[[bytes], Any]
    """Prepares the payload once and returns the first argument of every call. A cluster sends it to each machine
    once."""
    count: int

    def map(
        self, function: Function[_Item, _Result], payload: bytes, items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result]]:
        """Yields pairs of item and result in the order of completion. An exception of a call is raised here."""
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
    """Starts `processes` workers (0: one per usable core) or, with an address, connects to a Dask cluster.

    Raises ConversionError if the cluster is not available.
    """
    if address:
        yield from _cluster(address)
        return
    count = processes or usable_cores()
    if count == 1 or not sys.executable:  # a program that embeds Python has no interpreter to start
        yield Workers(None, lambda payload: payload, 1)
        return
    executor = _started(count)
    try:
        with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
            yield Workers(executor, lambda payload: _kept(payload, Path(folder)), count)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _started(count: int) -> ProcessPool:
    """Starts the processes with Ctrl-C ignored, which they inherit. This process ends them."""
    if threading.current_thread() is not threading.main_thread():
        return ProcessPool(count)  # only the main thread may change signal handlers
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return ProcessPool(count)
    finally:
        signal.signal(signal.SIGINT, before)


def _kept(payload: bytes, folder: Path) -> Path:
    """Writes the payload to a file, so that it is not sent through a pipe for every call."""
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
            f"--cluster: cannot connect to a Dask scheduler at {address}: {error}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        ) from None
    try:
        count = sum(client.nthreads().values())
        sent: dict[str, Any] = {}  # the cluster keeps the data as long as these references exist

        def share(payload: bytes) -> Any:
            key = hashlib.sha256(payload).hexdigest()
            if key not in sent:
                sent[key] = client.scatter(payload, broadcast=True)
            return sent[key]

        yield Workers(client.get_executor(pure=False), share, count)
    finally:
        client.close()
