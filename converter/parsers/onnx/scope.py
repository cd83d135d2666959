"""The values of the names in a source graph during import, including its subgraphs and outer graphs."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import GraphProto, NodeProto, TensorProto

from mslite.converter.mindir.graph import Array, Graph, Value
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import GraphScope

from .constant_only_types import CONSTANT_ONLY_TYPES, MOVING, creates_constant_only
from .deferred import Deferred
from .model import graph_error
from .order import used_names
from .protos import all_nodes
from .session import Session
from .tensor_sequence import TensorSequence
from .tensors import TensorError, UnsupportedTensor
from .value_types import ValueTypes


class Scope(GraphScope):
    """The state of the import of one GraphProto. `captures` holds the values that it reads from an outer graph."""

    def __init__(self, session: Session, proto: GraphProto, name: str, outer: Scope | None = None) -> None:
        super().__init__(Graph(name), session.nodes, session.values, "output")
        self.session = session
        self.model = session.model
        self.proto = proto
        self.outer = outer
        self.types = ValueTypes(session, proto)
        self.captures: dict[str, Value] = {}
        """Name in the outer graph -> its value in this graph, which becomes an input."""
        self._values: dict[str, Value] = {}
        self._initializers = (
            session.model.initializers if outer is None else {tensor.name: tensor for tensor in proto.initializer}
        )
        self._bound: set[int] = set()
        self.behind: set[str] = set()
        """Names that depend on outputs of an unsupported node."""
        self._all_behind = outer is not None and outer.enters_behind
        self.enters_behind: bool = False
        """Whether the current node reads such names; they are then visible in its subgraphs."""
        self._used = used_names(proto)
        self._short: set[str] = set()
        """Names of constants whose type is in `CONSTANT_ONLY_TYPES`, also after moving operators. Excludes initializers."""
        self.deferred: dict[str, Deferred] = {}
        """Quantized tensors, built on first use in the form that the reader needs."""
        self.axes: dict[int, int] = {} if outer is None else outer.axes
        """id() of a constant -> the dimension of its per-channel quantization parameters."""
        self.index = len(session.graphs)
        """The index of this graph in PartialFusion."""
        session.graphs.append(self.graph)

    # ---- names and their values ----

    def bind(self, name: str, value: Value) -> None:
        """Binds a name to a value. The output of a node gets this name."""
        if name in self._values:
            raise graph_error(self.model.name, f"'{name}' is produced twice")
        self._values[name] = value
        if id(value) not in self._bound:
            self._bound.add(id(value))
            if value.producer is not None:
                value.name = name
        self.types.adopt(name, value)

    def lookup(self, name: str) -> Value:
        """Returns the value of a name, from this graph, an initializer or an outer graph."""
        if name in self._values:
            return self._values[name]
        if name in self.deferred:
            value = self.deferred[name].plain()
            self.bind(name, value)
            return value
        if name in self._initializers:
            value = self._initializer(name, self._initializers[name])
        elif self.outer is not None:
            value = self._capture(name)
        else:
            raise graph_error(self.model.name, f"{self._reader(name)} reads '{name}', which nothing produces")
        self._values[name] = value
        self._bound.add(id(value))
        return value

    def _reader(self, name: str) -> str:
        """Returns the reader of a name, for a message."""
        for node in all_nodes(self.proto.node):
            if name in node.input:
                return f"{node.op_type} '{node.name or ', '.join(node.output)}'"
        return "an output of the graph"

    def _initializer(self, name: str, tensor: TensorProto) -> Value:
        try:
            value = make_constant(name, self.model.reader.read(tensor))
        except UnsupportedTensor as error:
            raise Blocked(f"the initializer '{name}' is not supported: {error}", "Export with another type") from None
        except TensorError as error:
            raise graph_error(self.model.name, str(error)) from None
        if self.outer is None:
            value.is_parameter = self.model.parameters.get(name)
            value.of_one_layer = name in self.model.reused_normalizations
        return value

    def _capture(self, name: str) -> Value:
        assert self.outer is not None
        source = self.outer.lookup(name)
        if isinstance(source, TensorSequence):
            raise Blocked("a subgraph reads a sequence of tensors", "Export the model without sequences there")
        if source.is_constant:
            return source
        inner = Value(self.session.values.unique(f"{self.graph.name}/{name}"), source.dtype, source.shape)
        self.captures[name] = inner
        self.types.note(inner, self.outer.types.type_of(source), self.outer.types.shape_of(source))
        return inner

    def known_operand(self, name: str) -> Value | TensorSequence | None:
        """Returns an input of an unsupported node if it is known. Weights are used to count the node's operations."""
        if name not in self._values and name in self._initializers:
            try:
                return self.lookup(name)
            except Blocked:
                return None
        return self._values.get(name)

    def is_behind(self, name: str) -> bool:
        """Returns whether a name depends on an output of an unsupported node."""
        return name in self.behind or (self.outer is not None and self.outer.is_behind(name))

    # ---- constants of types that activations cannot have ----

    def is_short(self, name: str) -> bool:
        """Returns whether a name is a constant that was decoded when it was read."""
        if name in self._short:
            return True
        tensor = self._initializers.get(name)
        if tensor is not None:
            return tensor.data_type in CONSTANT_ONLY_TYPES
        return self.outer is not None and self.outer.is_short(name)

    def follow_short(self, node: NodeProto) -> None:
        """Marks the outputs of a node that creates or moves such constants."""
        if creates_constant_only(node) or (
            node.op_type in MOVING and any(self.is_short(name) for name in node.input if name)
        ):
            self._short.update(filter(None, node.output))

    def mark_short(self, name: str) -> None:
        """Marks a name as such a constant."""
        self._short.add(name)

    # ---- quantized tensors ----

    def defer(self, name: str, made: Deferred) -> None:
        """Registers the output `name`, to be built when it is read."""
        if name in self._values or name in self.deferred:
            raise graph_error(self.model.name, f"'{name}' is produced twice")
        self.deferred[name] = made

    def find_deferred(self, name: str) -> Deferred | None:
        """Returns the deferred tensor of a name, from this graph or an outer one."""
        known = self.deferred.get(name)
        if known is None and self.outer is not None and name not in self._values:
            return self.outer.find_deferred(name)
        return known

    def rearranged(self, value: Value, what: str, array: Array, axes: Mapping[int, int]) -> Value:
        """Returns a weight in another layout. `axes`: old -> new dimension, for per-channel quantization parameters."""
        result = self.derived(value, what, array)
        if value.quant:
            result.quant = value.quant
            self.axes[id(result)] = axes.get(self.axes.get(id(value), 0), -1)
        return result

    # ---- the source graph ----

    def is_used(self, name: str) -> bool:
        """Returns whether a node reads the name, or it is a graph output."""
        return name != "" and name in self._used

    def is_output(self, name: str) -> bool:
        return any(info.name == name for info in self.proto.output)

    def times_used(self, name: str) -> int:
        """Returns the number of node inputs and graph outputs with this name, including subgraphs."""
        used = sum(list(node.input).count(name) for node in all_nodes(self.proto.node))
        return int(used + sum(info.name == name for info in self.proto.output))

    def source_type(self, name: str) -> int:
        """Returns the element type of a name as ONNX's number, 0 if it is not known."""
        if name in self._initializers:
            return int(self._initializers[name].data_type)
        kind = self.model.types.get(name)
        if kind is None and self.outer is not None:
            return self.outer.source_type(name)
        return 0 if kind is None else int(kind.tensor_type.elem_type)

    # ---- memory ----

    def _spend(self, array: Array, what: str) -> None:
        super()._spend(array, f"{self.model.name}: {what}")
