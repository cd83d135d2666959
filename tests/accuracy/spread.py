"""Measurements on a Dask cluster, whose machines have this checkout, its build and the same data at the same paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mslite.quantizer.accuracy.workers import workers

from .measure import Result, measure
from .tasks import Task

Measurement = tuple[Task, str]
"""A task, and the tool that quantizes its model."""


def measure_on_cluster(measurements: Sequence[Measurement], address: str) -> Iterator[tuple[Measurement, Result]]:
    """Pairs of measurement and result, in the order in which they are done. A worker's process that crashes ends the sweep;
    what was measured until then is with the caller.

    Raises ConversionError when the cluster cannot be had.
    """
    with workers(address) as cluster:
        yield from cluster.map(_measured, b"", measurements)


def _measured(_nothing: bytes | Path, measurement: Measurement) -> Result:
    return measure(*measurement)
