"""What packed operands are made of, so that they are written as arrays of their own types."""

from __future__ import annotations

import numpy as np

from mslite.codegen.emit.numbers import Numbers, numbers_of, numbers_of_bytes
from mslite.codegen.program import Step
from mslite.converter.mindir.ops.enums import DataType

Fields = tuple[tuple[str, Numbers], ...]

_PACKED_ALIGNMENT = 8
"""Of what portable kernels pack: structs with 64-bit integers among others."""


def packed_fields(step: Step, place: int, data: bytes) -> tuple[Fields, int]:
    """The fields of a packed operand, and the alignment that its kernel relies on."""
    operand = step.inputs[place]
    assert operand is not None
    if operand.dtype is DataType.FLOAT32 and len(data) % 4 == 0:
        return (("", numbers_of(np.frombuffer(data, "<f4"))),), _PACKED_ALIGNMENT
    whole = len(data) // 4 * 4
    if whole in (0, len(data)):
        return (("", numbers_of_bytes(data)),), _PACKED_ALIGNMENT
    return (("words", numbers_of_bytes(data[:whole])), ("rest", numbers_of_bytes(data[whole:]))), _PACKED_ALIGNMENT
