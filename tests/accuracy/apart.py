"""Runs a measurement in a separate process, so that a crash of a tool only ends its own measurement."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from .measure import Result, measure
from .tasks import Task


def measure_apart(task: Task, tool: str, function: Callable[[Task, str], Result] = measure) -> Result:
    """Returns the result of `function`; if its process ends without a result, a result with the error."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            return executor.submit(function, task, tool).result()
        except BrokenProcessPool:
            return Result(
                task.name, tool, "its process crashed", data=task.data, classifies=task.classifies,
                calibration=len(task.calibration), held_out=len(task.held_out),
            )  # fmt: skip
