"""Call: a source node as its converter sees it, with checked attributes and operands, known shapes, and emission of
nodes."""

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
from .entries import Entry, Failed, Immediate, Order, Sequence, UnsupportedResult, flattened
from .exceptions import Blocked, UpstreamUnsupported
from .scope import Scope

_INT32 = (-(1 << 31), (1 << 31) - 1)
"""Range of int32. MindSpore writes larger positions for the end of a dimension."""

_FLAT_LSTM = 4
"""Number of operands of an LSTM with all weights in one vector."""


class Call(Attributes):
    """A node of the source graph. Converters read it through these methods and return the entry of its result."""

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
        """Data type that the file has for the first result."""
        self.declared_types: tuple[DataType, ...] = ()
        """Data types that the file has for the results, as far as it has them."""
        self.declared_shape: tuple[int, ...] | None = None
        """Dimensions that the file has for the first result, -1 if unknown."""
        self.declared_outputs = 1
        """Number of results that the file has for the node."""

    @property
    def format(self) -> Format:
        """The node's image layout, NCHW or NHWC."""
        layout: Format = self.choice("format", Format, self.scope.layout, "data_format")
        return layout if layout is Format.NHWC else Format.NCHW

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.operator, blocked.reason, blocked.remedy, blocked.attribute)

    # ---- operands ----

    def input(self, index: int) -> Value:
        """Returns a required operand as a tensor; scalars and tuples of scalars become constants. Raises Blocked."""
        if index >= len(self.entries):
            raise self.block(f"input {index} is missing")
        return self.value(self.entries[index])

    def optional(self, index: int) -> Value | None:
        if index >= len(self.entries):
            return None
        entry = self.entries[index]
        return None if isinstance(entry, Immediate) and entry.contents is None else self.value(entry)

    def value(self, entry: Entry) -> Value:
        """Returns an operand as a tensor. Raises Blocked, or UpstreamUnsupported if its node failed."""
        if isinstance(entry, Value):
            return entry
        if isinstance(entry, Failed):
            raise UpstreamUnsupported
        if isinstance(entry, Immediate):
            return self._immediate(entry.contents)
        if isinstance(entry, Sequence):
            return self._stacked(entry)
        if isinstance(entry, UnsupportedResult):
            raise self.block(entry.reason, "Compute this result with other operators in the model")
        raise self.block("an operand is a subgraph or an order edge; a tensor is expected")

    def _immediate(self, value: Any) -> Value:
        """Returns a scalar or a (nested) tuple of scalars as a constant."""
        try:
            return self.scope.from_contents(value, self.name)
        except Blocked as blocked:
            raise self.block(f"an operand {blocked.reason}") from None

    def _stacked(self, sequence: Sequence) -> Value:
        """Returns a tuple of scalars, some of them computed, as one vector, such as a shape."""
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
        """Returns all operands, with tuples flattened."""
        return [self.value(entry) for entry in flattened(self.entries)]

    def constant(self, index: int, what: str) -> Array:
        """Returns the contents of an operand that must be constant. Raises Blocked if it is computed."""
        value = self.input(index)
        if value.data is None:
            raise self.block(f"{what} (input {index}) is computed at run time", "Export the model with fixed values")
        return value.data

    def index_list(self, index: int) -> Value:
        """Returns an operand of axes, sizes or positions; int64 constants are converted to int32."""
        value = self.input(index)
        is_wide = value.data is not None and value.data.dtype == np.int64
        return self.ints(np.clip(value.data, *_INT32)) if is_wide and value.data is not None else value

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """Returns the known dimensions, -1 for unknown ones; None if the rank is unknown."""
        return self.scope.shape_of(value)

    def require_shape(self, value: Value, why: str) -> Shape:
        shape = self.shape(value)
        if shape is None or any(dim < 0 for dim in shape):
            raise self.block(f"{why} needs the shape of '{value.name}', which is not fixed", "Export with fixed shapes")
        return shape

    def rank(self, value: Value) -> int:
        shape = self.shape(value)
        if shape is None:
            raise self.block(f"the number of dimensions of '{value.name}' is unknown", "Export with fixed shapes")
        return len(shape)

    def axis(self, value: Value, number: int, name: str = "", more: int = 0) -> int:
        """Returns the axis `number`, counted from the first dimension, of the value with `more` additional dimensions.

        `name` is the attribute that an error names. Raises Blocked for an axis out of range.
        """
        rank = self.rank(value) + more
        if not -rank <= number < rank:
            raise self.block(f"axis {number} is out of range for rank {rank}", attribute=name)
        return number % rank

    def size(self, value: Value, axis: int, why: str) -> int:
        """Returns the size of a dimension. Raises Blocked if it is dynamic; `why` is the subject of the message."""
        shape = self.shape(value)
        if shape is None or shape[axis] < 0:
            where = f"size {axis} of '{value.name}'"
            raise self.block(f"{why} needs {where}, which is not fixed", "Export with fixed shapes")
        return shape[axis]

    def dtype(self, value: Value) -> DataType:
        return self.scope.type_of(value)

    def typed(self, index: int) -> Value:
        """Returns an operand, cast to the data type of the first result."""
        return self.cast(self.input(index), self.declared_type)

    def cast(self, value: Value, wanted: DataType) -> Value:
        """Returns the value cast to `wanted`; the value itself if `wanted` is unknown or its type already."""
        is_same = wanted is DataType.UNKNOWN or self.dtype(value) is wanted
        if is_same:
            return value
        made = self.emit(Cast(), value, self.ints(int(wanted)))
        self.scope.note_type(made, wanted, self.shape(value))
        return made

    # ---- emission of nodes ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """Returns a constant; equal small constants of a graph share one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """Returns an int32 constant: axes, shapes, permutations. Raises Blocked for values beyond int32."""
        array = np.asarray(data)
        if array.dtype == object or (array.size and not -(1 << 31) <= array.min() <= array.max() < 1 << 31):
            raise self.block("it has a size, axis or padding beyond 32 bits")
        return self.const(array, np.int32)

    def like(self, number: float, value: Value) -> Value:
        """Returns a scalar constant of the data type of `value` (float32 if unknown)."""
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
