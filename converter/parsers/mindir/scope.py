"""The values of the graph that is being built: constants, what is known of types, and new nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mslite.converter.memory_limit import spend
from mslite.converter.mindir.graph import Array, Graph, Node, Value, constant, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import Stack
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.rearrange import ExpandDims
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.quoting import quoted

from .blocked import Blocked
from .entries import Sequence, flattened
from .session import Session

if TYPE_CHECKING:
    from .call import Call

_SMALL_BYTES = 4096
"""Constants up to this size that are equal become one value."""


class Scope:
    """Makes the values and nodes of one graph."""

    def __init__(self, session: Session, graph: Graph) -> None:
        self.session = session
        self.graph = graph
        self.layout = session.layout
        self._types: dict[int, tuple[DataType, tuple[int, ...] | None]] = {}
        self._pool: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._derived: dict[tuple[int, str], Value] = {}

    def immediate(self, value: Any, call: Call) -> Value:
        """The constant that a number or a (nested) tuple of numbers is."""
        try:
            return self.from_contents(value, call.name)
        except Blocked as blocked:
            raise call.block(f"an operand {blocked.reason}") from None

    def from_contents(self, value: Any, hint: str) -> Value:
        if isinstance(value, DataType):
            return self.constant(np.asarray(int(value), np.int32), hint)
        if isinstance(value, str) or value is None:
            raise Blocked(f"is {value!r} where a tensor is expected", "Export the model again")
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.zeros(0, object)
        if array.dtype.kind not in "biuf":
            raise Blocked("is no tensor", "Export the model again")
        if array.size == 0:
            array = array.astype(np.int64)
        if array.dtype == np.float64:
            array = array.astype(np.float32)  # MindSpore's scalars
        return self.constant(array, hint)

    def stacked(self, sequence: Sequence, call: Call) -> Value:
        """A tuple of numbers, some of them computed, as one vector: a shape."""
        items = [call.value(entry) for entry in flattened([sequence])]
        if not items:
            return self.constant(np.zeros(0, np.int32), call.name)
        parts = []
        for item in items:
            if item.data is not None and item.data.dtype.kind in "iu" and item.data.size == 1:
                item = self.constant(item.data.reshape(()).astype(np.int32), call.name)
            elif item.data is None and self.type_of(item) is DataType.INT64:
                kind = self.constant(np.asarray(int(DataType.INT32), np.int32), call.name)
                item = self.emit(Cast(), (item, kind), 1, call)[0]
            parts.append(item)
        if len(parts) == 1:
            return self.emit(ExpandDims(), (parts[0], self.constant(np.asarray(0, np.int32), call.name)), 1, call)[0]
        return self.emit(Stack(axis=0), tuple(parts), 1, call)[0]

    def constant(self, array: Array, hint: str) -> Value:
        """A constant of this graph; small equal ones are shared."""
        if array.nbytes > _SMALL_BYTES:
            spend(array.nbytes, f"the constant of {quoted(hint)}")
            return constant(self.session.values.unique(f"{hint}/constant"), array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._pool:
            self._pool[key] = constant(self.session.values.unique(f"{hint}/constant"), array)
        return self._pool[key]

    def derived(self, value: Value, what: str, array: Array) -> Value:
        """A constant made from the constant `value`, once per `what`: a weight in another layout."""
        key = (id(value), what)
        if key not in self._derived:
            made = constant(f"{value.name}/{what}", array, Format.NHWC)
            made.quant = value.quant
            self._derived[key] = made
        return self._derived[key]

    def shape_of(self, value: Value) -> tuple[int, ...] | None:
        if value.shape is not None:
            return tuple(max(dim, -1) for dim in value.shape)
        return self._types.get(id(value), (DataType.UNKNOWN, None))[1]

    def type_of(self, value: Value) -> DataType:
        if value.dtype is not DataType.UNKNOWN:
            return value.dtype
        if value.data is not None:
            return data_type_of(value.data)
        return self._types.get(id(value), (DataType.UNKNOWN, None))[0]

    def emit(self, op: Operator, inputs: tuple[Value, ...], outputs: int, call: Call | None) -> tuple[Value, ...]:
        """Adds a node; its outputs are typed by the pipeline later."""
        base = call.name if call is not None else "output"
        name = self.session.nodes.unique(f"{base}/{op.name}")
        names = [f"{name}:{index}" if outputs > 1 else name for index in range(outputs)]
        values = tuple(Value(self.session.values.unique(each), DataType.UNKNOWN) for each in names)
        source = f"{call.operator} '{call.name}'" if call is not None else ""
        node = Node(op, name, inputs, values, source=source)
        self.graph.nodes.append(node)
        if call is not None:
            call.emitted.add(id(node))
        return values
