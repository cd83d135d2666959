"""A foreign node as registered parsers see it, whatever file it comes from."""

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
from mslite.converter.registry.tables import active, caller_file

_MISSING: Any = object()
_CORRECT = "Correct the plug-in"

PARSED_BY_NODE = (FmkType.ONNX, FmkType.TFLITE, FmkType.TF, FmkType.CAFFE)
"""Frameworks whose nodes registered parsers may take. PyTorch's models come as ONNX nodes."""


class ForeignNode(ABC):
    """A node of the source model. Every front end has its own kind; what they offer is the same."""

    framework: FmkType
    operator: str
    """As messages name it: `com.example.Maxout` (ONNX), `CUSTOM:Maxout` (TensorFlow Lite), `Maxout`."""
    name: str
    source: Any
    """The node itself: an onnx.NodeProto, mslite's record of a TensorFlow or TensorFlow Lite node, or of a Caffe layer."""

    # ---- what the node has ----

    @abstractmethod
    def _attributes(self) -> Mapping[str, Any]: ...

    def _mark_read(self, *names: str) -> None:
        """Hears which attributes were asked for."""
        return

    @property
    def attributes(self) -> Mapping[str, Any]:
        """All attributes as numbers, texts, lists, arrays; of Caffe the fields of the layer's parameters."""
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
        """An operand. Raises Blocked when the node has none there."""

    @property
    def inputs(self) -> list[Value]:
        """The operands that are there."""
        return [self.input(index) for index in range(self.input_count) if self.has_input(index)]

    @property
    def weights(self) -> Sequence[Array]:
        """The weight blobs of a Caffe layer; other frameworks have operands for them."""
        return ()

    def attribute(self, name: str, default: Any = _MISSING) -> Any:
        """One attribute. Raises Blocked where the node leaves it out and there is no default."""
        self._mark_read(name)
        value = self._attributes().get(name, default)
        if value is _MISSING:
            raise self.block("is missing", "Export the model with it", name)
        return value

    # ---- what is known of values ----

    @abstractmethod
    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        """Sizes, None where one is not known; None when not even their number is."""

    @abstractmethod
    def dtype(self, value: Value) -> DataType:
        """The element type; UNKNOWN where the model does not tell."""

    def contents(self, value: Value) -> Array | None:
        """The elements of a constant."""
        return value.data

    # ---- what it becomes ----

    @abstractmethod
    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """A constant operand."""

    @abstractmethod
    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a MindIR node and returns its results."""

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a MindIR node with one result."""
        return self.emit_many(op, inputs, 1)[0]

    def block(self, reason: str, remedy: str, attribute: str = "") -> Blocked:
        """What a parser raises for a node that it cannot express: `raise node.block(...)`."""
        return Blocked(reason, remedy, attribute)


Result = Operator | Value | Sequence[Value]
ParseNode = Callable[[ForeignNode], Result]


class NodeParser:
    """Base of node parsers that are classes; a plain function does as well."""

    def parse(self, node: ForeignNode) -> Result:
        """What becomes of a node: the values of its outputs, which `node.emit` made; or one primitive, which then gets
        all operands and makes all results. Raises what `node.block` returns for a node that cannot be expressed."""
        raise NotImplementedError


class NodeParserRegistry:
    """Lets `parser` take the nodes of an operator, also of one that mslite knows.

    `node_type` of ONNX is `com.example.Maxout`; without the domain the operator of that name of every domain. Of TensorFlow
    Lite it is a builtin operator's name (`ADD`), or a custom operator's (`Maxout` or `CUSTOM:Maxout`); of TensorFlow the
    operator, of Caffe the layer's type. Raises ValueError for a framework whose nodes cannot be taken.
    """

    def __init__(self, fmk: FmkType, node_type: str, parser: ParseNode | NodeParser) -> None:
        if fmk not in PARSED_BY_NODE:
            names = ", ".join(known.name for known in PARSED_BY_NODE)
            raise ValueError(f"nodes of {FmkType(fmk).name} models cannot be parsed by plug-ins; those of {names} can")
        if not node_type:
            raise ValueError("a node parser needs the name of an operator")
        call = parser.parse if isinstance(parser, NodeParser) else parser
        active().node_parsers[FmkType(fmk), node_type] = Entry(call, caller_file())

    @staticmethod
    def get_node_parser(fmk: FmkType, node_type: str) -> ParseNode | None:
        """The registered parser of exactly this name."""
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
    """The parser that is registered for the first of these names that has one."""
    table = active().node_parsers
    return next((table[fmk, name] for name in names if (fmk, name) in table), None)


def parsed(entry: Entry, node: ForeignNode) -> tuple[Value, ...]:
    """The values that a registered parser makes of a node. Raises Blocked, also where the parser itself fails."""
    try:
        result = entry.call(node)
    except (Blocked, ConversionError):
        raise
    except RecursionError:
        raise Blocked(f"its parser in {entry.origin} calls itself without end", _CORRECT) from None
    except (Exception, SystemExit) as error:
        reason = f"its parser fails with {type(error).__name__}: {error} ({entry.place(error)})"
        raise Blocked(reason, _CORRECT) from None
    if isinstance(result, Operator):
        result = node.emit_many(result, node.inputs, node.output_count)
    values = (result,) if isinstance(result, Value) else result
    if not isinstance(values, Sequence) or not all(isinstance(value, Value) for value in values):
        kind = type(result).__name__
        reason = f"its parser in {entry.origin} returns {kind}, not a primitive, a value or a list of values"
        raise Blocked(reason, _CORRECT)
    if len(values) < node.output_count:
        reason = f"its parser in {entry.origin} returns {len(values)} values; the node has {node.output_count} outputs"
        raise Blocked(reason, _CORRECT)
    return tuple(values)


def array_of(data: npt.ArrayLike, dtype: npt.DTypeLike | None) -> Array:
    """Plain Python numbers as MindIR mostly has them: int32 and float32; everything else as NumPy takes it."""
    array = np.asarray(data, dtype)
    if dtype is None and not isinstance(data, np.ndarray | np.generic):
        narrow = {"int64": np.int32, "float64": np.float32}.get(array.dtype.name)
        if narrow is not None:
            return np.asarray(data, narrow)
    return array
