"""Calibration data: samples that can be gone through again and again, one at a time.

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
from mslite.quantizer.calibration.samples import GivenSample, Sample, arranged, as_they_are
from mslite.quantizer.settings import DataPreprocessParam

Source = Callable[[], Iterable[GivenSample]] | Sequence[GivenSample]
"""What a Python caller may hand in: samples, or a function that starts a new pass over them."""


class CalibrationData(Protocol):
    """Samples of calibration; each `iter()` starts from the first one again."""

    size: int | None
    """How many samples there are, None when that is not known."""

    def __iter__(self) -> Iterator[Sample]: ...

    def beyond(self) -> Iterator[Sample]:
        """Further samples of the same kind, behind those of calibration; none where there are none."""


class PythonData:
    """Samples from a function or a sequence, brought into the order and the layout of the graph inputs."""

    def __init__(self, source: Source, inputs: Sequence[Value], limit: int = 0) -> None:
        if isinstance(source, Iterator):
            raise UsageError(
                "calibration data must be a sequence or a function that returns an iterator: it is read more than once"
            )
        self._source = source
        self._inputs = as_they_are(inputs)
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
    """The samples of `source`, or of the folders that the configuration names. Raises UsageError when there are none."""
    if source is not None:
        return PythonData(source, inputs, settings.calibrate_size)
    if not settings.calibrate_path:
        raise UsageError(
            "this needs calibration data: calibrate_path, calibrate_size and input_type in"
            " [data_preprocess_param], or samples from Python"
        )
    return FolderData(settings, inputs)
