"""Converts a module to the ModelProto of a `.mindir` file, in the module's layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.input_sizes import packed
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddN
from mslite.converter.mindir.ops.assembly import Concat, Stack
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, SwitchLayer
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.ops.normalization import InstanceNorm
from mslite.converter.parsers.mindir.messages import (
    INPUT_QUANTIZATION,
    INPUT_SIZES,
    PRODUCER_VERSION,
    QUANTIZATION_KIND,
    RESULT_QUANTIZATION,
    AttributeType,
    ModelProto,
)
from mslite.converter.parsers.mindir.weights import CONVOLUTIONS
from mslite.converter.parsers.protobuf import Message

from .attributes import add, add_operator, add_quantization, describe, describe_results, set_contents, set_value

IR_VERSION = "0.1.1"
MINDIR_VERSION = 1
PRODUCER = "MindSpore"
"""Values that MindSpore checks when it reads a file; `producer_version` is mslite's mark."""

_TUPLE_OPERANDS = (AddN, Concat, Stack)
"""Operators with a tuple as their only operand in MindSpore."""

_CHANNEL_FIRST = (0, 3, 1, 2)

Store = Callable[[Message, bytes], None]
"""Function that stores the contents of a TensorProto."""


def model_proto(module: Module, layout: Format, store: Store) -> Message:
    """Returns the model. Weights of NCHW convolutions are transposed to [out, in / group, kh, kw].

    Raises ConversionError for values that the format does not support.
    """
    model = ModelProto(
        ir_version=IR_VERSION,
        producer_name=PRODUCER,
        producer_version=PRODUCER_VERSION,
        model_version=module.version or "mslite",
        little_endian=True,
        mind_ir_version=MINDIR_VERSION,
    )
    names = _graph_names(module)
    blockers: list[Blocker] = []
    for number, graph in enumerate(module.graphs):
        proto = model.functions.add() if number else model.graph
        _GraphWriter(proto, graph, number, names, layout, store, blockers).run()
    if blockers:
        message = "the model cannot be written as MINDIR:"
        raise ConversionError(message, blockers, ReturnCode.NOT_SUPPORTED)
    return model


def _graph_names(module: Module) -> list[str]:
    names: list[str] = []
    for number, graph in enumerate(module.graphs):
        name = graph.name or f"graph_{number}"
        names.append(name if name not in names else f"{name}_{number}")
    return names


