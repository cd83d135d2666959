"""Converts test cases to other element types."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from ._declare import Array, Case

ELEMENT_TYPES = tuple(
    np.dtype(name)
    for name in ("float32", "float64", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
"""Element types of floats, integers and bool; float16 is missing, because the converter converts it to float32."""
_SIZES = frozenset(
    (
        "TensorListReserve",
        "TensorArray",
        "ConstantOfShape",
        "FillV2",
        "RandomNormal",
        "RandomStandardNormal",
        "UniformReal",
    )
)
"""Operators with a shape as the first input."""
_LARGEST = 1e9
_STEP = 5
"""Factor by which floats are multiplied before they are rounded to the integers of a case."""


def converted(array: Array, dtype: npt.DTypeLike) -> Array:
    """Returns the input in another type, with values in its range: absolute values for unsigned types."""
    kind = np.dtype(dtype)
    if array.dtype == kind:
        return array
    if kind.kind == "b":
        return np.asarray(array > 0)
    if kind.kind == "f" or array.dtype.kind == "b":
        with np.errstate(over="ignore"):
            return np.asarray(array.astype(kind))
    if array.dtype.kind == "f":
        finite = np.clip(np.where(np.isfinite(array), array, 1).astype(np.float64), -_LARGEST, _LARGEST)
        array = np.round(finite * (_STEP if np.abs(finite).max(initial=0) < _STEP else 1)).astype(np.int64)
    bounds, own = np.iinfo(kind), np.iinfo(array.dtype)
    low, high = max(bounds.min, own.min), min(bounds.max, own.max)
    return np.asarray(np.clip(np.abs(array) if kind.kind == "u" else array, low, high).astype(kind))


def subject_of(case: Case) -> np.dtype[np.generic] | None:
    """Returns the type that a case tests: that of its float inputs, else of its first input."""
    kinds = [array.dtype for array in case.inputs if array is not None]
    return np.dtype(np.float32) if np.dtype(np.float32) in kinds else kinds[0] if kinds else None


def types_for(case: Case) -> tuple[np.dtype[np.generic], ...]:
    """Returns the types that a case can be converted to; only its own type if that is complex or of a shape."""
    subject = subject_of(case)
    if subject is None:
        return ()
    return ELEMENT_TYPES if subject in ELEMENT_TYPES and case.op.name not in _SIZES else (subject,)


def retyped(case: Case, dtype: npt.DTypeLike) -> Case:
    """Returns the case with all inputs of the tested type converted to another type."""
    subject = subject_of(case)
    inputs = tuple(
        converted(array, dtype) if array is not None and array.dtype == subject else array for array in case.inputs
    )
    return dataclasses.replace(case, name=f"{case.name}-{np.dtype(dtype).name}", inputs=inputs)
