"""Calibration data: samples that can be gone through again and again, one at a time.

A sample is one array per graph input of the converted model. It comes from the folders of [data_preprocess_param], or
from Python: a function that returns an iterator, or a sequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.quantizer.runner import Sample
from mslite.quantizer.settings import DataPreprocessParam

GivenSample = Array | Sequence[Array] | Mapping[str, Array]
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
            yield arranged(given, self._inputs, f"calibration sample {number}")


def calibration_data(source: Source | None, inputs: Sequence[Value], settings: DataPreprocessParam) -> CalibrationData:
    """The samples of `source`, or of the folders that the configuration names. Raises UsageError when there are none."""
    if source is not None:
        return PythonData(source, inputs, settings.calibrate_size)
    if not settings.calibrate_path:
        raise UsageError(
            "this needs calibration data: calibrate_path, calibrate_size and input_type in"
            " [data_preprocess_param], or samples from Python"
        )
    from mslite.quantizer.folders import FolderData

    return FolderData(settings, inputs)


def as_they_are(inputs: Sequence[Value]) -> list[Value]:
    """The inputs of the float model, which the quantisation changes in place: samples go on being meant for these."""
    return [Value(value.name, value.dtype, value.shape) for value in inputs]


def arranged(given: GivenSample, inputs: Sequence[Value], what: str) -> list[Array]:
    """One array per input, in order. Raises ConversionError for what does not fit."""
    if isinstance(given, np.ndarray):
        given = [given]
    if isinstance(given, Mapping):
        names = [value.name for value in inputs]
        unknown, missing = set(given) - set(names), set(names) - set(given)
        if unknown or missing:
            wrong = f"no input is named '{min(unknown)}'" if unknown else f"input '{min(missing)}' is missing"
            raise _wrong(f"{what}: {wrong}; the model has {', '.join(names)}")
        given = [given[name] for name in names]
    if len(given) != len(inputs):
        raise _wrong(f"{what}: it has {len(given)} arrays; the model has {len(inputs)} inputs")
    return [fitted(np.asarray(array), value, what) for array, value in zip(given, inputs, strict=True)]


def fitted(array: Array, value: Value, what: str) -> Array:
    """An array in the type and the layout of an input. Images may also be NCHW, where only that fits.

    A missing batch dimension of 1 is added. Raises ConversionError.
    """
    wanted = numpy_type(value.dtype)
    if array.dtype != wanted:
        if not np.can_cast(array.dtype, wanted, "same_kind") and wanted.kind != "f":
            raise _wrong(f"{what}: input '{value.name}' takes {wanted}, the array holds {array.dtype}")
        array = array.astype(wanted)
    if wanted.kind == "f" and not bool(np.isfinite(array).all()):
        raise _wrong(f"{what}: the array for input '{value.name}' holds numbers that are not finite")
    shape = value.shape
    if shape is None or _fits(array.shape, shape):
        return array
    if array.ndim == len(shape) - 1 and _fits((1, *array.shape), shape):
        return array[None]
    if array.ndim == 4 and _fits(tuple(array.shape[axis] for axis in (0, 2, 3, 1)), shape):
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    text = "x".join(str(size) if size >= 0 else "?" for size in shape)
    raise _wrong(f"{what}: input '{value.name}' has the shape {text}, the array {'x'.join(map(str, array.shape))}")


def _fits(given: Sequence[int], wanted: Sequence[int]) -> bool:
    return len(given) == len(wanted) and all(
        size == target or target < 0 for size, target in zip(given, wanted, strict=True)
    )


def _wrong(text: str) -> ConversionError:
    return ConversionError(text, code=ReturnCode.INPUT_PARAMETER_INVALID)
