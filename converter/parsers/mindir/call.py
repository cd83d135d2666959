"""One primitive as its converter sees it: checked attributes, operands, what is known of them, and emitting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Shape, Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops._declare import Attribute
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format, WireEnum
from mslite.converter.mindir.ops.recurrent import LSTM

from .entries import Entry, Failed, Immediate, Order, Sequence

if TYPE_CHECKING:
    from .importer import GraphImporter

_FLAT_LSTM = 4
"""Operands of an LSTM whose weights are one vector."""

_MISSING = object()
_ENUM_SPELLINGS = {"CALCULATED": "PAD"}
"""Spellings of enum members that some exporters use."""


class Blocked(Exception):
    """Raised by a converter for a node that it cannot express."""

    def __init__(self, reason: str, remedy: str, attribute: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.attribute = attribute


class Dependent(Exception):
    """The node reads the result of one that already stands in the way."""


class Call:
    """A node of the source graph. Converters read it through these methods and return what its name stands for."""

    def __init__(
        self,
        importer: GraphImporter,
        operator: str,
        name: str,
        entries: list[Entry],
        attributes: Mapping[str, Any],
        arguments: tuple[str, ...],
    ) -> None:
        self.importer = importer
        self.operator = operator
        self.name = name
        self.entries = [entry for entry in entries if not isinstance(entry, Order)]
        self.emitted: set[int] = set()
        """Identities of the nodes that this call emitted."""
        self.declared_outputs = 1
        """Number of results that the file gives the node."""
        self._attributes = attributes
        self._positions = {argument: index for index, argument in enumerate(arguments)}

    def block(self, reason: str, remedy: str = "Export the model again", attribute: str = "") -> Blocked:
        """What a converter raises: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.operator, blocked.reason, blocked.remedy, blocked.attribute)

    # ---- attributes ----

    def has(self, name: str) -> bool:
        return self._find(name) is not _MISSING

    def _find(self, *names: str) -> Any:
        """An attribute, or the constant argument of that name in the function form."""
        for name in names:
            if name in self._attributes:
                return self._attributes[name]
            position = self._positions.get(name)
            if position is not None and position < len(self.entries):
                entry = self.entries[position]
                if isinstance(entry, Immediate):
                    return entry.contents
                if isinstance(entry, Value) and entry.data is not None:
                    return entry.data
        return _MISSING

    def attribute(self, name: str) -> Any:
        """An attribute as it stands in the file; None when it is not there."""
        value = self._find(name)
        return None if value is _MISSING else value

    def integer(self, name: str, default: int, *others: str) -> int:
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        if isinstance(value, bool | int | np.integer | np.bool_):
            return int(value)
        raise self.block("is not an integer", attribute=name)

    def boolean(self, name: str, default: bool = False, *others: str) -> bool:
        return bool(self.integer(name, int(default), *others))

    def real(self, name: str, default: float, *others: str) -> float:
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        if isinstance(value, bool | int | float | np.integer | np.floating):
            return float(value)
        raise self.block("is not a number", attribute=name)

    def text(self, name: str, default: str, *others: str) -> str:
        value = self._find(name, *others)
        if value is _MISSING or value is None:
            return default
        if isinstance(value, str):
            return value
        raise self.block("is not a text", attribute=name)

    def integers(self, name: str, *others: str) -> tuple[int, ...] | None:
        """A list of integers (a single one counts as a list); None when it is not there."""
        value = self._find(name, *others)
        return None if value is _MISSING or value is None else self.flat_integers(value, name)

    def flat_integers(self, value: Any, name: str = "") -> tuple[int, ...]:
        """All integers in a number, array or nested tuple. Raises Blocked for anything else."""
        if isinstance(value, tuple):
            return tuple(number for item in value for number in self.flat_integers(item, name))
        if isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.size <= 4096:
            return tuple(int(number) for number in value.ravel())
        if isinstance(value, bool | int | np.integer):
            return (int(value),)
        raise self.block("is not a list of integers", attribute=name)

    def choice(self, name: str, kind: type[WireEnum], default: WireEnum, *others: str) -> Any:
        """An enum given as number or text."""
        value = _single(self._find(name, *others))
        if value is _MISSING or value is None:
            return default
        try:
            if isinstance(value, str):
                by_name = {member.name.lower(): member for member in kind}
                return by_name[_ENUM_SPELLINGS.get(value.upper(), value).lower()]
            return kind(int(value))
        except (KeyError, ValueError, TypeError):
            known = ", ".join(member.name for member in kind)
            raise self.block(f"'{value}' is not one of {known}", attribute=name) from None

    @property
    def format(self) -> Format:
        """The node's own layout of images, NCHW or NHWC."""
        layout: Format = self.choice("format", Format, self.importer.layout, "data_format")
        return layout if layout is Format.NHWC else Format.NCHW

    def declared(self, attribute: Attribute) -> Any:
        """The value of an attribute of an operator of ours that has the primitive's name."""
        value = self._find(attribute.wire_name)
        if value is _MISSING or value is None:
            return attribute.default
        if attribute.enum is not None:
            return self.choice(attribute.wire_name, attribute.enum, attribute.default)
        if attribute.wire == "Vec2D":
            if not isinstance(value, tuple):
                raise self.block("is not a list of lists", attribute=attribute.wire_name)
            return tuple(self.flat_integers(row, attribute.wire_name) for row in value)
        if attribute.wire == "[float]":
            items = value if isinstance(value, tuple) else (value,)
            return tuple(float(self._number(item, attribute.wire_name)) for item in items)
        if attribute.is_vector:
            return self.flat_integers(value, attribute.wire_name)
        if attribute.wire == "string":
            return self.text(attribute.wire_name, "")
        if attribute.wire == "float":
            return self.real(attribute.wire_name, 0.0)
        if attribute.wire == "bool":
            return self.boolean(attribute.wire_name)
        return self.integer(attribute.wire_name, 0)

    def _number(self, value: Any, name: str) -> float:
        if isinstance(value, bool | int | float | np.number):
            return float(value)
        raise self.block("is not a list of numbers", attribute=name)

    # ---- operands ----

    def input(self, index: int) -> Value:
        """A tensor operand that must be there; numbers and tuples of numbers become constants."""
        if index >= len(self.entries):
            raise self.block(f"input {index} is missing")
        return self.value(self.entries[index])

    def optional(self, index: int) -> Value | None:
        if index >= len(self.entries):
            return None
        entry = self.entries[index]
        return None if isinstance(entry, Immediate) and entry.contents is None else self.value(entry)

    def value(self, entry: Entry) -> Value:
        """The tensor that an operand is."""
        if isinstance(entry, Value):
            return entry
        if isinstance(entry, Failed):
            raise Dependent
        if isinstance(entry, Immediate):
            return self.importer.immediate(entry.contents, self)
        if isinstance(entry, Sequence):
            return self.importer.stacked(entry, self)
        raise self.block("a sub-graph or an order edge stands where a tensor is expected")

    def tensors(self) -> list[Value]:
        """All operands, tuples flattened."""
        return [self.value(entry) for entry in flattened(self.entries)]

    def constant(self, index: int, what: str) -> Array:
        """The contents of an operand that has to be known when converting."""
        value = self.input(index)
        if value.data is None:
            raise self.block(f"{what} (input {index}) is computed at run time", "Export the model with fixed values")
        return value.data

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """Dimensions as the file says, -1 where unknown; None when not even the rank is known."""
        return self.importer.shape_of(value)

    def require_shape(self, value: Value, why: str) -> Shape:
        shape = self.shape(value)
        if shape is None or any(dim < 0 for dim in shape):
            raise self.block(f"{why} needs the shape of '{value.name}', which is not fixed", "Export with fixed shapes")
        return shape

    def dtype(self, value: Value) -> DataType:
        return self.importer.type_of(value)

    # ---- emitting ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """A constant; equal small constants of a graph are one value."""
        return self.importer.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """An int32 constant: axes, shapes, permutations. Raises Blocked for numbers beyond int32."""
        array = np.asarray(data)
        if array.dtype == object or (array.size and not -(1 << 31) <= array.min() <= array.max() < 1 << 31):
            raise self.block("it has a size, axis or border beyond 32 bits")
        return self.const(array, np.int32)

    def like(self, number: float, value: Value) -> Value:
        """A scalar constant of the element type of `value` (float32 where it is not known)."""
        dtype = self.dtype(value)
        return self.const(number, np.float32 if dtype is DataType.UNKNOWN else numpy_type(dtype))

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output. Raises Blocked for a wrong number of operands."""
        self._check_count(op, len(inputs))
        return self.importer.emit(op, inputs, 1, self)[0]

    def emit_many(self, op: Operator, inputs: Iterable[Value], outputs: int) -> Sequence:
        """Adds a node with several outputs. Raises Blocked for a wrong number of operands."""
        values = tuple(inputs)
        self._check_count(op, len(values))
        return Sequence(self.importer.emit(op, values, outputs, self))

    def _check_count(self, op: Operator, count: int) -> None:
        operands = op.declaration.inputs
        least = sum(not operand.optional for operand in operands)
        most = 1 << 20 if any(operand.repeated for operand in operands) else len(operands)
        if isinstance(op, Custom) or (isinstance(op, LSTM) and count == _FLAT_LSTM):
            return
        if not least <= count <= most:
            raise self.block(f"it has {count} operands, not {least}" + (f" to {most}" if most > least else ""))


def _single(value: Any) -> Any:
    """A number that stands in a tuple or array of one."""
    if isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.reshape(-1)[0].item()
    return value


def flattened(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with all tuples opened. Constant tuples are opened too."""
    result: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Sequence):
            result += flattened(entry.items)
        elif isinstance(entry, Immediate) and isinstance(entry.contents, tuple):
            result += flattened([Immediate(item) for item in entry.contents])
        else:
            result.append(entry)
    return result
