"""Walks a graph of a `.mindir` model in order and builds the MindIR graph: scopes, constants, names, sub-graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Graph, Node, Value, constant, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import Stack
from mslite.converter.mindir.ops.control_flow import Call as CallOperator
from mslite.converter.mindir.ops.control_flow import PartialFusion, Switch, SwitchLayer
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.ops.rearrange import ExpandDims
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.protobuf import Message

from .call import Blocked, Call, Dependent, flattened
from .entries import Choice, Closure, Entry, Failed, Immediate, Order, Sequence
from .file import file_error
from .generic import convert_own
from .messages import INPUT_QUANTISATION, QUANTISATION_KIND, RESULT_QUANTISATION, AttributeType
from .registry import ARGUMENTS, find_converter, own_operator
from .session import Session
from .tensors import TensorError, data_type, dimensions, quantisation
from .values import MONAD, contents

_REFERENCE = "REF::"
_SIGNATURE_PREFIX = "S-Prim-"
_SMALL_BYTES = 4096
_MAX_NODES = 1 << 22


class GraphImporter:
    """Turns one GraphProto into `graph`, which stands in the session under `index`."""

    def __init__(self, session: Session, proto: Message, index: int) -> None:
        self.session = session
        self.proto = proto
        self.index = index
        self.graph = session.graphs[index]
        self.layout = session.layout
        self._entries: dict[str, Entry] = {}
        self._types: dict[int, tuple[DataType, tuple[int, ...] | None]] = {}
        self._bound: set[int] = set()
        self._pool: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._derived: dict[tuple[int, str], Value] = {}
        self._picked: dict[str, int] = {}

    # ---- walking ----

    def run(self) -> Graph:
        """Imports everything. Blockers are collected in the session; a damaged graph raises ConversionError."""
        if len(self.proto.node) > _MAX_NODES:
            raise file_error(self.session.name, f"graph '{self._graph_name}' has {len(self.proto.node)} nodes")
        if self.proto.map_parameter:
            self._block(self._graph_name, "graph", "it has hash-table parameters, which are not supported")
        for info in self.proto.input:
            self._input(info)
        for attribute in self.proto.attribute:
            if attribute.name == INPUT_QUANTISATION:
                self._quantise(attribute, self.graph.inputs)
        if self.index:
            for tensor in self.proto.parameter:
                self._bind(tensor.name, self.session.parameter(tensor, self._plain(tensor.name)))
        self._count_results()
        for node in self.proto.node:
            self._node(node)
        self._outputs()
        self._mark_tail_calls()
        for value in self.graph.values() if self.layout is Format.NHWC else ():
            value.format = Format.NHWC
        return self.graph

    @property
    def _graph_name(self) -> str:
        return str(self.proto.name)

    def _plain(self, name: str) -> str:
        """A name without the graph's, which stands before it."""
        prefix = f"{self._graph_name}:"
        return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else name

    def _block(self, name: str, operator: str, reason: str, remedy: str = "Export the model again") -> None:
        self.session.blockers.append(Blocker(name, operator, reason, remedy))

    def _input(self, info: Message) -> None:
        name = self._plain(info.name)
        if not info.tensor and (info.denotation in ("UMonadType", "IOMonadType") or _is_monad(info)):
            self._bind(info.name, Order())
            return
        tensors = list(info.tensor) or list(info.attr_info.tensors)
        value = Value(name, DataType.UNKNOWN)
        if tensors:
            try:
                value.dtype = data_type(tensors[0])
                dims = dimensions(tensors[0])
            except TensorError as error:
                raise file_error(self.session.name, f"the graph input '{name}': {error}") from None
            is_scalar = not info.tensor and info.attr_info.type == AttributeType.SCALAR
            self._types[id(value)] = (value.dtype, () if is_scalar else dims)
            if dims is not None:
                value.shape = () if is_scalar else tuple(dim if dim >= 0 else self.session.symbol() for dim in dims)
        elif self.index == 0:
            self._block(name, "graph", "this graph input is no tensor", "Export the model with tensors as inputs")
        if value.dtype is DataType.STRING:
            self._block(name, "graph", "this graph input holds strings", "Move text processing out of the model")
        self.graph.inputs.append(value)
        self._bind(info.name, value)

    def _count_results(self) -> None:
        """How many results of each node are picked one by one."""
        numbers: dict[str, int] = {}
        for node in self.proto.node:
            if node.op_type == "Constant" and len(node.attribute) and len(node.output):
                numbers[node.output[0]] = int(node.attribute[0].i)
            elif len(node.input) == 2 and node.op_type.removeprefix(_REFERENCE).partition(":")[0] == "TupleGetItem":
                source, index = node.input[0], numbers.get(node.input[1], 0)
                self._picked[source] = max(self._picked.get(source, 0), min(index, 4095) + 1)

    def _node(self, node: Message) -> None:
        if not node.output:
            raise file_error(self.session.name, f"a node of type '{node.op_type}' has no output")
        name = node.output[0]
        if node.op_type == "Constant":
            self._bind(name, self._constant(node))
            return
        operator, attributes = self._operator(node)
        title = node.domain or self._plain(name)
        try:
            entries = [self.lookup(entry) for entry in node.input]
            if operator.startswith(_REFERENCE):
                self._bind(name, self._call(node, operator[len(_REFERENCE) :], entries))
                return
            values = self._attributes(attributes)
            call = Call(self, operator, self._node_name(title, name), entries, values, ARGUMENTS.get(operator, ()))
            call.declared_outputs = max(_tuple_length(node), self._picked.get(name, 0), 1)
            self._bind(name, self._convert(call))
            self._name_node(name, call)
            self._read_quantisation(attributes, self._entries[name])
        except Dependent:
            self._bind(name, Failed())
        except Blocked as blocked:
            blocker = Blocker(title, operator, blocked.reason, blocked.remedy, blocked.attribute)
            self.session.blockers.append(blocker)
            self._bind(name, Failed())
        self._declare_type(node)

    def _node_name(self, title: str, name: str) -> str:
        return self.session.nodes.unique(title or self._plain(name))

    def _name_node(self, name: str, call: Call) -> None:
        """The node that makes the result has the source node's name."""
        entry = self._entries.get(name)
        first = entry.items[0] if isinstance(entry, Sequence) and entry.items else entry
        if isinstance(first, Value) and first.producer is not None and id(first.producer) in call.emitted:
            first.producer.name = call.name

    def _read_quantisation(self, attributes: Iterable[Message], entry: Entry) -> None:
        """Gives the results of a node their scales and zero points, and the node its kind of quantisation."""
        results = [each for each in flattened([entry]) if isinstance(each, Value)]
        for attribute in attributes:
            if attribute.name == RESULT_QUANTISATION:
                self._quantise(attribute, results)
            elif attribute.name == QUANTISATION_KIND and results and results[0].producer is not None:
                try:
                    results[0].producer.quant_type = QuantType(attribute.i)
                except ValueError:
                    raise Blocked(f"{attribute.i} is no kind of quantisation", "Export again", attribute.name) from None

    def _quantise(self, attribute: Message, values: list[Value]) -> None:
        for value, item in zip(values, attribute.values, strict=False):
            if len(item.tensors):
                try:
                    value.quant = quantisation(item.tensors[0])
                except TensorError as error:
                    self._block(value.name, "quantisation", str(error))

    def _operator(self, node: Message) -> tuple[str, Iterable[Message]]:
        """The primitive's name and attributes: the node's own, or those of the shared primitive that it refers to."""
        operator = node.op_type
        shared = self.session.primitives.get(operator.removeprefix(_REFERENCE)) if operator[:5] == _REFERENCE else None
        if shared is not None:
            return shared.op_type.removeprefix(_SIGNATURE_PREFIX), [*shared.attribute, *node.attribute]
        return operator.removeprefix(_SIGNATURE_PREFIX), node.attribute

    def _attributes(self, attributes: Iterable[Message]) -> dict[str, Any]:
        values = {}
        for attribute in attributes:
            if _is_type(attribute) or attribute.name == RESULT_QUANTISATION:
                continue
            try:
                values[attribute.name] = contents(attribute, self.session.reader)
            except TensorError:
                values[attribute.name] = _Unreadable  # matters only to a converter that asks for it
        return values

    def _convert(self, call: Call) -> Entry:
        converter = find_converter(call.operator)
        if converter is not None:
            return converter(call)
        operator = own_operator(call.operator)
        if operator is None:
            raise call.block("the primitive is not supported", "Replace it in the model by other operators")
        return convert_own(call, operator)

    def _outputs(self) -> None:
        names = [info.name for info in self.proto.output]
        for entry in flattened(self._output_entries(names)):
            if isinstance(entry, Value):
                self.graph.outputs.append(entry)
            elif isinstance(entry, Immediate) and entry.contents is not None:
                try:
                    self.graph.outputs.append(self._from_contents(entry.contents, "output"))
                except Blocked as blocked:
                    self._block(self._graph_name, "graph", f"one of its outputs {blocked.reason}")
            elif not isinstance(entry, Order | Failed):
                self._block(self._graph_name, "graph", "one of its outputs is no tensor")
        self._separate_outputs()

    def _output_entries(self, names: list[str]) -> list[Entry]:
        entries = []
        for name in names:
            try:
                entries.append(self.lookup(name))
            except Blocked as blocked:
                self._block(name, "graph", blocked.reason, blocked.remedy)
        return entries

    def _separate_outputs(self) -> None:
        """An output that stands there twice gets a tensor of its own."""
        seen: set[int] = set()
        for position, value in enumerate(self.graph.outputs):
            dtype = self.type_of(value)
            if id(value) in seen and dtype is not DataType.UNKNOWN:
                kind = self.constant(np.asarray(int(dtype), np.int32), value.name)
                self.graph.outputs[position] = self.emit(Cast(), (value, kind), 1, None)[0]
            seen.add(id(value))

    def _mark_tail_calls(self) -> None:
        """A call whose results are the graph's results does not come back."""
        for node in self.graph.nodes:
            if isinstance(node.op, CallOperator) and list(node.outputs) == self.graph.outputs:
                node.op = CallOperator(is_tail_call=True)

    # ---- names ----

    def _bind(self, name: str, entry: Entry) -> None:
        if name in self._entries:
            raise file_error(self.session.name, f"'{name}' is produced twice")
        self._entries[name] = entry
        if isinstance(entry, Value) and id(entry) not in self._bound:
            self._bound.add(id(entry))
            if entry.producer is not None:
                entry.name = self._plain(name)

    def lookup(self, name: str) -> Entry:
        """What a name stands for: of this graph, a sub-graph, or a parameter of the model. Raises Blocked."""
        if name in self._entries:
            return self._entries[name]
        if name in self.session.graph_index:
            return Closure(self.session.graph_index[name])
        if name in self.session.parameters:
            entry: Entry = self.session.parameters[name]
            self._entries[name] = entry
            return entry
        if name in self.session.produced:
            remedy = "Export the model so that sub-graphs get what they read as inputs"
            raise Blocked(f"'{name}' belongs to another graph", remedy)
        raise file_error(self.session.name, f"'{name}' is read, but nothing produces it")

    def _constant(self, node: Message) -> Entry:
        name = self._plain(node.output[0])
        if not node.attribute:
            raise file_error(self.session.name, f"the constant '{name}' is empty")
        attribute = node.attribute[0]
        try:
            if _is_tensor(attribute):
                made = self.session.reader.constant(attribute.tensors[0], name)
                self._bound.add(id(made))
                return made
            value = contents(attribute, self.session.reader)
        except TensorError as error:
            self._block(name, "Constant", str(error))
            return Failed()
        if value is MONAD:
            return Order()
        if isinstance(value, np.ndarray):
            made = constant(name, value)
            self._bound.add(id(made))
            return made
        return Immediate(value)

    # ---- values ----

    def immediate(self, value: Any, call: Call) -> Value:
        """The constant that a number or a (nested) tuple of numbers is."""
        try:
            return self._from_contents(value, call.name)
        except Blocked as blocked:
            raise call.block(f"an operand {blocked.reason}") from None

    def _from_contents(self, value: Any, hint: str) -> Value:
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

    def _declare_type(self, node: Message) -> None:
        """Remembers type and shape that the file gives for the node's results. Quantised ones keep the type: inference
        only sees the real numbers that they stand for."""
        entry = self._entries.get(node.output[0])
        values = [each for each in flattened([entry]) if isinstance(each, Value)] if entry is not None else []
        for value, tensor in zip(values, _result_types(node), strict=False):
            try:
                known = self._types.setdefault(id(value), (data_type(tensor), dimensions(tensor)))
            except TensorError:
                continue  # a hint only; inference says more
            if value.quant and value.dtype is DataType.UNKNOWN:
                value.dtype = known[0]

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

    # ---- sub-graphs ----

    def _call(self, node: Message, reference: str, entries: list[Entry]) -> Entry:
        """A node whose operator is not a primitive but a sub-graph, or a choice between some."""
        target = self.lookup(reference)
        call = Call(self, "call", self._node_name(node.domain, node.output[0]), entries, {}, ())
        if isinstance(target, Failed):
            raise Dependent
        if not isinstance(target, Closure | Choice):
            raise call.block(f"'{reference}' is called, but is no sub-graph")
        arguments = tuple(call.tensors())
        count = self._result_count(node, target)
        if count == 0:
            raise call.block("the number of its results cannot be told")
        closure = self._closure(target, arguments, call)
        results = self.emit(CallOperator(is_tail_call=False), (closure,), count, call)
        for result in results:
            if count > 1:
                self._bound.add(id(result))
        return Sequence(results) if count > 1 else results[0]

    def _closure(self, target: Closure | Choice, arguments: tuple[Value, ...], call: Call) -> Value:
        if isinstance(target, Closure):
            op = PartialFusion(sub_graph_index=target.graph)
            return self.emit(op, (*target.arguments, *arguments), 1, call)[0]
        branches = [self._closure(branch, arguments, call) for branch in target.branches]
        choice: Operator = SwitchLayer() if target.by_index else Switch()
        return self.emit(choice, (target.selector, *branches), 1, call)[0]

    def _result_count(self, node: Message, target: Closure | Choice) -> int:
        length = _tuple_length(node)
        if length:
            return length
        first = target if isinstance(target, Closure) else target.branches[0]
        return self.session.result_count(first.graph)


