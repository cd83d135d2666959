"""Converts the nodes of a source graph in order and builds the MindIR graph: inputs, nodes, outputs, blockers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import NodeProto, TypeProto

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Graph, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.naming import Blocked, UnknownInput
from mslite.converter.parsers.placeholder import stand_in
from mslite.converter.unexpected_errors import unexpected_errors_to_blocked

from .call import Call
from .constant_only_types import may_read
from .graph_inputs import input_type
from .model import DOMAINS, graph_error
from .order import node_reads, ordered
from .plugin import plugin_converter
from .quantized import Quantized
from .registry import KNOWN_OPSET, find_converter
from .scope import Scope
from .stored_weights import mark_quantized
from .tensor_sequence import TensorSequence
from .unsupported import unknown

_SEQUENCE_OUTPUT = "this graph output is a sequence of tensors", "Export the model with tensors as outputs"


class GraphImporter(Scope):
    """Converts one GraphProto to a Graph."""

    def run(self, skip_inputs: int = 0) -> Graph:
        """Imports the graph. The last `skip_inputs` inputs are bound already.

        Adds unsupported nodes to the session's blockers. Raises ConversionError for a malformed graph.
        """
        self.declare()
        for info in self.proto.input[: len(self.proto.input) - skip_inputs]:
            if info.name not in self._initializers:
                self.graph.inputs.append(self._input(info.name, info.type))
        for node in ordered(self.proto.node, self.model.name):
            self._import_node(node)
        for info in self.proto.output:
            try:
                if self.is_behind(info.name) and info.type.WhichOneof("value") == "sequence_type":
                    raise Blocked(*_SEQUENCE_OUTPUT)
                self.graph.outputs.append(self._output(info.name))
            except Blocked as blocked:
                self._block(info.name, blocked.reason, blocked.remedy)
                self.graph.outputs.append(Value(info.name, DataType.UNKNOWN))
        return self.graph

    def declare(self) -> None:
        """Reserves the names of the graph, so that new values get other names."""
        names = self.session.values
        names.reserve(*(value.name for value in [*self.proto.input, *self.proto.output]))
        names.reserve(*self._initializers, *(name for node in self.proto.node for name in node.output))

    def _block(self, name: str, reason: str, remedy: str) -> None:
        self.session.blockers.append(Blocker(name, "graph", reason, remedy))

    def _input(self, name: str, kind: TypeProto) -> Value:
        if name in self._values or not name:
            raise graph_error(self.model.name, f"the graph input '{name}' is duplicated or has no name")
        if kind.WhichOneof("value") is None:
            kind = self.model.types.get(name, kind)
        dtype, dims = input_type(name, kind, self.model.name, self.outer is not None, self._block)
        shape = None
        if dims is not None:
            # A body may have other sizes in each call, so its symbols differ from those of the main graph.
            shape = tuple(
                (self.session.symbol("" if self.outer is not None else dim) if isinstance(dim, str) else dim)
                for dim in dims
            )
        value = self._values[name] = Value(name, dtype, shape)
        self._bound.add(id(value))
        return value

    def _output(self, name: str) -> Value:
        known = self.deferred.get(name)
        if (
            isinstance(known, Quantized)
            and known.has_quant_params()
            and self.outer is None
            and name not in self._values
        ):
            value = known.boundary()
        elif self.is_short(name):
            raise Blocked("this graph output has a type that only constants may have", "Cast it to float in the model")
        else:
            value = self.lookup(name)
        if isinstance(value, TensorSequence):
            raise Blocked(*_SEQUENCE_OUTPUT)
        taken = any(value is other for other in self.graph.outputs)
        if value.producer is not None and not taken:
            value.name = name
            return value
        dtype = self.types.type_of(value)
        if self.outer is not None or (value.name == name and not taken) or dtype is DataType.UNKNOWN:
            return value
        # A second output name for one tensor: it needs a separate tensor, because programs find outputs by name.
        kind = self.constant(np.asarray(int(dtype), np.int32), name)
        (copy,) = self.emit(Cast(), (value, kind), 1)
        copy.name = name
        return copy

    def _import_node(self, node: NodeProto) -> None:
        domain = DOMAINS.get(node.domain, node.domain)
        version = self.model.opsets.get(domain, 1)
        first_output = node.output[0] if node.output else ""
        call = Call(self, node, self.session.nodes.unique(node.name or first_output or node.op_type), version)
        first, blockers = len(self.graph.nodes), len(self.session.blockers)
        behind = self.enters_behind = self._all_behind or any(map(self.is_behind, node_reads(node)))
        try:
            with unexpected_errors_to_blocked():
                results = self._convert(call, domain)
        except Blocked as blocked:
            if not isinstance(blocked, UnknownInput) or not (behind or len(self.session.blockers) > blockers):
                self.session.blockers.append(call.blocker(blocked))
            del self.graph.nodes[first:]
            results = self._stand_in(call)
        if behind or len(self.session.blockers) > blockers:
            self.behind.update(node.output)
        if results and results[0] is not None and id(results[0].producer) in call.emitted:
            assert results[0].producer is not None
            results[0].producer.name = call.name
        mark_quantized(self, self.graph.nodes[first:])
        for index, output in enumerate(node.output):
            if output and output not in self.deferred:
                value = results[index] if index < len(results) else None
                self.bind(output, Value(output, DataType.UNKNOWN) if value is None else value)

    def _stand_in(self, call: Call) -> Sequence[Value | None]:
        outputs = [
            Value(name, self.types.known_type(name)[0], self.types.known_shape(name)) if name else None
            for name in call.node.output
        ]
        inputs = [value for name in call.node.input if isinstance(value := self.known_operand(name), Value)]
        made = [value for value in outputs if value is not None]
        stand_in(self.graph, call.node.op_type, call.name, inputs, made)
        return outputs

    def _convert(self, call: Call, domain: str) -> Sequence[Value | None]:
        operator = call.node.op_type
        converter = find_converter(domain, operator, call.version)
        if converter is None:
            raise unknown(call, domain, self.model.unexpanded.reason(call.node))
        if domain == "" and onnx.defs.has(operator, call.version, domain):
            since = onnx.defs.get_schema(operator, call.version, domain).since_version
            if since > KNOWN_OPSET:
                raise call.block(f"version {since} of the operator is unknown", f"Export for opset {KNOWN_OPSET}")
        if plugin_converter(domain, operator) is None:
            for index, name in enumerate(call.node.input):
                if name and self.is_short(name) and not (domain == "" and may_read(call.node, index)):
                    what = f"input {index}, '{name}', has a type that only Cast and DequantizeLinear support"
                    raise call.block(what, "Cast it to float in the model")
            self.follow_short(call.node)
        result = converter(call)
        call.check_all_read()
        return (result,) if isinstance(result, Value) else result
