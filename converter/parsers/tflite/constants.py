"""The constants of a graph: shared, decoded, in other types and orders; their records go along."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.quantised import real_numbers

from .session import Session

_SMALL_BYTES = 4096
"""Constants up to this size that are equal become one value."""


class Constants:
    """What an importer knows of the constants of its graph."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._derived: dict[tuple[int, str], Value] = {}
        self._axes: dict[int, int] = {}
        self._stored_forms: dict[int, Value] = {}
        self._pool: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def share_constants(self, other: Constants) -> None:
        """From here on both know the same: their nodes go to one graph."""
        self._derived, self._axes, self._pool = other._derived, other._axes, other._pool
        self._stored_forms = other._stored_forms

    def check_axis(self, value: Value, axis: int) -> None:
        """Notes to which dimension the records of a constant belong. Raises FlatBufferError when they do not fit."""
        shape = value.shape or ()
        axis = 0 if len(shape) == 1 else axis  # some converters give biases the dimension of the weights
        if not 0 <= axis < len(shape) or shape[axis] != len(value.quant):
            raise FlatBufferError(f"tensor '{value.name}' has {len(value.quant)} scales for the shape {shape}")
        self._axes[id(value)] = axis

    def axis_of(self, value: Value) -> int | None:
        """The dimension to which the records of a constant belong, when there are several."""
        return self._axes.get(id(value))

    def constant(self, array: Array, hint: str) -> Value:
        """A constant of this graph; small equal ones are shared."""
        if array.nbytes > _SMALL_BYTES:
            return make_constant(self.session.values.unique(f"{hint}/constant"), array, Format.NHWC)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._pool:
            self._pool[key] = make_constant(self.session.values.unique(f"{hint}/constant"), array, Format.NHWC)
        return self._pool[key]

    def derived(self, value: Value, what: str, array: Array) -> Value:
        """A constant made from the constant `value`, once per `what`."""
        key = (id(value), what)
        if key not in self._derived:
            made = make_constant(self.session.values.unique(f"{value.name}/{what}"), array, Format.NHWC)
            self._derived[key] = made
        return self._derived[key]

    def converted(self, value: Value, dtype: DataType) -> Value:
        """A constant with elements of another type. Integers that do not fit int32, such as "to the end", are limited."""
        array = value.array()
        if dtype is DataType.INT32 and array.dtype.kind in "iu":
            limits = np.iinfo(np.int32)
            array = np.minimum(np.maximum(array, limits.min), limits.max)
        return self.derived(value, dtype.name.lower(), array.astype(numpy_type(dtype)))

    def decoded(self, value: Value) -> Value:
        """A quantised or float16 constant as float32; anything else as it is."""
        if value.data is None or value.dtype is DataType.FLOAT32:
            return value
        if value.dtype is DataType.FLOAT16:
            return self.converted(value, DataType.FLOAT32)
        if not value.quant:
            return value
        result = self.derived(value, "float32", real_numbers(value.data, value.quant, self.axis_of(value) or 0))
        self._stored_forms[id(result)] = value
        return result

    def stored_form(self, value: Value) -> Value:
        """The constant of stored integers that `value` was decoded from; else `value`."""
        return self._stored_forms.get(id(value), value)

    def permuted(self, value: Value, perm: tuple[int, ...]) -> Value:
        """A constant with its dimensions in another order; its records go along."""
        result = self.derived(value, "permuted", value.array().transpose(perm))
        result.quant = value.quant
        if len(value.quant) > 1:
            self.check_axis(result, perm.index(self._axes[id(value)]))
        return result
