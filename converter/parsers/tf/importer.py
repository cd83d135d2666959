"""Walks a source graph in order and builds the MindIR graph: values, constants, names, blockers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from mslite.converter.contradictions import contradictions_block
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.control_flow import Call as CallClosure
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch, SwitchLayer
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.constant_pool import ConstantPool
from mslite.converter.parsers.naming import OR_PLUGIN, Blocked
from mslite.converter.parsers.stand_in import stand_in

from .call import Call
from .model import ARGUMENT, Ref, SourceGraph, SourceNode, damaged
from .order import ordered
from .plugin import plugin_converter
from .registry import CALL_BY_NAME, COMPLEX_PASSES, CONVERTERS, ON_COMPLEX, QUANTIZED, Converter
from .session import MAX_CALLS, MAX_DEPTH, Session, Skipped
from .tensors import TensorError, read_tensor

_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)
_PARTS = ("Real", "Imag", "ComplexAbs")
"""Operators that also have converters for values that are complex64 themselves."""

_CONTROL = (PartialFusion, Switch, SwitchLayer, CallClosure)


class GraphImporter(ConstantPool):
    """Turns one source graph into nodes of `graph`: a new one, or that of the caller for a function that is inlined."""

    def __init__(self, session: Session, source: SourceGraph, graph: Graph, prefix: str = "", depth: int = 0) -> None:
        session.calls += 1
        if depth > MAX_DEPTH or session.calls > MAX_CALLS:
            raise damaged(
                session.model.name,
                f"its functions call each other more than {MAX_DEPTH} deep or {MAX_CALLS} times",
            )
        super().__init__(session.values)
        self.session = session
        self.source = source
        self.graph = graph
        self.prefix = prefix
        """What the names of a function's nodes begin with."""
        self.depth = depth
        self._values: dict[Ref, Value] = {}
        self._results: dict[str, int] = {}
        """Imported nodes -> how many outputs they have."""
        self._failed: set[str] = set()
        self._stood_in: dict[str, Value] = {}
        """Failed nodes -> what stands for their outputs in a report."""
        self._reads: set[Ref] = set()
        self._bound: set[int] = set()

    # ---- walking ----

    def run(self, results: Sequence[Ref], arguments: Sequence[Value] = ()) -> list[Value | None]:
        """Imports what `results` need and returns their values; None for those that a blocker prevents.

        `arguments` are the values of a function's arguments. Blockers are collected in the session; a damaged graph
        raises ConversionError.
        """
        for name, value in zip(self.source.arguments, arguments, strict=True):
            self.preset(Ref(name), value)
        order = ordered(self.source, results, self.session.model.name)
        self._reads.update(results, *(node.inputs for node in order))
        for node in order:
            if (
                node.operator not in (ARGUMENT, "Const")
                and node.name not in self._results
                and node.name not in self._failed
            ):
                self._import_node(node)
        values: list[Value | None] = []
        for ref in results:
            try:
                values.append(self.lookup(ref))
            except Skipped:
                values.append(None)
            except Blocked as blocked:
                self._block(ref.node, blocked)
                values.append(None)
        return values

    def _block(self, name: str, blocked: Blocked) -> None:
        operator = self.source.nodes[name].operator
        self.session.blockers.append(
            Blocker(self.prefix + name, operator, blocked.reason, blocked.remedy, blocked.attribute)
        )

    def _import_node(self, node: SourceNode) -> None:
        call = Call(self, node, self.session.nodes.unique(self.prefix + node.name))
        try:
            with contradictions_block():
                result = self._converter(call)(call)
        except Skipped:
            self._stand_in(call)
            return
        except Blocked as blocked:
            self.session.blockers.append(call.blocker(blocked))
            self._stand_in(call)
            return
        self.bind(node.name, (result,) if isinstance(result, Value) else tuple(result), call)

    def _stand_in(self, call: Call) -> None:
        name = call.node.name
        self._failed.add(name)
        known = [self._values.get(ref, self._stood_in.get(ref.node)) for ref in call.node.inputs]
        output = self._stood_in[name] = Value(self.value_name(name), DataType.UNKNOWN)
        stand_in(self.graph, call.operator, call.name, [value for value in known if value is not None], [output])

    def _converter(self, call: Call) -> Converter:
        plugin = plugin_converter(call.operator)
        if plugin is not None:
            return plugin
        is_function = call.operator in self.session.model.functions  # which is called by its name
        if call.operator not in CONVERTERS and call.operator not in ON_COMPLEX and not is_function:
            raise self._unknown(call)
        if call.operator not in COMPLEX_PASSES and not is_function and self._reads_complex(call):
            if call.operator not in ON_COMPLEX:
                raise call.block("the operator is not supported on complex numbers", "Compute with real numbers")
            return ON_COMPLEX[call.operator]
        if call.operator in CONVERTERS:
            return CONVERTERS[call.operator]
        if is_function:
            return CONVERTERS[CALL_BY_NAME]
        raise self._unknown(call)

    def _reads_complex(self, call: Call) -> bool:
        """Whether an operand is a pair of a real and an imaginary part. Raises Skipped where one is not there."""
        return any(
            value in self.session.pairs or (value.dtype in _COMPLEX and call.operator not in _PARTS)
            for value in call.inputs()
        )

    def _unknown(self, call: Call) -> Blocked:
        if call.operator.startswith(QUANTIZED):
            remedy = "Convert the float model, and let the converter quantise it"
            return call.block("operators on TensorFlow's own quantised types are not supported", remedy)
        if "String" in call.operator:
            return call.block("the operator is not supported", "Move text processing out of the model")
        return call.block("the operator is not supported", f"Replace it in the model by other operators, {OR_PLUGIN}")

    def bind(self, name: str, results: Sequence[Value], call: Call) -> None:
        """Makes these the outputs of a node, and gives what the node emitted its name."""
        self._results[name] = len(results)
        for position, value in enumerate(results):
            self._values[Ref(name, position)] = value
            if value.producer is not None and id(value.producer) in call.emitted and id(value) not in self._bound:
                self._bound.add(id(value))
                value.name = self.value_name(name if len(results) == 1 else f"{name}_o:{position}")
        if results and results[0].producer is not None and id(results[0].producer) in call.emitted:
            results[0].producer.name = call.name

    # ---- values ----

    def preset(self, ref: Ref, value: Value) -> None:
        """Makes `value` an output of a node that is not to be imported."""
        self._values[ref] = value
        self._results[ref.node] = ref.output + 1

    @contextmanager
    def replaced(self, values: Mapping[Ref, Value]) -> Iterator[None]:
        """Other values for some outputs for a while."""
        before = {ref: self._values[ref] for ref in values if ref in self._values}
        self._values.update(values)
        try:
            yield
        finally:
            for ref in values:
                del self._values[ref]
            self._values.update(before)

    def fail(self, name: str) -> None:
        """Says that a node has no outputs because of a blocker that is noted already."""
        self._failed.add(name)

    def is_read(self, name: str, output: int) -> bool:
        return Ref(name, output) in self._reads

    def outputs_read(self, name: str) -> int:
        """How many outputs of a node the model reads, at least one."""
        return max((ref.output + 1 for ref in self._reads if ref.node == name), default=1)

    def lookup(self, ref: Ref) -> Value:
        """The value of a node's output. Raises Skipped or Blocked when there is none."""
        if ref in self._values:
            return self._values[ref]
        if ref.node in self._failed:
            raise Skipped
        node = self.source.nodes[ref.node]
        if node.operator == "Const" and ref.output == 0:
            value = self._values[ref] = self._stored(node)
            return value
        if ref.node in self._results or node.operator == "Const":
            raise Blocked(
                f"it reads output {ref.output} of {node.operator} '{self.prefix}{ref.node}', which is not supported",
                "Export the model without it",
            )
        raise damaged(self.session.model.name, f"'{ref.node}' is read before it is produced")

    def value_name(self, name: str) -> str:
        """The name of a node's value: the node's own in the main graph, whose names are reserved."""
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
            raise Blocked(f"its operand '{self.prefix}{node.name}' cannot be read: {error}", "Export again") from None
        name = self.value_name(node.name)
        return make_constant(name, array, Format.NHWC if array.ndim == 4 else Format.NCHW)

    def emit(self, op: Operator, inputs: Iterable[Value], outputs: int, call: Call | None) -> tuple[Value, ...]:
        """Adds a node and infers its outputs. Raises Blocked when the operator cannot be called like this."""
        base = call.name if call is not None else self.graph.name
        source = f"{call.node.operator} '{call.name}'" if call is not None else ""
        name = self.session.nodes.unique(f"{base}/{op.name}")
        names = [f"{name}:{index}" if outputs > 1 else name for index in range(outputs)]
        values = tuple(Value(self.session.values.unique(wish), DataType.UNKNOWN, format=Format.NHWC) for wish in names)
        node = Node(op, name, tuple(inputs), values, source=source)
        self.graph.nodes.append(node)
        if call is not None:
            call.emitted.add(id(node))
        if not isinstance(op, _CONTROL):
            blocker = self.session.inference.infer(node)
            if blocker is not None:
                raise Blocked(blocker.reason, blocker.remedy)
        return values
