"""Test cases with operands of other element types."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from ._declare import Array, Case

ELEMENT_TYPES = tuple(
    np.dtype(name)
    for name in ("float32", "float64", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
"""What float values, integers and truth values are held in; the converter makes float32 of float16."""
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
"""Operators whose first operand is a shape."""
_LARGEST = 1e9
_STEP = 5
"""Float values below this times this, rounded, are the integers of a case."""


def converted(array: Array, dtype: npt.DTypeLike) -> Array:
    """The operand in another type, with numbers that it can hold: absolute ones where it has no sign."""
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
    """The type that a case is about: of its float values, where it has some, else of its first operand."""
    kinds = [array.dtype for array in case.inputs if array is not None]
    return np.dtype(np.float32) if np.dtype(np.float32) in kinds else kinds[0] if kinds else None


def types_for(case: Case) -> tuple[np.dtype[np.generic], ...]:
    """The types that the case may be in; its own alone where that is complex, or of sizes."""
    subject = subject_of(case)
    if subject is None:
        return ()
    return ELEMENT_TYPES if subject in ELEMENT_TYPES and case.op.name not in _SIZES else (subject,)


def retyped(case: Case, dtype: npt.DTypeLike) -> Case:
    """The case with all operands of the type that it is about in another one."""
    subject = subject_of(case)
    inputs = tuple(
        converted(array, dtype) if array is not None and array.dtype == subject else array for array in case.inputs
    )
    return dataclasses.replace(case, name=f"{case.name}-{np.dtype(dtype).name}", inputs=inputs)
