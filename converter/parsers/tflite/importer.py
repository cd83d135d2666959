"""Walks a source graph in order and builds the MindIR graph: values, constants, names, blockers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mslite.converter.contradictions import contradictions_block
from mslite.converter.errors import Blocker
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Graph, Node, Shape, Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.quantised import is_quantised
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.stand_in import stand_in

from .boundary import before_boundary
from .call import Call
from .constants import Constants
from .model import SourceGraph, SourceTensor
from .plugin import plugin_converter
from .quantised import axis_fits, concerns_integers, convert_quantised, mark
from .records import is_shifted, quant_params, stored, stored_type
from .registry import CONVERTERS, Converter
from .session import Session
from .unsupported import unknown
from .variables import GraphVariables, keep_assigned


class GraphImporter(Constants):
    """Turns one source graph into a Graph."""

    def __init__(self, session: Session, number: int, name: str, outer: GraphImporter | None) -> None:
        super().__init__(session)
        self.number = number
        self.outer = outer
        self.source: SourceGraph = session.model.graphs[number]
        self.graph = Graph(name)
        self.index = len(session.graphs)
        """The graph's place in the module."""
        self.variables = GraphVariables()
        self.returned_handles: dict[int, Value] = {}
        """by the place among the source graph's outputs"""
        self._values: dict[int, Value] = {}
        self._tensors: dict[int, SourceTensor] = {}
        self._produced = {index for node in self.source.operators for index in node.outputs}
        # Inputs and outputs come first: they keep their names, by which users know them.
        order = dict.fromkeys([*self.source.inputs, *self.source.outputs, *range(len(self.source.tensors))])
        self._names = {index: session.values.unique(self.source.tensors[index].name) for index in order}

    @classmethod
    def begin(cls, session: Session, number: int, name: str, outer: GraphImporter | None = None) -> GraphImporter:
        """Begins to import a source graph. Raises FlatBufferError when graphs call each other without end."""
        session.enter(number, outer)
        made = cls(session, number, name, outer)
        session.graphs.append(made.graph)
        return made

    def run(self, arguments: Sequence[Value] = ()) -> Graph:
        """Imports everything. Blockers are collected in the session. Raises FlatBufferError for a damaged graph.

        Handles of variables are known when converting: those among the `arguments` of a called graph are no inputs,
        and those that it returns are no outputs of the graph.
        """
        for position, index in enumerate(self.source.inputs):
            if position < len(arguments) and id(arguments[position]) in self.session.handles:
                self._bind(index, arguments[position])
            else:
                self._input(index)
        for number, node in enumerate(self.source.operators):
            self._import_node(number, Call(self, node, self._node_name(number)))
        for position, index in enumerate(self.source.outputs):
            value = self._output(index)
            if id(value) in self.session.handles:
                self.returned_handles[position] = value
            else:
                self.graph.outputs.append(value)
        keep_assigned(self)
        return self.graph

    def inline(self, number: int, name: str, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a source graph whose nodes become nodes of this graph. Raises FlatBufferError."""
        self.session.check_call(number, self)
        inner = GraphImporter(self.session, number, name, self)
        inner.graph, inner.index, inner.variables = self.graph, self.index, self.variables
        inner.share_constants(self)
        for index, value in zip(inner.source.inputs, arguments, strict=True):
            inner._bind(index, value)
        for position, node in enumerate(inner.source.operators):
            inner._import_node(position, Call(inner, node, inner._node_name(position)))
        return tuple(inner.lookup(index) for index in inner.source.outputs)

    def _node_name(self, number: int) -> str:
        node = self.source.operators[number]
        if node.outputs:
            return self.session.nodes.unique(self._names[node.outputs[0]])
        return self.session.nodes.unique(f"{node.name}-{number}")

    def _input(self, index: int) -> None:
        tensor = self.source.tensors[index]
        if index in self._values or index in self._produced or tensor.data is not None:
            raise FlatBufferError(f"the graph input '{tensor.name}' is there twice, is produced or is a constant")
        name = self._names[index]
        try:
            self._check_type(tensor)
        except Blocked as blocked:
            self.session.blockers.append(
                Blocker(name, "graph", f"of this graph input, {blocked.reason}", blocked.remedy)
            )
            value = Value(name, DataType.UNKNOWN, tensor.shape)
            self.graph.inputs.append(value)
            self._bind(index, value)
            return
        shape = self._input_shape(tensor)
        value = Value(name, stored_type(tensor), shape, format=_format(tensor), quant=quant_params(tensor))
        self.graph.inputs.append(value)
        if is_shifted(tensor) and self.outer is None:
            # The user's side of the model stays unsigned.
            value.dtype, value.quant = tensor.dtype, quant_params(tensor, shifted=False)
            cast = QuantDTypeCast(src_t=int(tensor.dtype), dst_t=int(stored_type(tensor)))
            (value,) = self.emit(cast, (value,), 1, None)
            value.dtype, value.quant = stored_type(tensor), quant_params(tensor)
        self._bind(index, value)

    def _input_shape(self, tensor: SourceTensor) -> Shape:
        """Inside a loop sizes may change from one iteration to the next. Of the model's own inputs, a batch alone keeps
        the size that the file states: it can be changed by resizing all the same. Of strings the bytes are counted, which
        the file does not know."""
        session = self.session
        if tensor.dtype is DataType.STRING:
            return (session.symbol(),)
        signature = tensor.signature if len(tensor.signature) == len(tensor.shape) else tensor.shape
        if self.outer is None and all(dim >= 0 for dim in signature[1:]):
            if all(dim >= 0 for dim in signature) or not session.reads_shapes():
                return tensor.shape
            batch = session.symbol()
            session.stated_sizes[batch] = tensor.shape[0]
            return (batch, *tensor.shape[1:])
        return tuple(session.symbol() if dim < 0 else dim for dim in signature)

    def _output(self, index: int) -> Value:
        tensor = self.source.tensors[index]
        value = self.lookup(index)
        if is_shifted(tensor) and value.dtype is stored_type(tensor) and self.outer is None:
            earlier = before_boundary(value)
            if earlier is not value and earlier.dtype is value.dtype:
                value = earlier
            elif value not in self.graph.inputs:
                value.name = self.session.values.unique(f"{tensor.name}/signed")
            cast = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(tensor.dtype))
            (value,) = self.emit(cast, (value,), 1, None)
            value.dtype, value.quant = tensor.dtype, quant_params(tensor, shifted=False)
            value.name = self._names[index]
        return value

    def _check_type(self, tensor: SourceTensor) -> None:
        if tensor.dtype in (DataType.UNKNOWN, DataType.BFLOAT16):
            reason = f"tensors of type {tensor.type_name} are not supported"
            raise Blocked(reason, "Export the model with another element type")

    def _import_node(self, number: int, call: Call) -> None:
        first = len(self.graph.nodes)
        try:
            with contradictions_block():
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
            self._bind(index, value)
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
        """What a node that blocks reads, as far as it is there; weights say how much it computes."""
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
            if self.source.tensors[index].type_name != "RESOURCE":
                self._check_type(self.source.tensors[index])
        try:
            return convert_quantised(call, converter) if concerns_integers(call) else converter(call)
        except OverflowError:
            raise call.block("a number in its operands does not fit into 32 bits") from None

    def _bind(self, index: int, value: Value) -> None:
        if index in self._values:
            raise FlatBufferError(f"the tensor '{self.source.tensors[index].name}' is produced twice")
        self._values[index] = value
        self._tensors.setdefault(id(value), self.source.tensors[index])

    # ---- values ----

    def lookup(self, index: int) -> Value:
        """The value of a tensor that was produced, is an input or a constant."""
        if index not in self._values:
            self._bind(index, self._stored(self.source.tensors[index], index))
        return self._values[index]

    def _stored(self, tensor: SourceTensor, index: int) -> Value:
        if index in self._produced:
            raise FlatBufferError(f"the tensor '{tensor.name}' is read before it is produced")
        self._check_type(tensor)
        name = self._names[index]
        if tensor.dtype is DataType.STRING:
            return Value(name, tensor.dtype, tensor.shape, raw=tensor.data if tensor.data is not None else b"")
        array = tensor.array()
        if array is None and (tensor.is_variable or 0 in tensor.shape):
            array = np.broadcast_to(np.zeros((), numpy_type(tensor.dtype)), tensor.shape)
        if array is None:
            raise FlatBufferError(f"the tensor '{tensor.name}' is read, but nothing produces it")
        value = make_constant(name, stored(tensor, array), _format(tensor))
        value.quant = quant_params(tensor)
        if len(value.quant) > 1 and tensor.quantization is not None:
            self.check_axis(value, tensor.quantization.axis)
        return value

    def tensor_of(self, value: Value) -> SourceTensor | None:
        """The source tensor that a value stands for."""
        return self._tensors.get(id(value))

    def real(self, value: Value, call: Call) -> Value:
        """A quantised value as float32; anything else as it is."""
        if value.data is not None:
            return self.decoded(value) if value.quant else value
        if not is_quantised(value):
            return value
        key = (value, "real")
        if key not in self._derived:
            (self._derived[key],) = self.emit(
                QuantDTypeCast(src_t=int(value.dtype), dst_t=int(DataType.FLOAT32)), (value,), 1, call
            )
            self._derived[key].dtype = DataType.FLOAT32
        return self._derived[key]

    def emit(self, op: Operator, inputs: Iterable[Value], outputs: int, call: Call | None) -> tuple[Value, ...]:
        """Adds a node; its outputs are typed by the pipeline later."""
        base = call.name if call is not None else self.graph.name
        source = f"{call.node.name} '{call.name}'" if call is not None else ""
        name = self.session.nodes.unique(f"{base}/{op.name}")
        names = [f"{name}:{index}" if outputs > 1 else name for index in range(outputs)]
        values = tuple(Value(self.session.values.unique(wish), DataType.UNKNOWN, format=Format.NHWC) for wish in names)
        self.graph.nodes.append(Node(op, name, tuple(inputs), values, source=source))
        return values


def _format(tensor: SourceTensor) -> Format:
    return Format.NHWC if len(tensor.shape) == 4 else Format.NCHW
