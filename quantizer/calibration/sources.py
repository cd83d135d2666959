"""Calibration data: samples that can be iterated several times, one sample in memory at a time.

A sample is one array per graph input of the converted model. It comes from the folders of [data_preprocess_param], or
from Python: a function that returns an iterator, or a sequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Value
from mslite.quantizer.calibration.folders import FolderData
from mslite.quantizer.calibration.samples import GivenSample, Sample, arranged, copied_inputs
from mslite.quantizer.settings import DataPreprocessParam

Source = Callable[[], Iterable[GivenSample]] | Sequence[GivenSample]
"""Calibration data from Python: a sequence of samples, or a function that returns a new iterator over them."""


class CalibrationData(Protocol):
    """Interface: calibration samples. Each `iter()` starts at the first one."""

    size: int | None
    """Number of samples; None if unknown."""

    def __iter__(self) -> Iterator[Sample]: ...

    def beyond(self) -> Iterator[Sample]:
        """Yields the samples after those of the calibration, if there are any."""


class PythonData:
    """Samples from a Python function or sequence, converted to the order and layout of the graph inputs."""

    def __init__(self, source: Source, inputs: Sequence[Value], limit: int = 0) -> None:
        if isinstance(source, Iterator):
            raise UsageError(
                "calibration data must be a sequence or a function that returns an iterator: it is read more than once"
            )
        self._source = source
        self._inputs = copied_inputs(inputs)
        self._limit = limit
        known = None if callable(source) else len(source)
        self.size = known if not limit or known is None else min(known, limit)

    def __iter__(self) -> Iterator[Sample]:
        return self._between(0, self._limit or None)

    def beyond(self) -> Iterator[Sample]:
        return self._between(self._limit, None) if self._limit else iter(())

    def _between(self, first: int, end: int | None) -> Iterator[Sample]:
        samples: Iterable[Any] = self._source() if callable(self._source) else self._source
        for number, given in enumerate(itertools.islice(samples, first, end), first):
            samples_of = arranged(given, self._inputs, f"calibration sample {number}")
            if len(samples_of) > 1:
                self.size = None
            yield from samples_of


def calibration_data(source: Source | None, inputs: Sequence[Value], settings: DataPreprocessParam) -> CalibrationData:
    """Returns the samples of `source` or of the folders in the configuration. Raises UsageError without either."""
    if source is not None:
        return PythonData(source, inputs, settings.calibrate_size)
    if not settings.calibrate_path:
        raise UsageError(
            "calibration data is missing: set calibrate_path, calibrate_size and input_type in"
            " [data_preprocess_param], or pass samples from Python"
        )
    return FolderData(settings, inputs)