def _is_tensor(attribute: Message) -> bool:
    """True for a constant that is one tensor with contents, in the typed form."""
    if attribute.HasField("ref_attr_name") or attribute.type != AttributeType.TENSORS or not attribute.tensors:
        return False
    return bool(attribute.tensors[0].HasField("raw_data") or attribute.tensors[0].HasField("external_data"))


class _Unreadable:
    """Stands for an attribute that could not be read."""


def _is_type(attribute: Message) -> bool:
    """True for the attribute that says type and shape of a node's result."""
    if attribute.HasField("ref_attr_name"):
        return "shape:" in attribute.ref_attr_name
    return bool(attribute.name == "shape" and attribute.type in _TYPE_KINDS and not _has_contents(attribute))


_TYPE_KINDS = frozenset(
    (AttributeType.TENSORS, AttributeType.TUPLE, AttributeType.LIST, AttributeType.SCALAR, AttributeType.NONE)
) | frozenset((AttributeType.UMONAD, AttributeType.IOMONAD))


def _has_contents(attribute: Message) -> bool:
    """True when the attribute's values are numbers: a real attribute that is called `shape`."""
    return any(len(item.ints) or item.HasField("i") for item in attribute.values)


def _is_monad(info: Message) -> bool:
    return info.HasField("attr_info") and info.attr_info.type in (AttributeType.UMONAD, AttributeType.IOMONAD)


def _result_types(node: Message) -> list[Message]:
    """The tensors that describe the node's results."""
    for attribute in node.attribute:
        if _is_type(attribute):
            return [tensor for item in (attribute, *attribute.values) for tensor in item.tensors]
    return []


def _tuple_length(node: Message) -> int:
    """The number of results that the type attribute says; 0 when it does not."""
    for attribute in node.attribute:
        if not _is_type(attribute):
            continue
        if attribute.type in (AttributeType.TUPLE, AttributeType.LIST):
            return len(attribute.values)
        if attribute.HasField("ref_attr_name") and "[" in attribute.ref_attr_name:
            return len(attribute.tensors)
        return 1 if len(attribute.tensors) else 0
    return 0
