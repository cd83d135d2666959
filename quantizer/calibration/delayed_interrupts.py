"""Delays Ctrl-C during long work to the end of the current step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def delayed_interrupts() -> Iterator[Callable[[], None]]:
    """Yields a function to call after each step. It raises KeyboardInterrupt if Ctrl-C was pressed during the step.

    A second Ctrl-C interrupts at once. In other threads than the main thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    pressed = False
    before = signal.getsignal(signal.SIGINT)

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, remember)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)
