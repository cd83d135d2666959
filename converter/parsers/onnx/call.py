"""One source node for its converter: checked attributes, inputs, known types, and emitting of MindIR nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from onnx import NodeProto

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Shape, Value, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import Origin
from mslite.converter.text_shortening import shortened

from .attributes import Attributes
from .deferred import Deferred
from .scope import Scope
from .tensor_sequence import TensorSequence


class Call(Attributes):
    """A source node. Converters read it through these methods and return the values of its outputs."""

    def __init__(self, scope: Scope, node: NodeProto, name: str, version: int) -> None:
        super().__init__(node, scope.model.reader)
        self.scope = scope
        self.node = node
        self.name = name
        self.version = version
        """The version of the node's operator set in the model."""
        self.origin = Origin(name, self.operator)
        self.emitted: set[int] = set()
        """The id() of each node that this call emitted."""

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.operator, blocked.reason, blocked.remedy, blocked.attribute)

    @property
    def operator(self) -> str:
        domain = self.node.domain
        return f"{domain}.{self.node.op_type}" if domain not in ("", "ai.onnx") else self.node.op_type

    # ---- inputs ----

    @property
    def input_count(self) -> int:
        return len(self.node.input)

    @property
    def output_count(self) -> int:
        return len(self.node.output)

    def has_input(self, index: int) -> bool:
        return index < len(self.node.input) and self.node.input[index] != ""

    def has_output(self, index: int) -> bool:
        """Returns whether this output is present and may be read."""
        return index < len(self.node.output) and self.scope.is_used(self.node.output[index])

    def input(self, index: int) -> Value:
        """Returns a required input, which must be a tensor."""
        value = self.tensor_or_sequence(index)
        if isinstance(value, TensorSequence):
            raise self.block(
                f"input {index} is a sequence of tensors", "Export the model without sequences of changing length"
            )
        return value

    def sequence(self, index: int) -> TensorSequence:
        """Returns a required input, which must be a sequence of known length."""
        value = self.tensor_or_sequence(index)
        if not isinstance(value, TensorSequence):
            raise self.not_known(
                f"the tensors in the sequence '{value.name}' are not known",
                "Export the model without sequences of changing length",
            )
        return value

    def tensor_or_sequence(self, index: int) -> Value:
        """Returns a required input of any kind."""
        if not self.has_input(index):
            raise self.block(f"input {index} is missing", "The model breaks the ONNX standard; export it again")
        self._read_inputs.add(index)
        return self.scope.lookup(self.node.input[index])

    def optional(self, index: int) -> Value | None:
        return self.input(index) if self.has_input(index) else None

    def output_name(self) -> str:
        """Returns the name of the first output, which must be present."""
        if not self.node.output or not self.node.output[0]:
            raise self.block("it has no output", "The model breaks the ONNX standard; export it again")
        return str(self.node.output[0])

    def stored_weight(self, index: int) -> Value:
        """As `input`, but a quantized constant stays quantized, for a node with quantized weights."""
        known = self.deferred_input(index)
        stored = None if known is None else known.stored_weight()
        return self.input(index) if stored is None else stored

    def deferred_input(self, index: int, own: bool = False) -> Deferred | None:
        """Returns the deferred form of an input, None if the input is a value. `own`: only search this graph."""
        find = self.scope.deferred.get if own else self.scope.find_deferred
        known = find(self.node.input[index]) if self.has_input(index) else None
        if known is not None:
            self._read_inputs.add(index)
        return known

    def optional_stored_weight(self, index: int) -> Value | None:
        return self.stored_weight(index) if self.has_input(index) else None

    def inputs(self) -> list[Value]:
        """Returns all inputs of a variadic operator (at least one)."""
        if not self.node.input:
            raise self.block("has no input", "The model breaks the ONNX standard; export it again")
        return [self.input(index) for index in range(len(self.node.input))]

    def constant(self, index: int) -> Array | None:
        """Returns the contents of input `index` if it is present and constant."""
        value = self.optional(index)
        return None if value is None else self.contents(value)

    def constant_integers(self, index: int) -> tuple[int, ...] | None:
        """As `constant`, flattened to Python integers."""
        array = self.constant(index)
        if array is None:
            return None
        if array.dtype.kind not in "iu" or array.size > 4096:
            raise self.block(f"input {index} is not a short list of integers", "Export the model again")
        return tuple(int(item) for item in array.ravel())

    def require_integers(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the contents of an integer input that must be constant. `what`: its meaning, for messages."""
        value = self.constant_integers(index)
        if value is None:
            remedy = "Simplify the model (onnx-simplifier) or export it with fixed shapes"
            raise self.not_known(f"input {index}, {what}, is computed at run time", remedy)
        return value

    # ---- known types and contents ----

    def contents(self, value: Value) -> Array | None:
        return value.data

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        """Returns the dimensions, None for an unknown one; None if the rank is unknown."""
        return self.scope.types.shape_of(value)

    def static_shape(self, value: Value) -> Shape | None:
        """Returns the shape if every dimension is known."""
        shape = self.shape(value)
        if shape is None or any(dim is None for dim in shape):
            return None
        return tuple(dim for dim in shape if dim is not None)

    def rank(self, value: Value) -> int | None:
        shape = self.shape(value)
        return None if shape is None else len(shape)

    def require_rank(self, value: Value) -> int:
        """Returns the rank. Raises UnknownInput."""
        rank = self.rank(value)
        if rank is None:
            raise self.not_known(
                f"the rank of '{value.name}' is not known",
                "Give --inputShape, or export the model with fixed shapes",
            )
        return rank

    def require_shape(self, value: Value, why: str) -> Shape:
        """Returns the shape, with all dimensions known. Raises UnknownInput; `why` is the subject of its message."""
        shape = self.static_shape(value)
        if shape is None:
            raise self.not_known(f"{why} needs the shape of '{value.name}', which is dynamic", "Give --inputShape")
        return shape

    def dtype(self, value: Value) -> DataType:
        """Returns the element type, UNKNOWN if it is not known."""
        return self.scope.types.type_of(value)

    def require_dtype(self, value: Value) -> DataType:
        """Returns the element type. Raises UnknownInput."""
        dtype = self.dtype(value)
        if dtype is DataType.UNKNOWN:
            raise self.not_known(
                f"the element type of '{value.name}' is not known",
                "Export the model with the types of its values",
            )
        return dtype

    def require_numbers(self, value: Value) -> np.dtype[np.generic]:
        """Returns the element type, which must be known and not a string, as a NumPy dtype."""
        dtype = self.require_dtype(value)
        if dtype is DataType.STRING:
            raise self.block(f"'{value.name}' holds strings", "Move text processing out of the model")
        return numpy_type(dtype)

    def same_type(self, value: Value, source: Value) -> Value:
        """Sets the type and shape of an emitted value to those of `source`; returns the value."""
        self.scope.types.note(value, self.dtype(source), self.shape(source))
        return value

    def axis(self, axis: int, rank: int, attribute: str = "axis") -> int:
        """Returns `axis` as a nonnegative index; raises Blocked if it is out of range."""
        if not -rank <= axis < rank:
            raise self.block(f"{axis} is out of range for rank {rank}", "Export the model again", attribute)
        return axis + rank if axis < 0 else axis

    def told(self, value: Value, source: Value, shape: Sequence[int | None] | None) -> Value:
        """Sets the type and shape of the node's only result and returns it: the type of `source` and this shape.

        ONNX's type inference may not know this type; it continues downstream of the result.
        """
        self.scope.types.note(value, self.dtype(source), None if shape is None else tuple(shape))
        self.scope.types.tell(self.node.output, [value])
        return value

    # ---- emitting ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """Returns a constant; equal small constants of a graph share one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """Returns an int32 constant, such as axes, shapes or permutations."""
        try:
            return self.const(data, np.int32)
        except OverflowError:
            reason = f"a size or index in {shortened(str(data))} does not fit into 32 bits, which the .ms format uses"
            raise self.block(reason, "Check the model: no tensor is that large") from None

    def like(self, data: float | int | bool, value: Value) -> Value:
        """Returns a scalar constant with the element type of `value`."""
        return self.const(data, self.require_numbers(value))

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output and returns it."""
        return self.emit_many(op, inputs, 1)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs and returns them."""
        values = self.scope.emit(op, inputs, outputs, self.origin)
        self.emitted.update(id(value.producer) for value in values)
        return values
