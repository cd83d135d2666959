"""One primitive as its converter sees it: checked attributes, operands, what is known of them, and emitting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Shape, Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import Stack
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.rearrange import ExpandDims
from mslite.converter.mindir.ops.recurrent import LSTM
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.scope import Origin

from .attributes import Attributes
from .blocked import Blocked, Dependent
from .entries import Absent, Entry, Failed, Immediate, Order, Sequence, flattened
from .scope import Scope

_INT32 = (-(1 << 31), (1 << 31) - 1)
"""Positions beyond these stand for an end: MindSpore writes them so."""

_FLAT_LSTM = 4
"""Operands of an LSTM whose weights are one vector."""


class Call(Attributes):
    """A node of the source graph. Converters read it through these methods and return what its name stands for."""

    def __init__(
        self,
        scope: Scope,
        operator: str,
        name: str,
        entries: list[Entry],
        attributes: Mapping[str, Any],
        arguments: tuple[str, ...],
    ) -> None:
        operands: list[Entry] = [entry for entry in entries if not isinstance(entry, Order)]
        super().__init__(attributes, arguments, operands)
        self.scope = scope
        self.operator = operator
        self.name = name
        self.origin = Origin(name, operator)
        self.emitted: set[int] = set()
        """Identities of the nodes that this call emitted."""
        self.declared_type = DataType.UNKNOWN
        """Element type that the file gives the first result."""
        self.declared_types: tuple[DataType, ...] = ()
        """Those of all results, as far as the file has them."""
        self.declared_shape: tuple[int, ...] | None = None
        """Its dimensions, -1 where unknown."""
        self.declared_outputs = 1
        """Number of results that the file gives the node."""

    @property
    def format(self) -> Format:
        """The node's own layout of images, NCHW or NHWC."""
        layout: Format = self.choice("format", Format, self.scope.layout, "data_format")
        return layout if layout is Format.NHWC else Format.NCHW

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.operator, blocked.reason, blocked.remedy, blocked.attribute)

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
            return self._immediate(entry.contents)
        if isinstance(entry, Sequence):
            return self._stacked(entry)
        if isinstance(entry, Absent):
            raise self.block(entry.reason, "Compute it beside the node in the model")
        raise self.block("a subgraph or an order edge stands where a tensor is expected")

    def _immediate(self, value: Any) -> Value:
        """The constant that a number or a (nested) tuple of numbers is."""
        try:
            return self.scope.from_contents(value, self.name)
        except Blocked as blocked:
            raise self.block(f"an operand {blocked.reason}") from None

    def _stacked(self, sequence: Sequence) -> Value:
        """A tuple of numbers, some of them computed, as one vector: a shape."""
        items = [self.value(entry) for entry in flattened([sequence])]
        if not items:
            return self.const(np.zeros(0, np.int32))
        parts = []
        for item in items:
            if item.data is not None and item.data.dtype.kind in "iu" and item.data.size == 1:
                item = self.const(item.data.reshape(()).astype(np.int32))
            elif item.data is None and self.dtype(item) is DataType.INT64:
                item = self.emit(Cast(), item, self.const(int(DataType.INT32), np.int32))
            parts.append(item)
        if len(parts) == 1:
            return self.emit(ExpandDims(), parts[0], self.const(0, np.int32))
        return self.emit(Stack(axis=0), *parts)

    def tensors(self) -> list[Value]:
        """All operands, tuples flattened."""
        return [self.value(entry) for entry in flattened(self.entries)]

    def constant(self, index: int, what: str) -> Array:
        """The contents of an operand that has to be known when converting."""
        value = self.input(index)
        if value.data is None:
            raise self.block(f"{what} (input {index}) is computed at run time", "Export the model with fixed values")
        return value.data

    def index_list(self, index: int) -> Value:
        """An operand of axes, sizes or positions: a constant is int32."""
        value = self.input(index)
        is_wide = value.data is not None and value.data.dtype == np.int64
        return self.ints(np.clip(value.data, *_INT32)) if is_wide and value.data is not None else value

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """Dimensions as the file says, -1 where unknown; None when not even the rank is known."""
        return self.scope.shape_of(value)

    def require_shape(self, value: Value, why: str) -> Shape:
        shape = self.shape(value)
        if shape is None or any(dim < 0 for dim in shape):
            raise self.block(f"{why} needs the shape of '{value.name}', which is not fixed", "Export with fixed shapes")
        return shape

    def rank(self, value: Value) -> int:
        shape = self.shape(value)
        if shape is None:
            raise self.block(f"the number of dimensions of '{value.name}' is not known", "Export with fixed shapes")
        return len(shape)

    def axis(self, value: Value, number: int, name: str = "", more: int = 0) -> int:
        """A dimension of the value (of one with `more`), counted from the first one. `name`: of the attribute."""
        rank = self.rank(value) + more
        if not -rank <= number < rank:
            raise self.block(f"{number} is no dimension of {rank}", attribute=name)
        return number % rank

    def size(self, value: Value, axis: int, why: str) -> int:
        """The size of a dimension that has to be known."""
        shape = self.shape(value)
        if shape is None or shape[axis] < 0:
            where = f"size {axis} of '{value.name}'"
            raise self.block(f"{why} needs {where}, which is not fixed", "Export with fixed shapes")
        return shape[axis]

    def dtype(self, value: Value) -> DataType:
        return self.scope.type_of(value)

    def typed(self, index: int) -> Value:
        """An operand in the element type of the first result."""
        return self.cast(self.input(index), self.declared_type)

    def cast(self, value: Value, wanted: DataType) -> Value:
        """The value cast to an element type, where that is known and not the value's."""
        is_same = wanted is DataType.UNKNOWN or self.dtype(value) is wanted
        if is_same:
            return value
        made = self.emit(Cast(), value, self.ints(int(wanted)))
        self.scope.note_type(made, wanted, self.shape(value))
        return made

    # ---- emitting ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """A constant; equal small constants of a graph are one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

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
        return self._emitted(op, inputs, 1)[0]

    def emit_many(self, op: Operator, inputs: Iterable[Value], outputs: int) -> Sequence:
        """Adds a node with several outputs. Raises Blocked for a wrong number of operands."""
        values = tuple(inputs)
        self._check_count(op, len(values))
        return Sequence(self._emitted(op, values, outputs))

    def _emitted(self, op: Operator, inputs: tuple[Value, ...], outputs: int) -> tuple[Value, ...]:
        values = self.scope.emit(op, inputs, outputs, self.origin)
        self.emitted.update(id(value.producer) for value in values)
        return values

    def _check_count(self, op: Operator, count: int) -> None:
        operands = op.declaration.inputs
        least = sum(not operand.optional for operand in operands)
        most = 1 << 20 if any(operand.repeated for operand in operands) else len(operands)
        if isinstance(op, Custom) or (isinstance(op, LSTM) and count == _FLAT_LSTM):
            return
        if not least <= count <= most:
            raise self.block(f"it has {count} operands, not {least}" + (f" to {most}" if most > least else ""))
