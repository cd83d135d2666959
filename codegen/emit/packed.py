"""Splits packed constants into fields, so that they are written as arrays of the types that their kernels read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mslite.codegen import sources
from mslite.codegen.emit.c_values import c_values_of, numbers_of_bytes
from mslite.codegen.emit.fields import Field, Group
from mslite.codegen.program import Step
from mslite.converter.mindir.ops.enums import DataType

Fields = tuple[Field | Group, ...]

_PACKED_ALIGNMENT = 8
"""Alignment of constants that are packed for portable kernels, which include 64-bit integers."""
_PIXEL_LANES = 16
"""Channels of a group in depthwise_pixel_int8."""
_MICRO_ALIGNMENT = 4
"""Alignment of constants that are packed for microcontroller kernels: 32-bit integers and bytes."""


def packed_fields(step: Step, place: int, data: bytes, isa: str) -> tuple[Fields, int]:
    """Returns the fields of a packed constant, input `place` of a step, and the alignment that its kernel needs.

    `isa`: instruction set of the target. The packed layouts are described in kernels/math/channels_micro.h and
    kernels/matmul/{product_{plain,dsp,mve}_micro.c,integer_rows_micro.h}. Other layouts are written as words.
    """
    operand = step.inputs[place]
    assert operand is not None
    fields = _micro_fields(step, data, isa)
    if fields and sum(map(_size, fields)) == len(data):
        return fields, _MICRO_ALIGNMENT
    if operand.dtype is DataType.FLOAT32 and len(data) % 4 == 0:
        return (Field("", c_values_of(np.frombuffer(data, "<f4"))),), _PACKED_ALIGNMENT
    whole = len(data) // 4 * 4
    if whole in (0, len(data)):
        return (Field("", numbers_of_bytes(data)),), _PACKED_ALIGNMENT
    return (Field("words", numbers_of_bytes(data[:whole])), Field("rest", numbers_of_bytes(data[whole:]))), (
        _PACKED_ALIGNMENT
    )


def _size(field: Field | Group) -> int:
    if isinstance(field, Field):
        return len(field.numbers) * field.width
    return len(field.entries) * sum(map(_size, field.entries[0]))


def _micro_fields(step: Step, data: bytes, isa: str) -> Fields:
    """Returns the fields according to the kernel's parameters, or () if it is not a matmul or convolution for
    microcontrollers."""
    family = step.kernel.rpartition("_")[2]
    if family not in ("micro", "dsp", "mve"):
        return ()
    numbers = sources.derived_values(step.kernel, step.derived, isa)
    if "layer.scales_apart" in numbers:
        reader = _Reader(data)
        return reader.words("sum", numbers["layer.channels"], "of the channel's weights"), reader.octets("weights")
    if "layer.terms" in numbers:
        return _PRODUCTS[family](_Reader(data), numbers)
    if "kernel_rows" in numbers and "multiplier" in numbers:
        outputs = numbers["channels"] * numbers["multiplier"]
        if step.kernel.startswith("depthwise_pixel"):
            outputs += -outputs % _PIXEL_LANES  # the last group is padded
        return _table(_Reader(data), outputs, outputs)
    return ()


class _Reader:
    """Reads fields from the front of the data. Past its end, fields are padded with zeros, and the caller finds that
    the sizes do not add up."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def words(self, name: str, count: int, comment: str = "", is_single: bool = False) -> Field:
        return Field(name, c_values_of(np.frombuffer(self._take(4 * count), "<i4")), comment, is_single)

    def octets(self, name: str, count: int | None = None, comment: str = "") -> Field:
        """Reads `count` bytes, or all that are left."""
        taken = self._take(len(self._data) - self._at if count is None else count)
        return Field(name, c_values_of(np.frombuffer(taken, np.int8)), comment)

    @property
    def is_empty(self) -> bool:
        return self._at >= len(self._data)

    def _take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        self._at += size
        return found.ljust(size, b"\0")


def _table(reader: _Reader, channels: int, factors: int) -> Fields:
    """Returns bias, multiplier and shift of the channels, then the weights."""
    return (
        reader.words("bias", channels),
        reader.words("multiplier", factors),
        reader.octets("shift", factors + -factors % 4),
        reader.octets("weights"),
    )


def _factors(numbers: Mapping[str, int]) -> int:
    """Returns the number of multipliers: one for each channel, or 4 equal ones if all channels share one."""
    return 4 if numbers["layer.has_one"] else numbers["layer.channels"]


def _plain(reader: _Reader, numbers: Mapping[str, int]) -> Fields:
    return _table(reader, numbers["layer.channels"], _factors(numbers))


def _dsp(reader: _Reader, numbers: Mapping[str, int]) -> Fields:
    pairs = (numbers["layer.channels"] + 1) // 2
    words = (numbers["layer.terms"] + 3) // 4 * 2
    entries = [
        (
            reader.words("bias", 1, "of the even channel", is_single=True),
            reader.words("weights", words, "16 bits: 256 * odd + even"),
            reader.words("odd_bias", 1, is_single=True),
        )
        for _ in range(pairs)
        if not reader.is_empty
    ]
    if not entries:
        return ()
    factors = _factors(numbers)
    multiplier = reader.words("multiplier", factors + factors % 2)
    return (Group("pairs", tuple(entries), "of channels"), multiplier, reader.octets("shift"))


def _mve(reader: _Reader, numbers: Mapping[str, int]) -> Fields:
    terms = numbers["layer.terms"]
    fours, rest = divmod(numbers["layer.channels"], 4)
    fields: list[Field | Group] = []
    if fours:
        entries = [(reader.words("bias", 4), reader.octets("weights", 4 * terms)) for _ in range(fours)]
        fields.append(Group("fours", tuple(entries), "of channels"))
    if rest:
        size = rest * terms
        fields += [reader.words("rest_bias", rest), reader.octets("rest_weights", size + -size % 4)]
    factors = [
        (reader.words("multiplier", 4), reader.octets("shift", 4))
        for _ in range(1 if numbers["layer.has_one"] else fours)
    ]
    if factors:
        fields.append(Group("factors", tuple(factors), "of four channels"))
    if rest and not numbers["layer.has_one"]:
        fields += [reader.words("rest_multiplier", rest), reader.octets("rest_shift", 4)]
    return tuple(fields)


_PRODUCTS = {"micro": _plain, "dsp": _dsp, "mve": _mve}
