"""Ctrl-C between two steps of long work, not within one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def between_steps() -> Iterator[Callable[[], None]]:
    """Gives a function to call after each step: it raises KeyboardInterrupt when Ctrl-C was pressed meanwhile.

    Pressed again, Ctrl-C interrupts at once. Outside of the main thread nothing changes.
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
