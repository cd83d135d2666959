"""Walks a source graph in order and builds the MindIR graph: scopes, constants, names, blockers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TensorProto, TypeProto

from mslite.converter.contradictions import contradictions_block
from mslite.converter.errors import Blocker
from mslite.converter.memory_limit import spend
from mslite.converter.mindir.graph import Array, Graph, Node, Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.mindir.quantised import channel_axis, only_moves, real_numbers
from mslite.converter.parsers.naming import OR_PLUGIN, Blocked, NotKnown
from mslite.converter.parsers.stand_in import stand_in
from mslite.converter.quoting import quoted

from .call import Call
from .graph_inputs import PartialShape, input_type, known_type
from .model import DOMAINS, graph_error
from .names import Session
from .order import node_reads, ordered, used_names
from .protos import all_nodes
from .quantised import Coded, Quantised
from .registry import KNOWN_OPSET, find_converter
from .tensor_sequence import TensorSequence
from .tensors import TensorError, UnsupportedTensor
from .types import infer_types
from .types_behind import TypesBehind

_SEQUENCE_OUTPUT = "this graph output is a sequence of tensors", "Export the model with tensors as outputs"
_TEXT = "Move text processing out of the model"
_SMALL_BYTES = 4096
"""Constants up to this size that are equal become one value."""


class GraphImporter:
    """Turns one GraphProto into a Graph. Values of an outer graph that it reads are in `captures`."""

    def __init__(self, session: Session, proto: GraphProto, name: str, outer: GraphImporter | None = None) -> None:
        self.session = session
        self.model = session.model
        self.proto = proto
        self.graph = Graph(name)
        self.outer = outer
        self.captures: dict[str, Value] = {}
        """Names of the outer graph -> the value that stands for each in this graph, to become an input."""
        self._values: dict[str, Value] = {}
        self._initializers = (
            session.model.initializers if outer is None else {tensor.name: tensor for tensor in proto.initializer}
        )
        self._pool: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._derived: dict[tuple[int, str], Value] = {}
        self._known: dict[int, tuple[DataType, PartialShape]] = {}
        self._types_behind: TypesBehind | None = None
        self._bound: set[int] = set()
        self._behind: set[str] = set()
        """Names that depend on what a blocking node would write."""
        self._all_behind = outer is not None and outer.enters_behind
        self.enters_behind: bool = False
        """Whether the node that is imported now reads such names: its sub-graphs get them."""
        self._used = used_names(proto)
        self.deferred: dict[str, Quantised | Coded] = {}
        """Quantised tensors, which are made in the form that is asked for."""
        self.axes: dict[int, int] = {} if outer is None else outer.axes
        """The dimensions to which the records of constants belong, by identity."""
        self.index = len(session.graphs)
        """The number by which PartialFusion calls this graph."""
        session.graphs.append(self.graph)

    # ---- walking ----

    def run(self, skip_inputs: int = 0) -> Graph:
        """Imports everything; the last `skip_inputs` inputs were bound before.

        Blockers are collected in the session; a damaged graph raises ConversionError.
        """
        self.declare()
        for info in self.proto.input[: len(self.proto.input) - skip_inputs]:
            if info.name not in self._initializers:
                self.graph.inputs.append(self._input(info.name, info.type))
        for node in ordered(self.proto.node, self.model.name):
            self._import_node(node)
        for info in self.proto.output:
            try:
                if self._is_behind(info.name) and info.type.WhichOneof("value") == "sequence_type":
                    raise Blocked(*_SEQUENCE_OUTPUT)
                self.graph.outputs.append(self._output(info.name))
            except Blocked as blocked:
                self._block(info.name, blocked.reason, blocked.remedy)
                self.graph.outputs.append(Value(info.name, DataType.UNKNOWN))
        return self.graph

    def declare(self) -> None:
        """Takes the names of the graph, so that no other value gets one of them."""
        names = self.session.values
        names.reserve(*(value.name for value in [*self.proto.input, *self.proto.output]))
        names.reserve(*self._initializers, *(name for node in self.proto.node for name in node.output))

    def bind_input(self, name: str, value: Value) -> None:
        """Lets an input of the source graph be another value of this graph."""
        self._bind(name, value)

    def _block(self, name: str, reason: str, remedy: str) -> None:
        self.session.blockers.append(Blocker(name, "graph", reason, remedy))

    def _input(self, name: str, kind: TypeProto) -> Value:
        if name in self._values or not name:
            raise graph_error(self.model.name, f"the graph input '{name}' is there twice or has no name")
        if kind.WhichOneof("value") is None:
            kind = self.model.types.get(name, kind)
        dtype, dims = input_type(name, kind, self.model.name, self.outer is not None, self._block)
        shape = None
        if dims is not None:
            # A body may be called with other sizes each time: its names are its own.
            shape = tuple(
                (self.session.symbol("" if self.outer is not None else dim) if isinstance(dim, str) else dim)
                for dim in dims
            )
        value = self._values[name] = Value(name, dtype, shape)
        self._bound.add(id(value))
        return value

    def _output(self, name: str) -> Value:
        known = self.deferred.get(name)
        if isinstance(known, Quantised) and known.has_records() and self.outer is None and name not in self._values:
            value = known.boundary()
        else:
            value = self.lookup(name)
        if isinstance(value, TensorSequence):
            raise Blocked(*_SEQUENCE_OUTPUT)
        taken = any(value is other for other in self.graph.outputs)
        if value.producer is not None and not taken:
            value.name = name
            return value
        dtype = self.type_of(value)
        if self.outer is not None or (value.name == name and not taken) or dtype is DataType.UNKNOWN:
            return value
        # A second name for one tensor: callers find outputs by name, so it gets a tensor of its own.
        kind = self.constant(np.asarray(int(dtype), np.int32), name)
        copy = self.emit(Cast(), (value, kind), 1, None)[0]
        copy.name = name
        return copy

    def _import_node(self, node: NodeProto) -> None:
        domain = DOMAINS.get(node.domain, node.domain)
        version = self.model.opsets.get(domain, 1)
        first_output = node.output[0] if node.output else ""
        call = Call(self, node, self.session.nodes.unique(node.name or first_output or node.op_type), version)
        first, blockers = len(self.graph.nodes), len(self.session.blockers)
        behind = self.enters_behind = self._all_behind or any(map(self._is_behind, node_reads(node)))
        try:
            with contradictions_block():
                results = self._convert(call, domain)
        except Blocked as blocked:
            if not isinstance(blocked, NotKnown) or not (behind or len(self.session.blockers) > blockers):
                self.session.blockers.append(call.blocker(blocked))
            del self.graph.nodes[first:]
            results = self._stand_in(call)
        if behind or len(self.session.blockers) > blockers:
            self._behind.update(node.output)
        if results and results[0] is not None and id(results[0].producer) in call.emitted:
            assert results[0].producer is not None
            results[0].producer.name = call.name
        self._mark(first)
        for index, output in enumerate(node.output):
            if output and output not in self.deferred:
                value = results[index] if index < len(results) else None
                self._bind(output, Value(output, DataType.UNKNOWN) if value is None else value)

    def _is_behind(self, name: str) -> bool:
        return name in self._behind or (self.outer is not None and self.outer._is_behind(name))

    def _stand_in(self, call: Call) -> Sequence[Value | None]:
        outputs = [
            Value(name, self.known_type(name)[0], self.known_shape(name)) if name else None for name in call.node.output
        ]
        inputs = [value for name in call.node.input if isinstance(value := self._known_operand(name), Value)]
        made = [value for value in outputs if value is not None]
        stand_in(self.graph, call.node.op_type, call.name, inputs, made)
        return outputs

    def _known_operand(self, name: str) -> Value | TensorSequence | None:
        """What a node that blocks reads, as far as it is there; weights say how much it computes."""
        if name not in self._values and name in self._initializers:
            try:
                return self.lookup(name)
            except Blocked:
                return None
        return self._values.get(name)

    def _convert(self, call: Call, domain: str) -> Sequence[Value | None]:
        operator = call.node.op_type
        converter = find_converter(domain, operator, call.version)
        if converter is None:
            raise self._unknown(call, domain, operator)
        if domain == "" and onnx.defs.has(operator, call.version, domain):
            since = onnx.defs.get_schema(operator, call.version, domain).since_version
            if since > KNOWN_OPSET:
                raise call.block(f"version {since} of the operator is not known", f"Export for opset {KNOWN_OPSET}")
        result = converter(call)
        for name in call.unread_attributes():
            raise call.block("this attribute is not understood", "Export the model without it", name)
        return (result,) if isinstance(result, Value) else result

    def _unknown(self, call: Call, domain: str, operator: str) -> Blocked:
        reason = self.model.expansion.reason(call.node)
        if reason is not None:
            return reason
        if domain == "" and onnx.defs.has(operator, domain):
            return self._standard(call)
        where = f"the domain '{domain}'" if domain else "the ONNX standard"
        return call.block(
            f"no operator of that name is known in {where}", f"Replace it by standard operators, {OR_PLUGIN}"
        )

    def _standard(self, call: Call) -> Blocked:
        """Why an operator of the ONNX standard has no converter."""
        operator, version = call.node.op_type, call.version
        if not onnx.defs.has(operator, version, ""):
            since = min(one.since_version for one in onnx.defs.get_all_schemas_with_history() if one.name == operator)
            if since > version:
                return call.block(f"operator set {version} does not have it yet", f"Export for opset {since} or later")
        else:
            schema: Any = onnx.defs.get_schema(operator, version, "")
            if schema.has_context_dependent_function:
                return call.not_known(
                    "the types of its operands are not known",
                    "Give --inputShape, or export the model with fixed shapes",
                )
        remedy = (
            _TEXT if "String" in operator or operator == "RegexFullMatch" else f"Replace it in the model, {OR_PLUGIN}"
        )
        return call.block("the operator is not supported", remedy)

    def _bind(self, name: str, value: Value) -> None:
        if name in self._values:
            raise graph_error(self.model.name, f"'{name}' is produced twice")
        self._values[name] = value
        if id(value) not in self._bound:
            self._bound.add(id(value))
            if value.producer is not None:
                value.name = name
        if name in self.model.types and id(value) not in self._known:
            self._known[id(value)] = known_type(self.model.types[name])

    # ---- quantised tensors ----

    def defer(self, name: str, made: Quantised | Coded) -> None:
        """Lets the output `name` be built when it is read."""
        if name in self._values or name in self.deferred:
            raise graph_error(self.model.name, f"'{name}' is produced twice")
        self.deferred[name] = made

    def find_coded(self, name: str) -> Coded | None:
        """The quantised constant of that name, of this graph or an outer one."""
        known = self.deferred.get(name)
        if known is None and self.outer is not None and name not in self._values:
            return self.outer.find_coded(name)
        return known if isinstance(known, Coded) else None

    def rearranged(self, value: Value, what: str, array: Array, axes: Mapping[int, int]) -> Value:
        """A weight in another layout; `axes` tells where the dimensions with records per channel went."""
        result = self.derived(value, what, array)
        if value.quant:
            result.quant = value.quant
            self.axes[id(result)] = axes.get(self.axes.get(id(value), 0), -1)
        return result

    def _mark(self, first: int) -> None:
        """Nodes with stored weights have quantised weights, if readers of the file find the right dimension."""
        for node in self.graph.nodes[first:]:
            if only_moves(node) or node.op.name == "QuantDTypeCast":
                continue
            for index, value in enumerate(node.inputs):
                if value.data is None or not value.quant:
                    continue
                axis = self.axes.get(id(value), 0)
                if len(value.quant) == 1 or axis == channel_axis(node.op, index, node.inputs):
                    node.quant_type = QuantType.QUANT_WEIGHT
                elif axis >= 0:
                    node.replace_input(value, self.derived(value, "real", real_numbers(value.data, value.quant, axis)))

    def is_output(self, name: str) -> bool:
        return any(info.name == name for info in self.proto.output)

    def times_used(self, name: str) -> int:
        """How many operands and graph outputs a name is, sub-graphs included."""
        used = sum(list(node.input).count(name) for node in all_nodes(self.proto.node))
        return int(used + sum(info.name == name for info in self.proto.output))

    def source_type(self, name: str) -> int:
        """The element type of a name as the source numbers them, 0 when it is not known."""
        if name in self._initializers:
            return int(self._initializers[name].data_type)
        kind = self.model.types.get(name)
        return 0 if kind is None else int(kind.tensor_type.elem_type)

    # ---- values ----

    def is_used(self, name: str) -> bool:
        return name != "" and name in self._used

    def lookup(self, name: str) -> Value:
        """The value of a name: of this graph, an initializer, or of an outer graph."""
        if name in self._values:
            return self._values[name]
        if name in self.deferred:
            value = self.deferred[name].plain()
            self._bind(name, value)
            return value
        if name in self._initializers:
            value = self._initializer(name, self._initializers[name])
        elif self.outer is not None:
            value = self._capture(name)
        else:
            raise graph_error(self.model.name, f"'{name}' is read, but nothing produces it")
        self._values[name] = value
        self._bound.add(id(value))
        return value

    def _initializer(self, name: str, tensor: TensorProto) -> Value:
        try:
            return make_constant(name, self.model.reader.read(tensor))
        except UnsupportedTensor as error:
            raise Blocked(f"the initializer '{name}' is not supported: {error}", "Export with another type") from None
        except TensorError as error:
            raise graph_error(self.model.name, str(error)) from None

    def _capture(self, name: str) -> Value:
        assert self.outer is not None
        source = self.outer.lookup(name)
        if isinstance(source, TensorSequence):
            raise Blocked("a sequence of tensors goes into a sub-graph", "Export the model without sequences there")
        if source.is_constant:
            return source
        inner = Value(self.session.values.unique(f"{self.graph.name}/{name}"), source.dtype, source.shape)
        self.captures[name] = inner
        self._known[id(inner)] = (self.outer.type_of(source), self.outer.shape_of(source))
        return inner

    def constant(self, array: Array, hint: str) -> Value:
        """A constant of this graph; small equal ones are shared."""
        if array.nbytes > _SMALL_BYTES:
            spend(array.nbytes, f"{self.model.name}: the constant of {quoted(hint)}")
            return make_constant(self.session.values.unique(f"{hint}/constant"), array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._pool:
            self._pool[key] = make_constant(self.session.values.unique(f"{hint}/constant"), array)
        return self._pool[key]

    def derived(self, value: Value, what: str, array: Array) -> Value:
        """A constant made from the constant `value`, once per `what`: a weight in another layout."""
        key = (id(value), what)
        if key not in self._derived:
            name = self.session.values.unique(f"{value.name}/{what}")
            self._derived[key] = make_constant(name, array, Format.NHWC)
        return self._derived[key]

    def shape_of(self, value: Value) -> PartialShape:
        """Dimensions, None where unknown; None when not even the rank is known."""
        if value.shape is not None:
            return tuple(dim if dim >= 0 else None for dim in value.shape)
        return self._known.get(id(value), (DataType.UNKNOWN, None))[1]

    def note(self, value: Value, dtype: DataType, shape: PartialShape) -> None:
        """Remembers what is known of an emitted value."""
        self._known[id(value)] = (dtype, shape)

    def known_type(self, name: str) -> tuple[DataType, PartialShape]:
        """What type inference found for a name."""
        kind = self.model.types.get(name)
        if self.session.has_told and (kind is None or not kind.tensor_type.HasField("shape")):
            self.session.has_told = False
            self.model.types.update(infer_types(self.model.skeleton))
            kind = self.model.types.get(name)
        return (DataType.UNKNOWN, None) if kind is None else known_type(kind)

    def known_shape(self, name: str) -> tuple[int, ...] | None:
        """The shape that type inference found for a name, when it is whole."""
        shape = self.known_type(name)[1]
        if shape is None or any(dim is None for dim in shape):
            return None
        return tuple(dim for dim in shape if dim is not None)

    def tell_types(self, names: Sequence[str], values: Sequence[Value]) -> None:
        """Lets type inference go on behind outputs of which it could not tell as much: those of a plug-in's node."""
        told = []
        for name, value in zip(names, values, strict=False):
            dtype, shape = self.type_of(value), self.shape_of(value)
            if not name or dtype is DataType.UNKNOWN or shape is None or not self._tells_more(name, shape):
                continue
            kind = onnx.helper.np_dtype_to_tensor_dtype(numpy_type(dtype))
            info = next((one for one in self.proto.value_info if one.name == name), None) or self.proto.value_info.add()
            info.CopyFrom(onnx.helper.make_tensor_value_info(name, kind, list(shape)))
            self.model.types[name] = info.type
            told.append(name)
        if told:
            self._types_behind = self._types_behind or TypesBehind(self.model.skeleton, self.proto)
            self.model.types.update(self._types_behind.infer(told, self.model.types))
            self.session.has_told = True

    def _tells_more(self, name: str, shape: tuple[int | None, ...]) -> bool:
        """Whether a shape has a size, or the rank, that type inference did not find."""
        kind = self.model.types.get(name)
        known = None if kind is None else known_type(kind)[1]
        return known is None or any(
            size is not None and other is None for size, other in zip(shape, known, strict=False)
        )

    def type_of(self, value: Value) -> DataType:
        if value.dtype is not DataType.UNKNOWN:
            return value.dtype
        return self._known.get(id(value), (DataType.UNKNOWN, None))[0]

    def emit(self, op: Operator, inputs: Iterable[Value], outputs: int, call: Call | None) -> tuple[Value, ...]:
        """Adds a node; its outputs are typed by the pipeline later."""
        base = call.name if call is not None else "output"
        source = f"{call.operator} '{call.name}'" if call is not None else ""
        name = self.session.nodes.unique(f"{base}/{op.name}")
        values = tuple(
            Value(self.session.values.unique(f"{name}:{index}" if outputs > 1 else name), DataType.UNKNOWN)
            for index in range(outputs)
        )
        node = Node(op, name, tuple(inputs), values, source=source)
        self.graph.nodes.append(node)
        if call is not None:
            call.emitted.add(id(node))
        return values
