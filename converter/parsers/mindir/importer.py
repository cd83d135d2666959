"""Imports one GraphProto of a `.mindir` model: its inputs, nodes, constants and types become a MindIR graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Graph, Value, constant
from mslite.converter.mindir.input_sizes import share_sizes, unpacked
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.placeholder import stand_in
from mslite.converter.parsers.protobuf import Message
from mslite.converter.unexpected_errors import unexpected_errors_to_blocked

from .call import Call
from .entries import Entry, Failed, Immediate, Order, Sequence, flattened
from .exceptions import Blocked, UpstreamUnsupported
from .file import file_error
from .generic import convert_same_operator
from .in_place import changes_first_operand, is_view
from .messages import INPUT_QUANTIZATION, INPUT_SIZES, RESULT_QUANTIZATION, AttributeType
from .outputs import import_outputs
from .quantized import quantize, read_quantization
from .registry import ARGUMENTS, find_converter, mslite_operator
from .scope import Scope
from .session import Session
from .subgraph_calls import call_subgraph, mark_tail_calls
from .tensors import TensorError, data_type, dimensions
from .type_attributes import is_monad, is_tensor, is_type, result_types, tuple_length
from .unsupported import UNSUPPORTED_PRIMITIVES, refusal
from .values import MONAD, contents

_REFERENCE = "REF::"
_SIGNATURE_PREFIX = "S-Prim-"
_MAX_NODES = 1 << 22
_TUPLES = (AttributeType.TUPLE, AttributeType.LIST)
_MAX_TUPLES = 16
"""The deepest nesting of tuples."""


class GraphImporter(Scope):
    """Converts one GraphProto to `graph`, number `index` in the session's list of graphs."""

    def __init__(self, session: Session, proto: Message, index: int) -> None:
        super().__init__(session, proto, index)
        self._stood_in: dict[str, Value] = {}
        """Names of failed nodes -> the values that replace their outputs in a report."""
        self._picked: dict[str, int] = {}
        """Names of nodes -> the number of results that TupleGetItem nodes read."""

    # ---- inputs and nodes ----

    def run(self) -> Graph:
        """Imports the graph. Collects unsupported nodes in the session; raises ConversionError for a damaged graph."""
        if len(self.proto.node) > _MAX_NODES:
            raise file_error(self.session.name, f"graph '{self.graph_name}' has {len(self.proto.node)} nodes")
        if self.proto.map_parameter:
            self.block(self.graph_name, "graph", "it has hash-table parameters, which are not supported")
        for info in self.proto.input:
            self._input(info)
        for attribute in self.proto.attribute:
            if attribute.name == INPUT_QUANTIZATION:
                quantize(self, attribute, self.graph.inputs)
            elif attribute.name == INPUT_SIZES and self.index == 0:
                self._mark_sizes(attribute)
        if self.index:
            for tensor in self.proto.parameter:
                self.bind(tensor.name, self.session.parameter(tensor, self.plain_name(tensor.name)))
        self._count_results()
        for node in self.proto.node:
            self._node(node)
        import_outputs(self)
        self.overwritten.keep()
        mark_tail_calls(self)
        for value in self.graph.values() if self.layout is Format.NHWC else ():
            value.format = Format.NHWC
        return self.graph

    def _input(self, info: Message) -> None:
        name = self.plain_name(info.name)
        if not info.tensor and (info.denotation in ("UMonadType", "IOMonadType") or is_monad(info)):
            self.bind(info.name, Order())
            return
        if not info.tensor and info.attr_info.type in _TUPLES and self.index:
            self.bind(info.name, self._tuple_input(name, info.attr_info, 0))
            return
        if self.index == 0 and not info.tensor and not info.attr_info.tensors:
            self.block(name, "graph", "this graph input is not a tensor", "Export the model with tensors as inputs")
        tensors = list(info.tensor) or list(info.attr_info.tensors)
        is_scalar = not info.tensor and info.attr_info.type == AttributeType.SCALAR
        value = self._input_value(name, tensors, is_scalar)
        if value.dtype in (DataType.COMPLEX64, DataType.COMPLEX128):
            remedy = "Pass the real and the imaginary part as two inputs"
            self.block(name, "graph", "this graph input is complex", remedy)
        if value.dtype is DataType.STRING:
            self.block(name, "graph", "this graph input is a string tensor", "Move text processing out of the model")
        self.bind(info.name, value)

    def _element_type(self, tensor: Message) -> DataType:
        """Returns the data type used for computation: float32 instead of bfloat16. Raises TensorError."""
        found = data_type(tensor)
        return DataType.FLOAT32 if found is DataType.BFLOAT16 and not self.session.written_by_mslite else found

    def _tuple_input(self, name: str, kind: Message, depth: int) -> Entry:
        """Returns a Sequence with one graph input for each element of a tuple: calls of subgraphs flatten tuples."""
        if depth > _MAX_TUPLES:
            raise file_error(self.session.name, f"the tuple '{name}' is nested too deeply")
        if kind.type not in _TUPLES:
            return self._input_value(name, list(kind.tensors), kind.type == AttributeType.SCALAR)
        return Sequence(tuple(self._tuple_input(f"{name}:{i}", each, depth + 1) for i, each in enumerate(kind.values)))

    def _input_value(self, name: str, tensors: list[Message], is_scalar: bool) -> Value:
        value = Value(name, DataType.UNKNOWN)
        if tensors:
            try:
                value.dtype = self._element_type(tensors[0])
                dims = dimensions(tensors[0])
            except TensorError as error:
                raise file_error(self.session.name, f"the graph input '{name}': {error}") from None
            self._types[id(value)] = (value.dtype, () if is_scalar else dims)
            if dims is not None:
                value.shape = () if is_scalar else tuple(dim if dim >= 0 else self.session.symbol() for dim in dims)
        self.graph.inputs.append(value)
        return value

    def _mark_sizes(self, attribute: Message) -> None:
        """Restores the input sizes that the file was made for, and marks dimensions that are equal."""
        numbers = [number for item in attribute.values for number in item.ints]
        for value, number in zip(self.graph.inputs, numbers, strict=False):
            if value.shape is not None:
                value.size_marks = unpacked(int(number), len(value.shape))
        share_sizes(self.graph.inputs)

    def _count_results(self) -> None:
        """Counts the results of each node that TupleGetItem nodes read."""
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
            self.bind(name, self._constant(node))
            return
        operator, attributes = self._operator(node)
        title = node.domain or self.plain_name(name)
        try:
            entries = [self.lookup(entry) for entry in node.input]
            with unexpected_errors_to_blocked():
                if operator.startswith(_REFERENCE):
                    self.bind(name, call_subgraph(self, node, operator[len(_REFERENCE) :], entries))
                    return
                if operator == "Load":
                    entries = [self.overwritten.loaded(entry) for entry in entries]
                self.overwritten.check(entries)
                values = self._attributes(attributes)
                call = Call(self, operator, self.node_name(node), entries, values, ARGUMENTS.get(operator, ()))
                call.declared_type, call.declared_shape = self._result_type(node)
                call.declared_types = self._result_types(node)
                call.declared_outputs = max(tuple_length(node), self._picked.get(name, 0), 1)
                # MindSpore only numbers its values; users know the name of the node in the network.
                self.bind(name, self._convert(call), "" if self.session.written_by_mslite else node.domain)
                self._note_change(operator, attributes, entries, name, title)
                self._name_node(name, call)
                read_quantization(self, attributes, self._entries[name])
        except UpstreamUnsupported:
            self._stand_in(node, operator, title)
        except Blocked as blocked:
            blocker = Blocker(title, operator, blocked.reason, blocked.remedy, blocked.attribute)
            self.session.blockers.append(blocker)
            self._stand_in(node, operator, title)
        self._declare_type(node)

    def _stand_in(self, node: Message, operator: str, title: str) -> None:
        known = [self._stood_in.get(name) or self._entries.get(name) for name in node.input]
        output = self._stood_in[node.output[0]] = Value(self.plain_name(node.output[0]), DataType.UNKNOWN)
        stand_in(self.graph, operator, title, [value for value in known if isinstance(value, Value)], [output])
        self.bind(node.output[0], Failed())

    def _note_change(
        self, operator: str, attributes: Iterable[Message], entries: list[Entry], name: str, title: str
    ) -> None:
        old, new = entries[0] if entries else None, self._entries[name]
        if is_view(operator) and isinstance(old, Value):
            for made in flattened([new]):
                if isinstance(made, Value):
                    self.overwritten.note_view(made, old)
        if changes_first_operand(operator, attributes) and isinstance(old, Value) and isinstance(new, Value):
            self.overwritten.change(old, new, title)

    def _result_type(self, node: Message) -> tuple[DataType, tuple[int, ...] | None]:
        """Returns the data type and the dimensions that the file stores for the node's first result."""
        try:
            tensor = result_types(node)[0]
            return self._element_type(tensor), dimensions(tensor)
        except (IndexError, TensorError):
            return DataType.UNKNOWN, None

    def _result_types(self, node: Message) -> tuple[DataType, ...]:
        try:
            return tuple(self._element_type(tensor) for tensor in result_types(node))
        except TensorError:
            return ()

    def _name_node(self, name: str, call: Call) -> None:
        """Gives the node that produces the result the name of the source node."""
        entry = self._entries.get(name)
        first = entry.items[0] if isinstance(entry, Sequence) and entry.items else entry
        if isinstance(first, Value) and first.producer is not None and id(first.producer) in call.emitted:
            first.producer.name = call.name

    def _operator(self, node: Message) -> tuple[str, Iterable[Message]]:
        """Returns the primitive's name and attributes, from the node or from the shared primitive that it refers to."""
        operator = node.op_type
        shared = self.session.primitives.get(operator.removeprefix(_REFERENCE)) if operator[:5] == _REFERENCE else None
        if shared is not None:
            return shared.op_type.removeprefix(_SIGNATURE_PREFIX), [*shared.attribute, *node.attribute]
        return operator.removeprefix(_SIGNATURE_PREFIX), node.attribute

    def _attributes(self, attributes: Iterable[Message]) -> dict[str, Any]:
        values = {}
        for attribute in attributes:
            if is_type(attribute) or attribute.name == RESULT_QUANTIZATION:
                continue
            try:
                values[attribute.name] = contents(attribute, self.session.reader)
            except TensorError:
                values[attribute.name] = _Unreadable  # an error only if a converter reads it
        return values

    def _convert(self, call: Call) -> Entry:
        converter = find_converter(call.operator)
        if converter is not None:
            return converter(call)
        operator = mslite_operator(call.operator)
        foreign = not self.session.written_by_mslite and not self.session.trains
        if operator is None or (foreign and call.operator in UNSUPPORTED_PRIMITIVES):
            raise call.block(*refusal(call.operator))
        return convert_same_operator(call, operator)

    # ---- constants ----

    def lookup(self, name: str) -> Entry:
        owner, node = self.session.constants.get(name, (self.index, None))
        if node is not None and owner != self.index and name not in self._entries:
            self.bind(name, self._constant(node))
        return super().lookup(name)

    def _constant(self, node: Message) -> Entry:
        name = self.plain_name(node.output[0])
        if not node.attribute:
            raise file_error(self.session.name, f"the constant '{name}' is empty")
        attribute = node.attribute[0]
        try:
            if is_tensor(attribute):
                made = self.session.reader.constant(attribute.tensors[0], name)
                self._bound.add(id(made))
                return made
            value = contents(attribute, self.session.reader)
        except TensorError as error:
            self.block(name, "Constant", str(error))
            return Failed()
        if value is MONAD:
            return Order()
        if isinstance(value, np.ndarray):
            made = constant(name, value)
            self._bound.add(id(made))
            return made
        return Immediate(value)

    # ---- types ----

    def _declare_type(self, node: Message) -> None:
        """Stores the data types and shapes that the file has for the node's results. Quantized results keep this type,
        because inference only computes the type of the dequantized values."""
        entry = self._entries.get(node.output[0])
        values = [each for each in flattened([entry]) if isinstance(each, Value)] if entry is not None else []
        for value, tensor in zip(values, result_types(node), strict=False):
            try:
                known = self._types.setdefault(id(value), (self._element_type(tensor), dimensions(tensor)))
            except TensorError:
                continue  # only a hint; shape inference finds the type
            if value.quant and value.dtype is DataType.UNKNOWN:
                value.dtype = known[0]


class _Unreadable:
    """The value of an attribute that could not be read."""
