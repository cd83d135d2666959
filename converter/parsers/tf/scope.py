"""Values of a source graph that is being imported; new nodes and constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from mslite.converter.mindir.graph import Graph, Value
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch, SwitchLayer
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import GraphScope, Origin

from .model import Ref, SourceGraph, SourceNode, damaged
from .session import MAX_CALLS, MAX_DEPTH, Session, UpstreamFailed
from .tensors import TensorError, read_tensor

_CONTROL = (PartialFusion, Switch, SwitchLayer, CallClosure)


class Scope(GraphScope):
    """Values and names of one source graph; its nodes are added to `graph`, for an inlined function that of its
    caller."""

    def __init__(self, session: Session, source: SourceGraph, graph: Graph, prefix: str = "", depth: int = 0) -> None:
        session.calls += 1
        if depth > MAX_DEPTH or session.calls > MAX_CALLS:
            raise damaged(
                session.model.name,
                f"calls of its functions are nested more than {MAX_DEPTH} deep, or there are more than {MAX_CALLS}",
            )
        super().__init__(graph, session.nodes, session.values, graph.name, Format.NHWC)
        self.session = session
        self.source = source
        self.prefix = prefix
        """Prefix of the names of a function's nodes."""
        self.depth = depth
        self._values: dict[Ref, Value] = {}
        self._results: dict[str, int] = {}
        """Names of imported nodes -> number of outputs."""
        self._failed: set[str] = set()
        self._stood_in: dict[str, Value] = {}
        """Names of failed nodes -> the values that replace their outputs in a report."""
        self._reads: set[Ref] = set()
        self._bound: set[int] = set()

    def preset(self, ref: Ref, value: Value) -> None:
        """Sets an output of a node that is not imported."""
        self._values[ref] = value
        self._results[ref.node] = ref.output + 1

    @contextmanager
    def replaced(self, values: Mapping[Ref, Value]) -> Iterator[None]:
        """Context manager that replaces the values of some outputs."""
        before = {ref: self._values[ref] for ref in values if ref in self._values}
        self._values.update(values)
        try:
            yield
        finally:
            for ref in values:
                del self._values[ref]
            self._values.update(before)

    def fail(self, name: str) -> None:
        """Marks a node as failed: it has no outputs, because of a blocker that is already reported."""
        self._failed.add(name)

    def is_read(self, name: str, output: int) -> bool:
        return Ref(name, output) in self._reads

    def outputs_read(self, name: str) -> int:
        """Returns the number of outputs of a node that the model reads, at least 1."""
        return max((ref.output + 1 for ref in self._reads if ref.node == name), default=1)

    def lookup(self, ref: Ref) -> Value:
        """Returns the value of a node's output. Raises UpstreamFailed or Blocked if there is none."""
        if ref in self._values:
            return self._values[ref]
        if ref.node in self._failed:
            raise UpstreamFailed
        node = self.source.nodes[ref.node]
        if node.operator == "Const" and ref.output == 0:
            value = self._values[ref] = self._stored(node)
            return value
        if ref.node in self._results or node.operator == "Const":
            raise Blocked(
                f"it reads output {ref.output} of {node.operator} '{self.prefix}{ref.node}', which is unsupported",
                "Export the model without it",
            )
        raise damaged(self.session.model.name, f"'{ref.node}' is read before it is computed")

    def value_name(self, name: str) -> str:
        """Returns the name of a node's value: in the main graph the node's name, which is reserved; else a unique
        name."""
        if not self.prefix and name in self.source.nodes:
            return name
        return self.session.values.unique(self.prefix + name)

    def _stored(self, node: SourceNode) -> Value:
        attribute = node.attributes.get("value")
        if attribute is None or not attribute.HasField("tensor"):
            raise damaged(self.session.model.name, f"the constant '{node.name}' has no value")
        try:
            array = read_tensor(attribute.tensor)
        except TensorError as error:
            raise Blocked(
                f"its operand '{self.prefix}{node.name}' cannot be read: {error}", "Export the model again"
            ) from None
        name = self.value_name(node.name)
        return make_constant(name, array, Format.NHWC if array.ndim == 4 else Format.NCHW)

    def emit(
        self, op: Operator, inputs: Iterable[Value], outputs: int, origin: Origin | None = None
    ) -> tuple[Value, ...]:
        """Adds a node and infers types and shapes of its outputs. Raises Blocked if the operands are not valid."""
        values = super().emit(op, inputs, outputs, origin)
        if not isinstance(op, _CONTROL):
            blocker = self.session.inference.infer(self.graph.nodes[-1])
            if blocker is not None:
                raise Blocked(blocker.reason, blocker.remedy)
        return values
