"""Imports a source graph: its inputs, nodes and outputs become a MindIR graph; unsupported nodes are collected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Graph, Shape, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.placeholder import stand_in
from mslite.converter.unexpected_errors import unexpected_errors_to_blocked

from .call import Call
from .model import SourceTensor
from .plugin import plugin_converter
from .quantization_parameters import COMPLEX, channel_scale_axis, is_shifted, quant_params, stored_type
from .quantized import axis_fits, convert_quantized, is_quantized_call, mark
from .registry import CONVERTERS, Converter
from .scope import Scope, format_of
from .session import Session
from .sign_casts import before_sign_cast
from .unsupported import unknown
from .variables import store_assigned_variables

_MOVING = frozenset(
    {"BROADCAST_TO", "EXPAND_DIMS", "GATHER", "GATHER_ND", "RESHAPE", "SLICE", "SPLIT", "SPLIT_V",
     "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK"}
)  # fmt: skip
"""Operators that only move elements: results of 2-bit and 4-bit types stay in range."""


class GraphImporter(Scope):
    """Converts one source graph to a MindIR graph."""

    @classmethod
    def begin(cls, session: Session, number: int, name: str, outer: Scope | None = None) -> GraphImporter:
        """Creates an importer and its graph in the session. Raises FlatBufferError for recursive calls of graphs."""
        session.enter(number, () if outer is None else outer.callers())
        made = cls(session, number, Graph(name), len(session.graphs), outer)
        session.graphs.append(made.graph)
        return made

    @classmethod
    def inline(cls, scope: Scope, number: int, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """Imports a source graph into the graph of `scope`, and returns its results. Raises FlatBufferError."""
        scope.session.check_call(number, scope.callers())
        inner = cls(scope.session, number, scope.graph, scope.index, scope)
        inner.variables = scope.variables
        inner.share_constants(scope)
        for index, value in zip(inner.source.inputs, arguments, strict=True):
            inner.bind(index, value)
        for position, node in enumerate(inner.source.operators):
            inner._import_node(position, Call(inner, node, inner._node_name(position)))
        return tuple(inner.lookup(index) for index in inner.source.outputs)

    def run(self, arguments: Sequence[Value] = ()) -> Graph:
        """Imports the graph. Collects unsupported nodes in the session; raises FlatBufferError for a damaged graph.

        Handles of variables only exist at conversion: those among the `arguments` of a subgraph and among its results
        do not become inputs and outputs.
        """
        for position, index in enumerate(self.source.inputs):
            if position < len(arguments) and id(arguments[position]) in self.session.handles:
                self.bind(index, arguments[position])
            else:
                self._input(index)
        for number, node in enumerate(self.source.operators):
            self._import_node(number, Call(self, node, self._node_name(number)))
        for position, index in enumerate(self.source.outputs):
            value = self._output(index)
            if id(value) in self.session.handles:
                self.returned_handles[position] = value
                continue
            if self.source.output_names:
                value = self._under_name(value, index, self.source.output_names[position])
            self.graph.outputs.append(value)
        if self.outer is None:
            store_assigned_variables(self)
        return self.graph

    def _node_name(self, number: int) -> str:
        node = self.source.operators[number]
        if node.outputs:
            return self.session.nodes.unique(self._names[node.outputs[0]])
        return self.session.nodes.unique(f"{node.name}-{number}")

    def _input(self, index: int) -> None:
        tensor = self.source.tensors[index]
        if index in self._values or index in self._produced or tensor.data is not None:
            raise FlatBufferError(f"the graph input '{tensor.name}' is listed twice, produced by a node, or a constant")
        name = self._names[index]
        try:
            self.check_type(tensor)
            self._check_port(tensor)
        except Blocked as blocked:
            self.session.blockers.append(
                Blocker(name, "graph", f"of this graph input, {blocked.reason}", blocked.remedy)
            )
            value = Value(name, DataType.UNKNOWN, tensor.shape)
            self.graph.inputs.append(value)
            self.bind(index, value)
            return
        shape = self._input_shape(tensor)
        value = Value(name, stored_type(tensor), shape, format=format_of(tensor), quant=quant_params(tensor))
        self.graph.inputs.append(value)
        if is_shifted(tensor) and self.outer is None:
            # The inputs and outputs of the model stay unsigned.
            value.dtype, value.quant = tensor.dtype, quant_params(tensor, shifted=False)
            value = self.recast(value, stored_type(tensor), quant_params(tensor), channel_scale_axis(tensor))
        self.bind(index, value)

    def _input_shape(self, tensor: SourceTensor) -> Shape:
        """Returns the shape of a graph input, with symbols for dynamic sizes.

        In subgraphs, sizes may change between iterations. If only the batch of a model input is dynamic, the size in
        the file is kept in `declared_sizes`: it can still be changed by a resize. The size of a string tensor is its
        number of bytes, which is dynamic.
        """
        session = self.session
        if tensor.dtype is DataType.STRING:
            return (session.symbol(),)
        signature = tensor.signature if len(tensor.signature) == len(tensor.shape) else tensor.shape
        if self.outer is None and all(dim >= 0 for dim in signature[1:]):
            if all(dim >= 0 for dim in signature):
                return tensor.shape
            batch = session.symbol()
            session.declared_sizes[batch] = tensor.shape[0]
            return (batch, *tensor.shape[1:])
        return tuple(session.symbol() if dim < 0 else dim for dim in signature)

    def _check_port(self, tensor: SourceTensor) -> None:
        """Raises Blocked for a data type that is unsupported for inputs and outputs of the model."""
        if self.outer is not None or tensor.data is not None:
            return
        reason = f"{tensor.type_name} tensors are only supported inside a model"
        if tensor.dtype in COMPLEX:
            raise Blocked(reason, "Use separate inputs and outputs for the real and the imaginary part")
        if tensor.dtype is DataType.BFLOAT16 or tensor.element.bits:
            raise Blocked(reason, "Export the model with inputs and outputs of another element type")

    def _output(self, index: int) -> Value:
        tensor = self.source.tensors[index]
        value = self.lookup(index)
        try:
            self._check_port(tensor)
        except Blocked as blocked:
            reason = f"of this graph output, {blocked.reason}"
            self.session.blockers.append(Blocker(self._names[index], "graph", reason, blocked.remedy))
        if is_shifted(tensor) and value.dtype is stored_type(tensor) and self.outer is None:
            earlier = before_sign_cast(value)
            if earlier is not value and earlier.dtype is value.dtype:
                value = earlier
            elif value not in self.graph.inputs:
                value.name = self.session.values.unique(f"{tensor.name}/signed")
            value = self.recast(value, tensor.dtype, quant_params(tensor, shifted=False), channel_scale_axis(tensor))
            value.name = self._names[index]
        return value

    def _under_name(self, value: Value, index: int, name: str) -> Value:
        """Returns the value of an output with its name in the signature; a copy, if the value must keep another
        name."""
        is_own = self.source.tensors[index].name == name
        if is_own and value.name == self._names[index] and value not in self.graph.outputs:
            return value
        if value.producer is None or value in self.graph.outputs or value in self.graph.inputs:
            kind = self.constant(np.array(int(value.dtype), np.int32), name)
            (copy,) = self.emit(Cast(), (value, kind), 1)
            copy.dtype, copy.quant = value.dtype, value.quant
            value = copy
        value.name = self._names[index] if is_own else self.session.values.unique(name)
        return value

    def _import_node(self, number: int, call: Call) -> None:
        first = len(self.graph.nodes)
        try:
            with unexpected_errors_to_blocked():
                result = self._convert(call)
        except Blocked as blocked:
            self.session.blockers.append(call.blocker(blocked))
            del self.graph.nodes[first:]
            result = self._stand_in(call)
        results = (result,) if isinstance(result, Value) else tuple(result)
        for position, index in enumerate(call.node.outputs):
            tensor = self.source.tensors[index]
            value = results[position] if position < len(results) else Value(self._names[index], tensor.dtype)
            if id(value) not in self._tensors and value.producer is not None:
                value.name = self._names[index]
                value.quant = value.quant or quant_params(tensor)
                if value.dtype is DataType.UNKNOWN:
                    value.dtype = stored_type(tensor)
            self.bind(index, value)
        if results and results[0].producer in self.graph.nodes[first:]:
            assert results[0].producer is not None
            results[0].producer.name = call.name
        for made in self.graph.nodes[first:]:
            for index, value in enumerate(made.inputs):
                if value.data is not None and not axis_fits(made, index, self):
                    made.replace_input(value, self.decoded(value))
        mark(self.graph.nodes[first:])

    def _stand_in(self, call: Call) -> Sequence[Value]:
        inputs = [value for index in call.node.inputs if (value := self._known_operand(index)) is not None]
        tensors = [self.source.tensors[index] for index in call.node.outputs]
        outputs = [
            Value(self._names[index], tensor.dtype, tensor.shape)
            for index, tensor in zip(call.node.outputs, tensors, strict=True)
        ]
        stand_in(self.graph, call.node.name, call.name, inputs, outputs)
        return outputs

    def _known_operand(self, index: int) -> Value | None:
        """Returns an operand of an unsupported node for the report, or None; its work is estimated from the weights."""
        if (
            index in self._values
            or not 0 <= index < len(self.source.tensors)
            or self.source.tensors[index].data is None
        ):
            return self._values.get(index)
        try:
            return self.lookup(index)
        except (Blocked, FlatBufferError):
            return None

    def _convert(self, call: Call) -> Value | Sequence[Value]:
        converter: Converter | None = plugin_converter(call.node.name) or CONVERTERS.get(call.node.name)
        if converter is None:
            raise unknown(call)
        for index in call.node.outputs:
            tensor = self.source.tensors[index]
            if tensor.type_name != "RESOURCE":
                self.check_type(tensor)
            if tensor.element.bits and call.node.name not in _MOVING:
                raise call.block(f"results of type {tensor.type_name} are unsupported", "Export the model with INT8")
        try:
            return convert_quantized(call, converter) if is_quantized_call(call) else converter(call)
        except OverflowError:
            raise call.block("an integer in its operands exceeds 32 bits") from None
