"""Programs whose output is read by one that stops early, such as `head`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


def ends_with_its_reader(main: Callable[P, int]) -> Callable[P, int]:
    """Lets a program end without a word, with exit status 1, when nobody reads its output any more."""

    @functools.wraps(main)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            status = main(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            # What is still held back goes nowhere, or Python would complain when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        return status

    return run
