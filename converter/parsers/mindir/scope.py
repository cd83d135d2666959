"""Names, known types and new constants of a graph that is being imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Value, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.protobuf import Message
from mslite.converter.parsers.scope import GraphScope

from .entries import Closure, Entry
from .exceptions import Blocked
from .file import file_error
from .in_place import InPlaceChanges
from .session import Session


class Scope(GraphScope):
    """Names, types and constants of one GraphProto, which becomes graph number `index` of the session."""

    def __init__(self, session: Session, proto: Message, index: int) -> None:
        super().__init__(session.graphs[index], session.nodes, session.values, "output")
        self.session = session
        self.proto = proto
        self.index = index
        self.layout = session.layout
        self._entries: dict[str, Entry] = {}
        self._bound: set[int] = set()
        self._types: dict[int, tuple[DataType, tuple[int, ...] | None]] = {}
        self.overwritten = InPlaceChanges(self, index == 0)

    @property
    def graph_name(self) -> str:
        return str(self.proto.name)

    def plain_name(self, name: str) -> str:
        """Returns a name without its prefix, the name of the graph."""
        prefix = f"{self.graph_name}:"
        return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else name

    def block(self, name: str, operator: str, reason: str, remedy: str = "Export the model again") -> None:
        """Adds a blocker: something that prevents the conversion."""
        self.session.blockers.append(Blocker(name, operator, reason, remedy))

    def node_name(self, node: Message) -> str:
        """Returns a unique name for the node."""
        return self.session.nodes.unique(node.domain or self.plain_name(node.output[0]))

    def bind(self, name: str, entry: Entry, title: str = "") -> None:
        """Binds a name to an entry. A value that a node computes is named `title`, or after `name` if that is empty."""
        if name in self._entries:
            raise file_error(self.session.name, f"two nodes produce '{name}'")
        self._entries[name] = entry
        if isinstance(entry, Value) and id(entry) not in self._bound:
            self._bound.add(id(entry))
            if entry.producer is not None:
                entry.name = title or self.plain_name(name)

    def lookup(self, name: str) -> Entry:
        """Returns the entry of a name: a value of this graph, a subgraph, or a parameter of the model. Raises
        Blocked."""
        if name in self._entries:
            return self._entries[name]
        if name in self.session.graph_index:
            return Closure(self.session.graph_index[name])
        if name in self.session.parameters:
            entry: Entry = self.session.parameters[name]
            if name in self.session.changed and isinstance(entry, Value):
                return self.overwritten.variable(name, entry)
            self._entries[name] = entry
            return entry
        if name in self.session.produced:
            remedy = "Export the model so that subgraphs receive the values that they read as inputs"
            raise Blocked(f"'{name}' belongs to another graph", remedy)
        reader = next(
            (f"the node of '{self.plain_name(node.output[0])}'" for node in self.proto.node if name in node.input), ""
        )
        raise file_error(
            self.session.name, f"{reader or 'an output of the graph'} reads '{name}', which no node produces"
        )

    # ---- constants ----

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
            raise Blocked("is not a tensor", "Export the model again")
        if array.size == 0:
            array = array.astype(np.int64)
        if array.dtype == np.float64:
            array = array.astype(np.float32)  # as MindSpore does with scalars
        return self.constant(array, hint)

    def derived(self, value: Value, what: str, array: Array) -> Value:
        """Returns a constant derived from the constant `value`, cached by `what`, with the same quantization
        parameters."""
        made = super().derived(value, what, array)
        made.quant = value.quant
        return made

    # ---- types ----

    def note_type(self, value: Value, dtype: DataType, shape: tuple[int, ...] | None) -> None:
        """Stores the type and shape of a new value, for use before inference computes them."""
        self._types[id(value)] = (dtype, shape)

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
