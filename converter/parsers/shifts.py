"""Shifts of TensorFlow and TensorFlow Lite, whose amounts are clipped to the bits of the type."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import Maximum, Minimum, ShiftLeft, ShiftRight


class Caller(Protocol):
    """The methods of both parsers' calls that this module needs."""

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value: ...

    def emit(self, op: Operator, *inputs: Value) -> Value: ...


def clipped_shift(call: Caller, op: ShiftLeft | ShiftRight, x: Value, amount: Value) -> Value:
    """Shifts x by `amount`, clipped to 0 .. bits - 1.

    In MindIR's operator, as in ONNX, a negative amount is a large one.
    """
    dtype = numpy_type(amount.dtype)
    is_signed, most = dtype.kind == "i", 8 * dtype.itemsize - 1
    if amount.data is not None:
        amount = call.const(np.clip(amount.array(), 0, most), dtype)
    else:
        amount = call.emit(Minimum(), amount, call.const(most, dtype))
        if is_signed:
            amount = call.emit(Maximum(), amount, call.const(0, dtype))
    return call.emit(op, x, amount)
