"""Call: a source node as its converter sees it, with attributes, inputs, known values, and emission of nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Shape, Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.constant_pool import clipped_to_int32
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import Origin

from .attributes import Attributes
from .model import SourceGraph, SourceNode
from .scope import Scope

_LONGEST_LIST = 4096


class Call(Attributes):
    """A node of the source graph. Converters read it through these methods and return the values of its outputs."""

    def __init__(self, scope: Scope, node: SourceNode, name: str) -> None:
        super().__init__(node)
        self.scope = scope
        self.name = name
        self.origin = Origin(name, node.operator)
        self.emitted: set[int] = set()
        """Identities of the nodes that this call emitted."""

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.node.operator, blocked.reason, blocked.remedy, blocked.attribute)

    @property
    def operator(self) -> str:
        return self.node.operator

    # ---- inputs ----

    @property
    def input_count(self) -> int:
        return len(self.node.inputs)

    def has_input(self, index: int) -> bool:
        return index < len(self.node.inputs)

    def input(self, index: int) -> Value:
        """Returns a required input. Raises Blocked."""
        if not self.has_input(index):
            raise self.block(f"input {index} is missing")
        return self.scope.lookup(self.node.inputs[index])

    def inputs(self, start: int = 0, end: int | None = None) -> list[Value]:
        """Returns inputs `start` to `end`, by default all. Raises Blocked if there are fewer than `end`."""
        if end is not None and end > len(self.node.inputs):
            raise self.block(f"it has {len(self.node.inputs)} inputs, not {end}")
        return [self.scope.lookup(ref) for ref in self.node.inputs[start:end]]

    def is_read(self, output: int) -> bool:
        """Returns whether another node, or the result of the graph, reads this output."""
        return self.scope.is_read(self.node.name, output)

    # ---- known values and shapes ----

    def contents(self, value: Value) -> Array | None:
        """Returns the elements of a constant value, or of one that is computed from shapes and constants; else None."""
        return self.scope.session.inference.contents(value)

    def constant(self, index: int) -> Array | None:
        """Returns the contents of input `index`; None if it is missing or unknown."""
        return self.contents(self.input(index)) if self.has_input(index) else None

    def known_integers(self, index: int) -> tuple[int, ...] | None:
        """Returns the contents of input `index` as a flat tuple of integers; None if unknown. Raises Blocked."""
        array = self.constant(index)
        if array is None:
            return None
        if array.dtype.kind not in "iu" or array.size > _LONGEST_LIST:
            raise self.block(f"input {index} is not a short list of integers")
        return tuple(int(item) for item in array.ravel())

    def require_integers(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the contents of an integer input that must be known at conversion. Raises Blocked."""
        self.input(index)
        value = self.known_integers(index)
        if value is None:
            remedy = "Set --inputShape, or export the model with fixed values"
            raise self.block(f"{what} (input {index}) are computed at run time", remedy)
        return value

    def require_integer(self, index: int, what: str) -> int:
        numbers = self.require_integers(index, what)
        if len(numbers) != 1:
            raise self.block(f"input {index} ({what}) has {len(numbers)} elements, not 1")
        return numbers[0]

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        """Returns the dimensions, None for unknown ones; None if the rank is unknown."""
        return None if value.shape is None else tuple(dim if dim >= 0 else None for dim in value.shape)

    def static_shape(self, value: Value) -> Shape | None:
        """Returns the shape if all dimensions are known, else None."""
        return value.shape if value.is_static else None

    def require_rank(self, value: Value) -> int:
        if value.shape is None:
            raise self.block(f"the number of dimensions of '{value.name}' is unknown", "Set --inputShape")
        return len(value.shape)

    def require_shape(self, value: Value, why: str) -> Shape:
        shape = self.static_shape(value)
        if shape is None:
            raise self.block(f"{why} needs the shape of '{value.name}', which is not fixed", "Set --inputShape")
        return shape

    def require_size(self, value: Value, axis: int, why: str) -> int:
        """Returns the size of a dimension. Raises Blocked if it is unknown; `why` is the subject of the message."""
        self.require_rank(value)
        assert value.shape is not None
        size = value.shape[self.axis(axis, len(value.shape))]
        if size < 0:
            raise self.block(f"{why} needs a dimension of '{value.name}' that is not fixed", "Set --inputShape")
        return size

    def axis(self, axis: int, rank: int, attribute: str = "") -> int:
        """Returns `axis` counted from the first dimension. Raises Blocked if it is out of range."""
        if not -rank <= axis < rank:
            raise self.block(f"the axis {axis} is out of range for {rank} dimensions", attribute=attribute)
        return axis + rank if axis < 0 else axis

    # ---- functions ----

    def function(self, name: str) -> SourceGraph:
        """Returns a function of the model's library. Raises Blocked if it is missing."""
        functions = self.scope.session.model.functions
        if name not in functions:
            raise self.block(f"the function '{name}' is not in the file", "Export the model again")
        return functions[name]

    # ---- emission of nodes ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """Returns a constant; equal small constants of a graph share one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """Returns an int32 constant: axes, shapes, permutations. Values beyond int32, such as open ends, are
        clamped."""
        limits = np.iinfo(np.int32)
        return self.const(np.clip(np.asarray(data, np.int64), limits.min, limits.max), np.int32)

    def like(self, data: float | int | bool, value: Value) -> Value:
        """Returns a scalar constant of the data type of `value`."""
        return self.const(data, numpy_type(value.dtype))

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output."""
        return self.emit_many(op, inputs, 1)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs."""
        values = self.scope.emit(op, inputs, outputs, self.origin)
        self.emitted.update(id(value.producer) for value in values)
        return values

    def as_type(self, value: Value, dtype: DataType) -> Value:
        """Returns `value` cast to another data type; constants are converted at conversion."""
        if value.dtype is dtype:
            return value
        if value.data is not None:
            return self.scope.converted(value, dtype)
        return self.emit(Cast(), value, self.ints(int(dtype)))

    def int32(self, index: int) -> Value:
        """Returns an integer input as int32; an input with known contents becomes a constant."""
        value = self.input(index)
        if value.data is None:
            known = self.contents(value)
            if known is not None and known.dtype.kind in "iu":
                return self.scope.constant(clipped_to_int32(known), self.name)
        return self.as_type(value, DataType.INT32)

    def transposed(self, value: Value, order: Sequence[int]) -> Value:
        """Returns `value` transposed; constants are transposed at conversion."""
        if value.data is not None:
            what = "permuted_" + "".join(str(axis) for axis in order)
            return self.scope.derived(value, what, value.data.transpose(tuple(order)))
        return self.emit(Transpose(), value, self.ints(order))

    # ---- images ----

    def channels_first(self) -> bool:
        """Returns whether the attribute `data_format` is channels first. Raises Blocked for unknown formats."""
        text = self.text("data_format", "NHWC")
        if text in ("NCHW", "NCDHW", "NCW"):
            return True
        if text in ("NHWC", "NDHWC", "NWC", ""):
            return False
        raise self.block(f"the data format '{text}' is unsupported", "Use NHWC or NCHW", "data_format")

    def spatial(self, op: Operator, x: Value, *others: Value, channels_first: bool = False) -> Value:
        """Emits an operator on images, between Transposes if the module's layout differs from the node's."""
        module_first = self.scope.session.layout is Format.NCHW
        if "format" in {field.name for field in dataclasses.fields(op)}:  # type: ignore[arg-type]
            op = dataclasses.replace(op, format=self.scope.session.layout)  # type: ignore[type-var]
        rank = self.require_rank(x)
        if module_first == channels_first or rank < 3:
            return self.emit(op, x, *others)
        to_last = (0, *range(2, rank), 1)
        to_first = (0, rank - 1, *range(1, rank - 1))
        there, back = (to_first, to_last) if module_first else (to_last, to_first)
        result = self.emit(op, self.transposed(x, there), *others)
        return self.transposed(result, back)
