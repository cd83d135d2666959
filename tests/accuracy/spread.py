"""Runs measurements on a Dask cluster. All machines have this checkout, its build and the same data at the same paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mslite.quantizer.accuracy.workers import workers

from .measure import Result, measure
from .tasks import Task

Measurement = tuple[Task, str]
"""A task and a tool to quantize its model with."""


def measure_on_cluster(measurements: Sequence[Measurement], address: str) -> Iterator[tuple[Measurement, Result]]:
    """Yields pairs of measurement and result in the order of completion. A crash of a worker process ends the iteration.

    Raises ConversionError if the cluster cannot be reached.
    """
    with workers(address) as cluster:
        yield from cluster.map(_measured, b"", measurements)


def _measured(_nothing: bytes | Path, measurement: Measurement) -> Result:
    return measure(*measurement)
