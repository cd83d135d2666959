"""Registers node parsers, and defines the interface through which they read a node of the source model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocked, ConversionError
from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.registry.entries import Entry
from mslite.converter.registry.registrations import active, caller_file

_MISSING: Any = object()
_CORRECT = "Correct the plug-in"

NODE_PARSER_FRAMEWORKS = (FmkType.ONNX, FmkType.TFLITE, FmkType.TF, FmkType.CAFFE)
"""Frameworks for whose nodes parsers can be registered. PyTorch models are exported to ONNX first."""


class ForeignNode(ABC):
    """A node of the source model. Each front end implements this interface."""

    framework: FmkType
    operator: str
    """The operator, as in messages: `com.example.Maxout` (ONNX), `CUSTOM:Maxout` (TensorFlow Lite), `Maxout`."""
    name: str
    source: Any
    """The node of the front end: an onnx.NodeProto, or mslite's class for a TensorFlow or TensorFlow Lite node or a
    Caffe layer."""

    # ---- attributes and inputs ----

    @abstractmethod
    def _attributes(self) -> Mapping[str, Any]: ...

    def _mark_read(self, *names: str) -> None:
        """Called with the attributes that a parser reads."""
        return

    @property
    def attributes(self) -> Mapping[str, Any]:
        """All attributes as numbers, strings, lists and arrays; in Caffe, the fields of the layer's parameters."""
        found = self._attributes()
        self._mark_read(*found)
        return found

    @property
    @abstractmethod
    def input_count(self) -> int: ...

    @property
    @abstractmethod
    def output_count(self) -> int: ...

    @abstractmethod
    def has_input(self, index: int) -> bool: ...

    @abstractmethod
    def input(self, index: int) -> Value:
        """Returns an input. Raises Blocked if the node does not have it."""

    @property
    def inputs(self) -> list[Value]:
        """The inputs, without omitted ones."""
        return [self.input(index) for index in range(self.input_count) if self.has_input(index)]

    @property
    def weights(self) -> Sequence[Array]:
        """The weight blobs of a Caffe layer; in other frameworks, weights are inputs."""
        return ()

    def attribute(self, name: str, default: Any = _MISSING) -> Any:
        """Returns an attribute. Raises Blocked if the node does not have it and there is no default."""
        self._mark_read(name)
        value = self._attributes().get(name, default)
        if value is _MISSING:
            raise self.block("is missing", "Export the model with it", name)
        return value

    # ---- values ----

    @abstractmethod
    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        """Returns the shape; an unknown dimension is None. Returns None if the rank is unknown."""

    @abstractmethod
    def dtype(self, value: Value) -> DataType:
        """Returns the data type, or UNKNOWN."""

    def contents(self, value: Value) -> Array | None:
        """Returns the elements of a constant, or None."""
        return value.data

    # ---- the converted nodes ----

    @abstractmethod
    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """Returns a constant."""

    @abstractmethod
    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a MindIR node and returns its outputs."""

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a MindIR node with one output and returns the output."""
        return self.emit_many(op, inputs, 1)[0]

    def block(self, reason: str, remedy: str, attribute: str = "") -> Blocked:
        """Returns the exception for an unsupported node: `raise node.block(...)`."""
        return Blocked(reason, remedy, attribute)


Result = Operator | Value | Sequence[Value]
ParseNode = Callable[[ForeignNode], Result]


class NodeParser:
    """Base class of node parsers. A function can be registered instead."""

    def parse(self, node: ForeignNode) -> Result:
        """Returns the values of the node's outputs, which `node.emit` made, or a primitive that gets all inputs and
        outputs.

        Raises the exception of `node.block` for an unsupported node."""
        raise NotImplementedError


class NodeParserRegistry:
    """Registers `parser` for the nodes of an operator, also in place of mslite's parser.

    `node_type` is, in ONNX, `com.example.Maxout`, or `Maxout` for the operator of every domain; in TensorFlow Lite, a
    builtin operator (`ADD`) or a custom operator (`Maxout` or `CUSTOM:Maxout`); in TensorFlow, the operator; in Caffe,
    the type of the layer. Raises ValueError for a framework without node parsers.
    """

    def __init__(self, fmk: FmkType, node_type: str, parser: ParseNode | NodeParser) -> None:
        if fmk not in NODE_PARSER_FRAMEWORKS:
            names = ", ".join(known.name for known in NODE_PARSER_FRAMEWORKS)
            raise ValueError(f"plug-ins cannot parse nodes of {FmkType(fmk).name} models, only of {names}")
        if not node_type:
            raise ValueError("a node parser needs the name of an operator")
        call = parser.parse if isinstance(parser, NodeParser) else parser
        active().node_parsers[FmkType(fmk), node_type] = Entry(call, caller_file())

    @staticmethod
    def get_node_parser(fmk: FmkType, node_type: str) -> ParseNode | None:
        """Returns the parser that is registered for this name, or None."""
        entry = active().node_parsers.get((fmk, node_type))
        return None if entry is None else cast(ParseNode, entry.call)


_Parser = TypeVar("_Parser", bound=ParseNode)


def node_parser(fmk: FmkType, *node_types: str) -> Callable[[_Parser], _Parser]:
    """Decorates a function that parses nodes of these types."""

    def register(parser: _Parser) -> _Parser:
        for node_type in node_types:
            NodeParserRegistry(fmk, node_type, parser)
        return parser

    return register


# ---- for the front ends ----


def find_node_parser(fmk: FmkType, *names: str) -> Entry | None:
    """Returns the parser of the first of these names that has one, or None."""
    table = active().node_parsers
    return next((table[fmk, name] for name in names if (fmk, name) in table), None)


def parsed(entry: Entry, node: ForeignNode) -> tuple[Value, ...]:
    """Returns the output values that a registered parser makes of a node. Raises Blocked, also if the parser raises an
    error."""
    try:
        result = entry.call(node)
    except (Blocked, ConversionError):
        raise
    except RecursionError:
        raise Blocked(f"its parser in {entry.origin} recurses without end", _CORRECT) from None
    except (Exception, SystemExit) as error:
        reason = f"its parser failed with {type(error).__name__}: {error} ({entry.place(error)})"
        raise Blocked(reason, _CORRECT) from None
    if isinstance(result, Operator):
        result = node.emit_many(result, node.inputs, node.output_count)
    values = (result,) if isinstance(result, Value) else result
    if not isinstance(values, Sequence) or not all(isinstance(value, Value) for value in values):
        kind = type(result).__name__
        reason = f"its parser in {entry.origin} returned {kind}, not a primitive, a value or a list of values"
        raise Blocked(reason, _CORRECT)
    if len(values) < node.output_count:
        reason = f"its parser in {entry.origin} returned {len(values)} values; the node has {node.output_count} outputs"
        raise Blocked(reason, _CORRECT)
    return tuple(values)


def array_of(data: npt.ArrayLike, dtype: npt.DTypeLike | None) -> Array:
    """Returns a NumPy array; plain Python integers become int32, plain Python floats float32."""
    array = np.asarray(data, dtype)
    if dtype is None and not isinstance(data, np.ndarray | np.generic):
        narrow = {"int64": np.int32, "float64": np.float32}.get(array.dtype.name)
        if narrow is not None:
            return np.asarray(data, narrow)
    return array
