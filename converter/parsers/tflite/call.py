"""One foreign node as its converter sees it: options, inputs, what is known of them, and emitting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Array, Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, DataType, PadMode
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Cast, Clip
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import Origin

from .model import SourceOperator, SourceTensor
from .records import record_of_result
from .scope import Scope

_BROKEN = "The model breaks TensorFlow Lite's rules; export it again"
_NONE, _RELU, _RELU_N1_TO_1, _RELU6, _TANH = range(5)


class Call:
    """A node of the source graph. Converters read it through these methods and return the values of its outputs."""

    def __init__(self, scope: Scope, node: SourceOperator, name: str) -> None:
        self.scope = scope
        self.node = node
        self.name = name
        self.origin = Origin(name, node.name)
        self.options = node.options
        self.in_float = False
        """Set while an operator on quantized tensors is converted as one on float values."""

    def block(self, reason: str, remedy: str = _BROKEN, attribute: str = "") -> Blocked:
        """What a converter raises: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.node.name, blocked.reason, blocked.remedy, blocked.attribute)

    # ---- operands ----

    @property
    def input_count(self) -> int:
        return len(self.node.inputs)

    def has_input(self, index: int) -> bool:
        return index < len(self.node.inputs) and self.node.inputs[index] >= 0

    def source(self, index: int) -> SourceTensor:
        """The source's record of an input that must be there."""
        if not self.has_input(index):
            raise self.block(f"input {index} is missing")
        return self.scope.source.tensors[self.node.inputs[index]]

    def output(self, index: int = 0) -> SourceTensor:
        """The source's record of an output."""
        if index >= len(self.node.outputs):
            raise self.block(f"output {index} is missing")
        return self.scope.source.tensors[self.node.outputs[index]]

    def input(self, index: int) -> Value:
        """An input that must be there."""
        tensor = self.source(index)
        value = self.scope.lookup(self.node.inputs[index])
        if self.node.outputs and (records := record_of_result(self.node.name, index, tensor, self.output())):
            value = self._relabeled(value, records)
        return self.scope.real(value, self.origin) if self.in_float else value

    def _relabeled(self, value: Value, records: tuple[QuantParam, ...]) -> Value:
        """The same integers with other records."""
        if value.data is not None:
            return self.scope.relabeled(value, records)
        result = self.emit(Bitcast(data_type=int(value.dtype)), value)
        result.dtype, result.quant = value.dtype, records
        return result

    def optional(self, index: int) -> Value | None:
        return self.input(index) if self.has_input(index) else None

    def inputs(self) -> list[Value]:
        """All inputs of a variadic operator (at least one)."""
        if not self.node.inputs:
            raise self.block("it has no input")
        return [self.input(index) for index in range(len(self.node.inputs))]

    def weight(self, index: int) -> Value:
        """An input whose contents are float values: 8-bit weights of an operator that computes in float are decoded."""
        value = self.input(index)
        return self.scope.decoded(value) if self.is_float() else value

    def optional_weight(self, index: int) -> Value | None:
        return self.weight(index) if self.has_input(index) else None

    def stored_weight(self, index: int) -> Value:
        """As `weight`, but constants stay 8-bit where the node can say so: it becomes one with quantized weights."""
        return self.scope.stored_form(self.weight(index))

    def is_hybrid(self, index: int) -> bool:
        """True where constant `index` is stored integers and the operator computes on float values.

        LiteRT then rounds the activations too. Weights behind a DEQUANTIZE are float values. Raises Blocked for
        stored integers that nothing gives a scale.
        """
        tensor = self.source(index)
        if not self.is_float() or self.in_float or tensor.dtype is not DataType.INT8 or tensor.data is None:
            return False
        if tensor.quantization is None:
            reason = f"the weights '{tensor.name}' of type {tensor.type_name} have no scale"
            raise self.block(reason, "Export the model with quantization parameters")
        return True

    def rounded(self, x: Value, symmetric: bool, kept: Sequence[int]) -> Value:
        """An activation rounded to 8 bits at run time; each index of the `kept` dimensions has a scale of its own."""
        axes = tuple(kept)
        op = DynamicQuant(
            symmetric=symmetric, dst_type=int(DataType.INT8), activation_channel=True, prefer_axis=axes[0],
            prefer_axes=axes,
        )  # fmt: skip
        (value,) = self.scope.emit(op, (x,), 1, self.origin)
        value.dtype = DataType.INT8
        return value

    def bias(self, index: int) -> Value | None:
        """The bias of a product: float values, or integers in units of the product's scales.

        int64 is kept: kernels on int16 activations sum, and round, in the width of their bias.
        """
        return self.optional_weight(index)

    def is_float(self) -> bool:
        """True when the operator computes on float values."""
        return self.in_float or self.output().dtype in (DataType.FLOAT32, DataType.FLOAT16)

    def shape(self, index: int) -> Shape:
        """The dimensions that the source states for an input."""
        return self.source(index).shape

    def rank(self, index: int) -> int:
        return len(self.source(index).shape)

    def constant(self, index: int) -> Array | None:
        """The contents of input `index` when it is there and constant."""
        value = self.optional(index)
        return None if value is None else value.data

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """The contents of an integer input that has to be known when converting."""
        array = self.constant(index)
        if array is None:
            raise self.block(f"{what} (input {index}) are computed at run time", "Export the model with fixed values")
        if array.dtype.kind not in "iu" or array.size > 4096:
            raise self.block(f"input {index} is not a short list of integers")
        return tuple(int(item) for item in array.ravel())

    def number(self, index: int, what: str) -> int:
        """The only entry of an integer input that has to be known when converting."""
        numbers = self.integers(index, what)
        if len(numbers) != 1:
            raise self.block(f"input {index}, {what}, has {len(numbers)} entries, not 1")
        return numbers[0]

    def int32(self, index: int) -> Value:
        """An integer input as int32."""
        return self.as_type(self.input(index), DataType.INT32)

    def axis(self, axis: int, rank: int, attribute: str = "axis") -> int:
        """`axis` counted from the front."""
        if not -rank <= axis < rank:
            raise self.block(f"{axis} is outside of {rank} dimensions", attribute=attribute)
        return axis + rank if axis < 0 else axis

    # ---- options that many operators share ----

    def pad_mode(self) -> PadMode:
        padding = self.options.integer("padding")
        if padding not in (0, 1):
            raise self.block(f"padding {padding} is unknown", attribute="padding")
        return PadMode.SAME if padding == 0 else PadMode.VALID

    def fused(self) -> tuple[ActivationType, Callable[[Value], Value]]:
        """The fused activation: what the operator itself can take, and what has to follow it."""
        code = self.options.integer("activation")
        if code == _NONE:
            return ActivationType.NO_ACTIVATION, lambda value: value
        if code == _RELU:
            return ActivationType.RELU, lambda value: value
        if code == _RELU6:
            return ActivationType.RELU6, lambda value: value
        if code == _TANH:
            tanh = Activation(activation_type=ActivationType.TANH)
            return ActivationType.NO_ACTIVATION, lambda value: self.emit(tanh, value)
        if code == _RELU_N1_TO_1:
            return ActivationType.NO_ACTIVATION, lambda value: self.emit(Clip(min=-1.0, max=1.0), value)
        raise self.block(
            f"the fused activation {code} is not supported", "Use RELU, RELU6 or TANH", "fused_activation_function"
        )

    def activated(self, value: Value) -> Value:
        """`value` behind the fused activation, for operators that cannot take one."""
        activation, follow = self.fused()
        if activation is not ActivationType.NO_ACTIVATION:
            return self.emit(Activation(activation_type=activation), value)
        return follow(value)

    # ---- emitting ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """A constant; equal small constants of a graph are one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: Sequence[int] | int) -> Value:
        """An int32 constant: axes, shapes, permutations."""
        return self.const(data, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output."""
        return self.scope.emit(op, inputs, 1, self.origin)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs."""
        return self.scope.emit(op, inputs, outputs, self.origin)

    def as_type(self, value: Value, dtype: DataType) -> Value:
        """`value` with elements of another type; constants are converted at once."""
        if value.dtype is dtype:
            return value
        if value.data is not None:
            return self.scope.converted(value, dtype)
        result = self.emit(Cast(), value, self.ints(int(dtype)))
        result.dtype = dtype
        return result

    def as_declared(self, value: Value, index: int = 0) -> Value:
        """An int32 result with the integer type that the source declares for the output."""
        if self.output(index).dtype is not DataType.INT64:
            return value
        value.dtype = DataType.INT32
        return self.as_type(value, DataType.INT64)
