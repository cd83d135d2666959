"""One sample: an array for each graph input, brought into the order, the type and the layout of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.quoting import counted

Sample = Sequence[Array]
"""One array per graph input, in order."""

GivenSample = Array | Sequence[Array] | Mapping[str, Array]
"""What a Python caller may hand in for one sample."""


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
        raise _wrong(f"{what}: it has {counted(len(given), 'array')}; the model has {counted(len(inputs), 'input')}")
    return [fitted(np.asarray(array), value, what) for array, value in zip(given, inputs, strict=True)]


def fitted(array: Array, value: Value, what: str) -> Array:
    """An array in the type and the layout of an input. Images may also be NCHW, where only that fits.

    A missing batch dimension of 1 is added. Raises ConversionError.
    """
    wanted = numpy_type(value.dtype)
    if array.dtype != wanted:
        is_number = array.dtype.kind in "biuf"
        if not is_number or (not np.can_cast(array.dtype, wanted, "same_kind") and wanted.kind != "f"):
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
