"""Loads a GraphDef: nodes with resolved inputs, and the functions that they call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.parsers.protobuf import Message, ProtobufError, parse_binary

from .operator_outputs import output_offset
from .protos import AttrValue, GraphDef

ARGUMENT = "_Argument"
"""Operator of the nodes for a function's arguments; attribute `T` is the data type."""


class Ref(NamedTuple):
    """One output of a node."""

    node: str
    output: int = 0


@dataclass(eq=False)
class SourceNode:
    """A node; `inputs` are data inputs, `controls` the nodes that must run before it."""

    name: str
    operator: str
    inputs: tuple[Ref, ...] = ()
    controls: tuple[str, ...] = ()
    attributes: Mapping[str, Message] = field(default_factory=dict)
    """Name of an attribute -> its AttrValue message."""


@dataclass(eq=False)
class SourceGraph:
    """The main graph or a function. `nodes` is in the order of the file."""

    name: str
    nodes: dict[str, SourceNode]
    arguments: tuple[str, ...] = ()
    """Names of the nodes (operator `_Argument`) of a function's arguments, in order."""
    results: tuple[Ref, ...] = ()
    """Results of a function."""


@dataclass
class SourceModel:
    """A loaded GraphDef: the main graph and its functions."""

    name: str
    graph: SourceGraph
    functions: dict[str, SourceGraph] = field(default_factory=dict)
    producer: int = 0
    """Version of the graph format that the file was written with."""


def damaged(name: str, message: str) -> ConversionError:
    """Returns the error for a damaged file."""
    return ConversionError(f"{name}: {message}", code=ReturnCode.GRAPH_FILE_ERROR)


def read_bytes(path: Path) -> bytes:
    """Returns the contents of a file. Raises ConversionError."""
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path}: the model file cannot be read: {error.strerror or error}"
        raise ConversionError(message, code=ReturnCode.FILE_ERROR) from None


def load(content: bytes, name: str) -> SourceModel:
    """Reads and checks a serialized GraphDef. Raises ConversionError."""
    if not content:
        raise damaged(name, "this is not a TensorFlow GraphDef: the file is empty")
    try:
        proto = parse_binary(GraphDef, content)
        if not proto.node:
            raise damaged(name, "this is not a TensorFlow GraphDef: it has no nodes")
        signatures = {function.signature.name: function.signature for function in proto.library.function}
        graph = SourceGraph("main_graph", _nodes(proto.node, {}, signatures, name))
        functions = {}
        for function in proto.library.function:
            functions[_text(function.signature.name, name)] = _function(function, signatures, name)
        return SourceModel(name, graph, functions, int(proto.versions.producer))
    except ProtobufError as error:
        raise damaged(name, f"this is not a TensorFlow GraphDef: {error}") from None
    except UnicodeDecodeError:
        raise damaged(name, "the file is damaged: it contains a name that is not UTF-8") from None


def _text(text: object, model: str) -> str:
    if not isinstance(text, str) or "\0" in text:
        raise damaged(model, f"the file is damaged: a name is not UTF-8 text ({text!r:.40})")
    return text


def _attributes(entries: Sequence[Message], model: str) -> dict[str, Message]:
    return {_text(entry.key, model): entry.value for entry in entries}


def _function(function: Message, signatures: Mapping[str, Message], model: str) -> SourceGraph:
    signature = function.signature
    name = _text(signature.name, model)
    if not name:
        raise damaged(model, "a function has no name")
    arguments: dict[str, SourceNode] = {}
    for argument in signature.input_arg:
        own = _text(argument.name, model)
        if not own or own in arguments:
            raise damaged(model, f"the function '{name}' has two arguments with the same name")
        kind = AttrValue()
        kind.type = argument.type
        arguments[own] = SourceNode(own, ARGUMENT, attributes={"T": kind})
    nodes = _nodes(function.node_def, arguments, signatures, model)
    returned = {_text(entry.key, model): _text(entry.value, model) for entry in function.ret}
    results = []
    for result in signature.output_arg:
        text = returned.get(_text(result.name, model))
        if text is None:
            raise damaged(model, f"the function '{name}' does not define its result '{result.name}'")
        results.append(_reference(text, nodes, signatures, model))
    return SourceGraph(name, nodes, tuple(arguments), tuple(results))


def _nodes(
    protos: Sequence[Message], arguments: Mapping[str, SourceNode], signatures: Mapping[str, Message], model: str
) -> dict[str, SourceNode]:
    """Returns the nodes by name. In functions, inputs have the form `node:result:number`. Raises ConversionError."""
    nodes = dict(arguments)
    for proto in protos:
        name = _text(proto.name, model)
        if not name or name in nodes:
            raise damaged(model, f"two nodes have the name '{name}'" if name else "a node has no name")
        nodes[name] = SourceNode(name, _text(proto.op, model), attributes=_attributes(proto.attr, model))
    for proto in protos:
        node = nodes[proto.name]
        texts = [_text(text, model) for text in proto.input]
        data = [text for text in texts if not text.startswith("^")]
        node.inputs = tuple(_reference(text, nodes, signatures, model, node) for text in data)
        node.controls = tuple(text[1:] for text in texts if text.startswith("^"))
    return nodes


def _reference(
    text: str,
    nodes: Mapping[str, SourceNode],
    signatures: Mapping[str, Message],
    model: str,
    reader: SourceNode | None = None,
) -> Ref:
    """Resolves `node` or `node:1` in a graph, or `node:result:0` in a function. `reader` is None for results of a
    function.

    Raises ConversionError.
    """
    name, *rest = text.split(":")
    if name not in nodes:
        who = f"{reader.operator} '{reader.name}'" if reader is not None else "a result of a function"
        raise damaged(model, f"{who} reads '{text}', which no node produces")
    if not rest:
        return Ref(name)
    number = rest[-1]
    if len(rest) > 2 or not number.isascii() or not number.isdigit() or len(number) > 6:
        raise damaged(model, f"'{text}' is not the name of a tensor")
    offset = 0
    if len(rest) == 2:
        node = nodes[name]
        offset_or_none = output_offset(node.operator, rest[0], node.attributes, signatures.get(node.operator))
        if offset_or_none is None:
            raise damaged(model, f"'{text}': the operator {node.operator} has no known result '{rest[0]}'")
        offset = offset_or_none
    return Ref(name, offset + int(number))
