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
    """The inputs of the float model, which the quantization changes in place: samples go on being meant for these."""
    return [Value(value.name, value.dtype, value.shape) for value in inputs]


def arranged(given: GivenSample, inputs: Sequence[Value], what: str) -> list[list[Array]]:
    """Samples of one array per input, in order: one, or several where the arrays hold more rows than the model takes at a time.

    Raises ConversionError for what does not fit.
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
        raise _wrong(f"{what}: it has {counted(len(given), 'array')}; the model has {counted(len(inputs), 'input')}")
    return together(
        [cut(np.asarray(array), value, what) for array, value in zip(given, inputs, strict=True)], inputs, what
    )


def together(parts: Sequence[Sequence[Array]], inputs: Sequence[Value], what: str) -> list[list[Array]]:
    """The parts of each input as samples. Raises ConversionError where inputs have different numbers of them."""
    if len({len(found) for found in parts}) > 1:
        told = ", ".join(f"'{value.name}' {len(found)}" for value, found in zip(inputs, parts, strict=True))
        raise _wrong(f"{what}: the inputs have different numbers of samples: {told}")
    return [list(sample) for sample in zip(*parts, strict=True)]


def cut(array: Array, value: Value, what: str) -> list[Array]:
    """An array in parts of as many rows as the model takes at a time, each as `fitted` gives it."""
    rows = value.shape[0] if value.shape else -1
    if array.ndim == len(value.shape or ()) and rows > 0 and len(array) > rows and _way(array.shape[1:], value, 1):
        if len(array) % rows:
            raise _wrong(
                f"{what}: the array for input '{value.name}' has {len(array)} rows; the model takes {rows} at a time, of which that is no "
                f"multiple"
            )
        return [fitted(part, value, what) for part in np.split(array, len(array) // rows)]
    return [fitted(array, value, what)]


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
        f"{what}: the array for input '{value.name}' has the shape {_text(array.shape)}; the model takes {takes}"
    )


def _text(shape: Sequence[int]) -> str:
    return "x".join(str(size) if size >= 0 else "?" for size in shape)


def _way(given: Sequence[int], value: Value, first: int = 0) -> str:
    """How an array of this shape becomes the input's; "" where it does not. With `first` the rows are left out of both."""
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