class _GraphWriter:
    """Writes one graph; names in the file have the form `<graph>:<name>`."""

    def __init__(
        self,
        proto: Message,
        graph: Graph,
        number: int,
        names: list[str],
        layout: Format,
        store: Store,
        blockers: list[Blocker],
    ) -> None:
        self._proto = proto
        self._graph = graph
        self._main = number == 0
        self._graph_name = names[number]
        self._graph_names = names
        self._layout = layout
        self._store = store
        self._blockers = blockers
        self._names: dict[int, str] = {}
        self._weights: dict[int, str] = {}
        self._numbers: dict[int, str] = {}
        self._taken: set[str] = set()

    def run(self) -> None:
        self._proto.name = self._graph_name
        if self._main:
            add(self._proto, "format", self._layout.name)
        for value in self._graph.inputs:
            describe(self._proto.input.add(name=self._name(value)).tensor.add(), value)
        add_quantization(self._proto, INPUT_QUANTIZATION, self._graph.inputs)
        if self._main and any(value.size_marks for value in self._graph.inputs):
            add(self._proto, INPUT_SIZES, tuple(packed(value.size_marks) for value in self._graph.inputs))
        for node in self._graph.nodes:
            self._node(node)
        for value in self._graph.outputs:
            describe(self._proto.output.add(name=self._name(value)).tensor.add(), value)

    # ---- names and constants ----

    def _fresh(self, wish: str) -> str:
        name, number = f"{self._graph_name}:{wish}", 0
        while name in self._taken or name in self._graph_names:
            number += 1
            name = f"{self._graph_name}:{wish}_{number}"
        self._taken.add(name)
        return name

    def _name(self, value: Value) -> str:
        """Returns the value's name in the file; writes a constant on first use."""
        if id(value) not in self._names:
            self._names[id(value)] = self._fresh(value.name)
            if value.is_constant and value.producer is None:
                self._constant(self._names[id(value)], value, None)
        return self._names[id(value)]

    def _constant(self, name: str, value: Value, perm: tuple[int, ...] | None) -> None:
        """Writes a constant: a parameter in the main graph, a Constant node in subgraphs."""
        if value.data is None and (value.raw is None or value.encoding is None or value.dtype is DataType.STRING):
            self._block(value.name, "it is not a numeric array")
            return
        if value.data is None and perm is not None:
            self._block(value.name, "it is compressed, and its layout must change")
            return
        if self._main:
            tensor = self._proto.parameter.add(name=name)
        else:
            attribute = self._add_node("Constant", name).attribute.add(name="value", type=int(AttributeType.TENSORS))
            tensor = attribute.tensors.add(name="value0")
        array = value.data
        if array is not None and perm is not None:
            array = array.transpose(perm)
        set_contents(tensor, value, array)
        data = bytes(value.raw or b"") if array is None else _little_endian(array)
        if self._main:
            self._store(tensor, data)
        else:
            tensor.raw_data = data

    def _block(self, name: str, reason: str) -> None:
        self._blockers.append(Blocker(name, "constant", reason, "Write a .ms file with --saveType=MINDIR_LITE"))

    def _weight(self, value: Value) -> str:
        """Returns the name of a convolution weight, [out, kh, kw, in / group] in MindIR; transposes it for NCHW."""
        if self._layout is Format.NHWC:
            return self._name(value)
        if id(value) not in self._weights:
            name = self._weights[id(value)] = self._fresh(value.name)
            if value.is_constant and value.producer is None:
                self._constant(name, value, _CHANNEL_FIRST)
            else:
                node = self._add_node("Transpose", name, self._name(value), self._vector(_CHANNEL_FIRST))
                shape = None if value.shape is None else tuple(value.shape[axis] for axis in _CHANNEL_FIRST)
                describe_results(node, [Value(name, value.dtype, shape)])
        return self._weights[id(value)]

    def _vector(self, numbers: tuple[int, ...]) -> str:
        name = self._fresh("perm")
        set_value(self._add_node("Constant", name).attribute.add(name="value"), numbers)
        return name

    def _number(self, number: int) -> str:
        """Returns the name of a Constant node with an integer."""
        if number not in self._numbers:
            name = self._numbers[number] = self._fresh(f"number_{number}")
            set_value(self._add_node("Constant", name).attribute.add(name="value"), number)
        return self._numbers[number]

    # ---- nodes ----

    def _add_node(self, operator: str, name: str, *inputs: str) -> Message:
        return self._proto.node.add(op_type=operator, name=name, output=[name], input=inputs)

    def _node(self, node: Node) -> None:
        inputs = self._inputs(node)
        several = len(node.outputs) > 1
        name = self._fresh(node.name) if several else self._name(node.outputs[0])
        record = self._add_node("", name, *inputs)
        record.domain = node.name
        self._operator(record, node)
        if not isinstance(node.op, PartialFusion) and node.op.declaration.outputs[0].name != "closure":
            describe_results(record, node.outputs)
            add_quantization(record, RESULT_QUANTIZATION, node.outputs)
        if node.quant_type is not QuantType.QUANT_NONE:
            add(record, QUANTIZATION_KIND, int(node.quant_type))
        if several:
            for index, value in enumerate(node.outputs):
                if value.users or value in self._graph.outputs:
                    self._add_node("TupleGetItem", self._name(value), name, self._number(index))

    def _operator(self, record: Message, node: Node) -> None:
        if isinstance(node.op, Call):
            record.op_type = f"REF::{self._name(node.inputs[0])}"
        elif isinstance(node.op, PartialFusion):
            record.op_type = "Partial"
        elif isinstance(node.op, InstanceNorm):
            add_operator(record, node.op)
            add(record, "format", int(Format.NCHW))
        elif node.op.declaration.layout == "nhwc":
            op = node.op
            if hasattr(op, "format"):
                op = cast(Operator, replace(cast(Any, op), format=self._layout))
            add_operator(record, op)
            if not any(attribute.name == "format" for attribute in record.attribute):
                add(record, "format", int(self._layout))
        else:
            add_operator(record, node.op)

    def _inputs(self, node: Node) -> list[str]:
        if isinstance(node.op, Call):
            return []
        names = [self._name(value) for value in node.inputs if not isinstance(node.op, CONVOLUTIONS)]
        if isinstance(node.op, CONVOLUTIONS):
            x, weight, *others = node.inputs
            names = [self._name(x), self._weight(weight), *(self._name(value) for value in others)]
        if isinstance(node.op, PartialFusion):
            return [self._graph_names[node.op.sub_graph_index], *names]
        if isinstance(node.op, SwitchLayer):
            return [names[0], self._tuple(node, names[1:])]
        return [self._tuple(node, names)] if isinstance(node.op, _TUPLE_OPERANDS) else names

    def _tuple(self, node: Node, names: list[str]) -> str:
        name = self._fresh(f"{node.name}/operands")
        self._add_node("MakeTuple", name, *names)
        return name


def _little_endian(array: np.ndarray[Any, np.dtype[np.generic]]) -> bytes:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
