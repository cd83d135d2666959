"""The constants of a graph during import. Equal small constants are shared, and derived ones are created once."""

from __future__ import annotations

import numpy as np

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.naming import Names
from mslite.converter.text_shortening import quoted

_SMALL_BYTES = 4096
"""Limit in bytes up to which equal constants are shared."""


class ConstantPool:
    """Creates the constants of one graph, in the layout `format`, with unique names from `names`.

    Large constants, and derived ones in new memory, count toward the memory limit (ConversionError).
    """

    def __init__(self, names: Names, format: Format) -> None:
        self._value_names = names
        self._format = format
        self._pool: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._derived: dict[tuple[Value, str], Value] = {}

    def constant(self, array: Array, hint: str) -> Value:
        """Returns a constant of this graph; equal small ones are shared."""
        if array.nbytes > _SMALL_BYTES:
            self._spend(array, f"the constant of {quoted(hint)}")
            return self._made(array, f"{hint}/constant", self._format)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._pool:
            self._pool[key] = self._made(array, f"{hint}/constant", self._format)
        return self._pool[key]

    def derived(self, value: Value, what: str, array: Array) -> Value:
        """Returns a constant derived from the constant `value`, once per `what`, such as a weight in another layout."""
        key = (value, what)
        if key not in self._derived:
            wish = f"{value.name}/{what}"
            if value.data is None or not np.may_share_memory(array, value.data):
                self._spend(array, f"the constant {quoted(wish)}")
            self._derived[key] = self._made(array, wish, Format.NHWC)
            self._derived[key].is_parameter = value.is_parameter
            self._derived[key].of_one_layer = value.of_one_layer
        return self._derived[key]

    def converted(self, value: Value, dtype: DataType) -> Value:
        """Returns a constant with another element type. Clips integers to int32, such as the end of a slice."""
        array = value.array()
        if dtype is DataType.INT32 and array.dtype.kind in "iu":
            array = clipped_to_int32(array)
        return self.derived(value, dtype.name.lower(), array.astype(numpy_type(dtype)))

    def _spend(self, array: Array, what: str) -> None:
        spend(array.nbytes, what)

    def _made(self, array: Array, wish: str, format: Format) -> Value:
        return make_constant(self._value_names.unique(wish), array, format)


def clipped_to_int32(array: Array) -> Array:
    """Clips integers of any type to int32."""
    limits, own = np.iinfo(np.int32), np.iinfo(array.dtype.name)
    result: Array = np.clip(array, max(limits.min, own.min), min(limits.max, own.max)).astype(np.int32)
    return result
