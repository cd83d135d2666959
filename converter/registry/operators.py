"""Registers custom operators with their shape rules, and encodes and decodes the attributes of Custom nodes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Shape
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.registry.entries import CustomOperator, Entry
from mslite.converter.registry.registrations import active, caller_file

_OURS = "mslite."


class DynamicDimension:
    """A dynamic dimension. Equal sizes are the same object. The result of arithmetic with it is another dynamic
    dimension."""

    def _other(self, other: object) -> DynamicDimension:
        return DynamicDimension()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _other

    def __mod__(self, other: object) -> int:
        """Returns 0: divisibility can be checked only when the model runs."""
        return 0

    def __repr__(self) -> str:
        return "?"


Dimensions = tuple[int | DynamicDimension, ...]


@dataclass(frozen=True)
class TensorType:
    """Data type and shape of a tensor, and the elements of a constant input."""

    dtype: DataType
    shape: Dimensions
    data: Array | None = None


ShapeRule = Callable[[Sequence[TensorType], "CustomAttributes"], TensorType | Sequence[TensorType]]
"""A function from inputs and attributes to outputs. Raises ValueError with the reason for an invalid node."""


class CustomOperatorRegistry:
    """Registers a type of Custom nodes: its shape rule, and whether it is element-wise.

    An element-wise operator has the layout of its inputs. Any other operator gets images in the layout of the source
    model; Transpose nodes are added around it if the rest of the graph has another layout. Registering a type again
    replaces its rule. Raises ValueError for the types of mslite.
    """

    def __init__(self, type: str, rule: ShapeRule, *, elementwise: bool = False) -> None:
        if not type or type.startswith(_OURS):
            raise ValueError(
                f"'{type}' cannot be registered: the name of a type must not be empty or begin with {_OURS}"
            )
        active().operators[type] = CustomOperator(type, Entry(rule, caller_file()), elementwise)

    @staticmethod
    def get(type: str) -> CustomOperator | None:
        return active().operators.get(type)


_Rule = TypeVar("_Rule", bound=ShapeRule)


def custom_operator(type: str, *, elementwise: bool = False) -> Callable[[_Rule], _Rule]:
    """Decorates the shape rule of a custom operator."""

    def register(rule: _Rule) -> _Rule:
        CustomOperatorRegistry(type, rule, elementwise=elementwise)
        return rule

    return register


def same_as_input(inputs: Sequence[TensorType], attributes: CustomAttributes) -> TensorType:
    """A shape rule: one output, with the data type and shape of the first input."""
    return TensorType(inputs[0].dtype, inputs[0].shape)


# ---- attributes ----


def custom(type: str, /, **attributes: Any) -> Custom:
    """Returns a Custom primitive.

    Attributes are stored in the given order, as little-endian bytes: bool as 1 byte, int as int64, float as float32,
    str as UTF-8, bytes unchanged, arrays as their elements, lists as the concatenation of their items.

    Raises TypeError for any other attribute, OverflowError for a number that does not fit.
    """
    if not type:
        raise TypeError("a Custom node needs a type")
    pairs = tuple((name, encode(name, value)) for name, value in attributes.items())
    return Custom(type=type, attr=pairs or None)


def encode(name: str, value: Any) -> bytes:
    """Returns the bytes of an attribute. Raises TypeError and OverflowError as `custom` does."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"))).tobytes()
    if isinstance(value, bool | np.bool_):
        return struct.pack("<?", bool(value))
    if isinstance(value, int | np.integer):
        try:
            return struct.pack("<q", int(value))
        except struct.error:
            raise OverflowError(f"attribute '{name}': {value} does not fit into 64 bits") from None
    if isinstance(value, float | np.floating):
        return struct.pack("<f", float(value))
    if isinstance(value, list | tuple):
        return b"".join(encode(name, item) for item in value)
    raise TypeError(f"attribute '{name}' is of the type {value.__class__.__name__}, which cannot be stored")


class CustomAttributes:
    """The attributes of a Custom node in the encoding of `custom`; `data` maps names to bytes.

    Each method raises ValueError if the size of the attribute is wrong, or if it is missing and there is no default.
    """

    def __init__(self, op: Custom) -> None:
        self.data: dict[str, bytes] = {name or "": data or b"" for name, data in op.attr or ()}

    def _numbers(self, name: str, code: str) -> npt.NDArray[Any]:
        if name not in self.data:
            raise ValueError(f"attribute '{name}' is missing")
        if len(self.data[name]) % np.dtype(code).itemsize:
            raise ValueError(
                f"attribute '{name}' has {len(self.data[name])} bytes, which is not a multiple of the element size"
            )
        return np.frombuffer(self.data[name], code)

    def _number(self, name: str, code: str, default: Any) -> Any:
        if name not in self.data and default is not None:
            return default
        numbers = self._numbers(name, code)
        if numbers.size != 1:
            raise ValueError(
                f"attribute '{name}' has {len(self.data[name])} bytes, which is not the size of one number"
            )
        return numbers[0].item()

    def integer(self, name: str, default: int | None = None) -> int:
        return int(self._number(name, "<i8", default))

    def real(self, name: str, default: float | None = None) -> float:
        return float(self._number(name, "<f4", default))

    def boolean(self, name: str, default: bool | None = None) -> bool:
        return bool(self._number(name, "?", default))

    def integers(self, name: str) -> tuple[int, ...]:
        return tuple(int(item) for item in self._numbers(name, "<i8"))

    def reals(self, name: str) -> tuple[float, ...]:
        return tuple(float(item) for item in self._numbers(name, "<f4"))

    def text(self, name: str, default: str | None = None) -> str:
        if name not in self.data and default is not None:
            return default
        if name not in self.data:
            raise ValueError(f"attribute '{name}' is missing")
        return self.data[name].decode("utf-8", "replace")


def dimensions_for_rule(shape: Shape, known: dict[int, DynamicDimension]) -> Dimensions:
    """Returns the dimensions for a shape rule; `known` maps the symbols of dynamic dimensions to objects, and is
    extended."""
    return tuple(size if size >= 0 else known.setdefault(size, DynamicDimension()) for size in shape)
