"""Custom operators: what the converter has to know of a type of Custom nodes, and how their attributes are stored."""

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
from mslite.converter.registry.tables import active, caller_file

_OURS = "mslite."


class OpenSize:
    """A size that is not known when converting; one size is one object. What is computed from it is not known either."""

    def _other(self, other: object) -> OpenSize:
        return OpenSize()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _other

    def __mod__(self, other: object) -> int:
        """0: whether it divides is found out when the model runs."""
        return 0

    def __repr__(self) -> str:
        return "?"


Dimensions = tuple[int | OpenSize, ...]


@dataclass(frozen=True)
class TensorType:
    """Element type and shape of a tensor; for operands also the contents, where they are constant."""

    dtype: DataType
    shape: Dimensions
    data: Array | None = None


ShapeRule = Callable[[Sequence[TensorType], "CustomAttributes"], TensorType | Sequence[TensorType]]
"""From operands and attributes to the results. Raises ValueError, saying why, for a call that cannot be."""


class CustomOperatorRegistry:
    """Registers a type of Custom nodes: its shape rule, and whether it computes element by element.

    An elementwise operator follows the layout of its operands; any other gets images in the source model's layout (with
    Transposes around it where the rest of the graph has another). Registering a type again replaces the rule. Raises
    ValueError for a type that is mslite's own.
    """

    def __init__(self, type: str, rule: ShapeRule, *, elementwise: bool = False) -> None:
        if not type or type.startswith(_OURS):
            raise ValueError(
                f"'{type}' cannot be registered: the type must have a name that does not begin with {_OURS}"
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
    """The shape rule of operators with one result, of the type and shape of the first operand."""
    return TensorType(inputs[0].dtype, inputs[0].shape)


# ---- attributes ----


def custom(type: str, /, **attributes: Any) -> Custom:
    """A Custom primitive. Attributes are stored in the order given, as little-endian bytes: bool 1 byte, int 8 (int64),
    float 4 (float32), text UTF-8, bytes as they are, arrays their elements, lists their items one after the other.

    Raises TypeError for any other attribute, OverflowError for a number that does not fit.
    """
    if not type:
        raise TypeError("a Custom node needs a type")
    pairs = tuple((name, encode(name, value)) for name, value in attributes.items())
    return Custom(type=type, attr=pairs or None)


def encode(name: str, value: Any) -> bytes:
    """The bytes of one attribute."""
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
    """The attributes of a Custom node, read as `custom` writes them; `data` has the bytes of each by its name.

    Every reader raises ValueError where the bytes are not of that kind, or the attribute is not there and has no default.
    """

    def __init__(self, op: Custom) -> None:
        self.data: dict[str, bytes] = {name or "": data or b"" for name, data in op.attr or ()}

    def _numbers(self, name: str, code: str) -> npt.NDArray[Any]:
        if name not in self.data:
            raise ValueError(f"attribute '{name}' is missing")
        if len(self.data[name]) % np.dtype(code).itemsize:
            raise ValueError(f"attribute '{name}' has {len(self.data[name])} bytes, which are no numbers of that type")
        return np.frombuffer(self.data[name], code)

    def _number(self, name: str, code: str, default: Any) -> Any:
        if name not in self.data and default is not None:
            return default
        numbers = self._numbers(name, code)
        if numbers.size != 1:
            raise ValueError(f"attribute '{name}' has {len(self.data[name])} bytes, not those of one number")
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


def sizes_for_rule(shape: Shape, known: dict[int, OpenSize]) -> Dimensions:
    """Dimensions as rules see them; `known` has the object of each symbol, and gets those that are new."""
    return tuple(size if size >= 0 else known.setdefault(size, OpenSize()) for size in shape)
