"""Shifts of TensorFlow and TensorFlow Lite: their amounts are limited to the bits that the type has."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import Maximum, Minimum, ShiftLeft, ShiftRight


class Caller(Protocol):
    """What the calls of both parsers do."""

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value: ...

    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def limited_shift(call: Caller, op: ShiftLeft | ShiftRight, x: Value, amount: Value) -> Value:
    """x shifted by `amount`: a negative one counts as 0, one beyond the type's bits as all of them but one. ONNX means negative
    amounts as large ones, and so does the operator."""
    dtype = numpy_type(amount.dtype)
    is_signed, most = dtype.kind == "i", 8 * dtype.itemsize - 1
    if amount.data is not None:
        amount = call.const(np.clip(amount.array(), 0, most), dtype)
    else:
        amount = call.emit(Minimum(), amount, call.const(most, dtype))
        if is_signed:
            amount = call.emit(Maximum(), amount, call.const(0, dtype))
    return call.emit(op, x, amount)
