"""Converts calibration samples to the order, data types and layouts of the model's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.text_shortening import counted

Sample = Sequence[Array]
"""One array per graph input, in order."""

GivenSample = Array | Sequence[Array] | Mapping[str, Array]
"""One sample, as a Python caller may pass it."""


def copied_inputs(inputs: Sequence[Value]) -> list[Value]:
    """Copies the inputs of the float model, because quantization changes them in place. Samples match the copies."""
    return [Value(value.name, value.dtype, value.shape) for value in inputs]


def arranged(given: GivenSample, inputs: Sequence[Value], what: str) -> list[list[Array]]:
    """Converts a given sample to samples with one array per input, in order.

    The result has several samples if the arrays have several times the model's batch. Raises ConversionError if the
    arrays do not match the inputs.
    """
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
        raise _wrong(f"{what}: has {counted(len(given), 'array')}; the model has {counted(len(inputs), 'input')}")
    return together(
        [cut(np.asarray(array), value, what) for array, value in zip(given, inputs, strict=True)], inputs, what
    )


def together(parts: Sequence[Sequence[Array]], inputs: Sequence[Value], what: str) -> list[list[Array]]:
    """Combines the parts of each input to samples. Raises ConversionError if inputs have different numbers of parts."""
    if len({len(found) for found in parts}) > 1:
        told = ", ".join(f"'{value.name}' {len(found)}" for value, found in zip(inputs, parts, strict=True))
        raise _wrong(f"{what}: the inputs have different numbers of samples: {told}")
    return [list(sample) for sample in zip(*parts, strict=True)]


def cut(array: Array, value: Value, what: str) -> list[Array]:
    """Splits an array into parts with the model's batch size, and converts each with `fitted`."""
    rows = value.shape[0] if value.shape else -1
    if array.ndim == len(value.shape or ()) and rows > 0 and len(array) > rows and _way(array.shape[1:], value, 1):
        if len(array) % rows:
            raise _wrong(
                f"{what}: the array for input '{value.name}' has {len(array)} rows, which is not a multiple of the"
                f" model's batch, {rows}"
            )
        return [fitted(part, value, what) for part in np.split(array, len(array) // rows)]
    return [fitted(array, value, what)]


def fitted(array: Array, value: Value, what: str) -> Array:
    """Converts an array to the data type and layout of an input.

    Images in NCHW are transposed if only that matches the shape. A missing batch dimension of 1 is added. Raises
    ConversionError if the array does not match.
    """
    wanted = numpy_type(value.dtype)
    if array.dtype != wanted:
        is_number = array.dtype.kind in "biuf"
        if not is_number or (not np.can_cast(array.dtype, wanted, "same_kind") and wanted.kind != "f"):
            raise _wrong(f"{what}: input '{value.name}' has the data type {wanted}, the array has {array.dtype}")
        array = array.astype(wanted)
    if wanted.kind == "f" and not bool(np.isfinite(array).all()):
        raise _wrong(f"{what}: the array for input '{value.name}' has values that are NaN or infinite")
    way = _way(array.shape, value)
    if way == "as it is":
        return array
    if way == "one row":
        return array[None]
    if way == "channels last":
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    shape = value.shape or ()
    takes = _text(shape)
    if len(shape) == 4:
        takes = f"{takes} (NHWC) or {_text([shape[axis] for axis in (0, 3, 1, 2)])} (NCHW)"
    raise _wrong(
        f"{what}: the array for input '{value.name}' has the shape {_text(array.shape)}; the model needs {takes}"
    )


def _text(shape: Sequence[int]) -> str:
    return "x".join(str(size) if size >= 0 else "?" for size in shape)


def _way(given: Sequence[int], value: Value, first: int = 0) -> str:
    """Returns how an array of this shape is converted to the input's shape; "" if it does not match.

    With `first=1` the batch dimension of the input is ignored; `given` is without it.
    """
    shape = None if value.shape is None else value.shape[first:]
    if shape is None or _fits(given, shape):
        return "as it is"
    if not first and len(given) == len(shape) - 1 and _fits((1, *given), shape):
        return "one row"
    channels = len(given) - 3
    if len(given) + first == 4 and _fits((*given[:channels], *given[channels + 1 :], given[channels]), shape):
        return "channels last"
    return ""


def _fits(given: Sequence[int], wanted: Sequence[int]) -> bool:
    return len(given) == len(wanted) and all(
        size == target or target < 0 for size, target in zip(given, wanted, strict=True)
    )


def _wrong(text: str) -> ConversionError:
    return ConversionError(text, code=ReturnCode.INPUT_PARAMETER_INVALID)
