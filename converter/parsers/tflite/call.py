"""Call: a source node as its converter sees it, with options, inputs, known shapes, and emission of nodes."""

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
from .quantization_parameters import result_quant_params
from .scope import Scope

_BROKEN = "The model is not valid in TensorFlow Lite; export it again"
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
        """Whether a quantized operator is being converted to a float one: inputs are dequantized."""

    def block(self, reason: str, remedy: str = _BROKEN, attribute: str = "") -> Blocked:
        """Returns the exception for an unsupported node: `raise call.block(...)`."""
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
        """Returns the source tensor of a required input. Raises Blocked."""
        if not self.has_input(index):
            raise self.block(f"input {index} is missing")
        return self.scope.source.tensors[self.node.inputs[index]]

    def output(self, index: int = 0) -> SourceTensor:
        """Returns the source tensor of an output. Raises Blocked."""
        if index >= len(self.node.outputs):
            raise self.block(f"output {index} is missing")
        return self.scope.source.tensors[self.node.outputs[index]]

    def input(self, index: int) -> Value:
        """Returns a required input, dequantized if `in_float` is set. Raises Blocked."""
        tensor = self.source(index)
        value = self.scope.lookup(self.node.inputs[index])
        if self.node.outputs and (records := result_quant_params(self.node.name, index, tensor, self.output())):
            value = self._relabeled(value, records)
        return self.scope.real(value, self.origin) if self.in_float else value

    def _relabeled(self, value: Value, records: tuple[QuantParam, ...]) -> Value:
        """Returns the same stored integers with other quantization parameters."""
        if value.data is not None:
            return self.scope.with_quant_params(value, records)
        result = self.emit(Bitcast(data_type=int(value.dtype)), value)
        result.dtype, result.quant = value.dtype, records
        return result

    def optional(self, index: int) -> Value | None:
        return self.input(index) if self.has_input(index) else None

    def inputs(self) -> list[Value]:
        """Returns all inputs of a variadic operator. Raises Blocked if there are none."""
        if not self.node.inputs:
            raise self.block("it has no input")
        return [self.input(index) for index in range(len(self.node.inputs))]

    def weight(self, index: int) -> Value:
        """Returns an input; integer weights of a float operator are dequantized."""
        value = self.input(index)
        return self.scope.decoded(value) if self.is_float() else value

    def optional_weight(self, index: int) -> Value | None:
        return self.weight(index) if self.has_input(index) else None

    def stored_weight(self, index: int) -> Value:
        """Returns an input as `weight`, but constants stay quantized: the node becomes one with weight quantization."""
        return self.scope.quantized_form(self.weight(index))

    def is_hybrid(self, index: int) -> bool:
        """Returns whether a float operator has an int8 constant as input `index`.

        LiteRT then quantizes the activations too, at run time. The result of a DEQUANTIZE is a float constant.
        Raises Blocked for int8 constants without a scale.
        """
        tensor = self.source(index)
        if not self.is_float() or self.in_float or tensor.dtype is not DataType.INT8 or tensor.data is None:
            return False
        if tensor.quantization is None:
            reason = f"the weights '{tensor.name}' of type {tensor.type_name} have no scale"
            raise self.block(reason, "Export the model with quantization parameters")
        return True

    def rounded(self, x: Value, symmetric: bool, kept: Sequence[int]) -> Value:
        """Returns an activation quantized to int8 at run time, with a scale for each index of the dimensions `kept`."""
        axes = tuple(kept)
        op = DynamicQuant(
            symmetric=symmetric, dst_type=int(DataType.INT8), activation_channel=True, prefer_axis=axes[0],
            prefer_axes=axes,
        )  # fmt: skip
        (value,) = self.scope.emit(op, (x,), 1, self.origin)
        value.dtype = DataType.INT8
        return value

    def bias(self, index: int) -> Value | None:
        """Returns the bias of a matmul or convolution: floats, or integers with the scale input * weight.

        int64 is kept: kernels for int16 activations accumulate and round in the type of their bias.
        """
        return self.optional_weight(index)

    def is_float(self) -> bool:
        """Returns whether the operator computes in float."""
        return self.in_float or self.output().dtype in (DataType.FLOAT32, DataType.FLOAT16)

    def shape(self, index: int) -> Shape:
        """Returns the dimensions that the source has for an input."""
        return self.source(index).shape

    def rank(self, index: int) -> int:
        return len(self.source(index).shape)

    def constant(self, index: int) -> Array | None:
        """Returns the contents of input `index`; None if it is missing or computed."""
        value = self.optional(index)
        return None if value is None else value.data

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the contents of an integer input that must be constant. Raises Blocked."""
        array = self.constant(index)
        if array is None:
            raise self.block(f"{what} (input {index}) are computed at run time", "Export the model with fixed values")
        if array.dtype.kind not in "iu" or array.size > 4096:
            raise self.block(f"input {index} is not a short list of integers")
        return tuple(int(item) for item in array.ravel())

    def number(self, index: int, what: str) -> int:
        """Returns the single element of an integer input that must be constant. Raises Blocked."""
        numbers = self.integers(index, what)
        if len(numbers) != 1:
            raise self.block(f"input {index}, {what}, has {len(numbers)} elements, not 1")
        return numbers[0]

    def int32(self, index: int) -> Value:
        """Returns an integer input as int32."""
        return self.as_type(self.input(index), DataType.INT32)

    def axis(self, axis: int, rank: int, attribute: str = "axis") -> int:
        """Returns `axis` counted from the first dimension. Raises Blocked if it is out of range."""
        if not -rank <= axis < rank:
            raise self.block(f"{axis} is out of range for {rank} dimensions", attribute=attribute)
        return axis + rank if axis < 0 else axis

    # ---- options of many operators ----

    def pad_mode(self) -> PadMode:
        padding = self.options.integer("padding")
        if padding not in (0, 1):
            raise self.block(f"padding {padding} is unknown", attribute="padding")
        return PadMode.SAME if padding == 0 else PadMode.VALID

    def fused(self) -> tuple[ActivationType, Callable[[Value], Value]]:
        """Returns the fused activation that the operator itself supports, and a function that emits other ones after
        it."""
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
        """Returns `value` after the fused activation, for operators that do not support one."""
        activation, follow = self.fused()
        if activation is not ActivationType.NO_ACTIVATION:
            return self.emit(Activation(activation_type=activation), value)
        return follow(value)

    # ---- emission of nodes ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        """Returns a constant; equal small constants of a graph share one value."""
        return self.scope.constant(np.asarray(data, dtype), self.name)

    def ints(self, data: Sequence[int] | int) -> Value:
        """Returns an int32 constant: axes, shapes, permutations."""
        return self.const(data, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output."""
        return self.scope.emit(op, inputs, 1, self.origin)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs."""
        return self.scope.emit(op, inputs, outputs, self.origin)

    def as_type(self, value: Value, dtype: DataType) -> Value:
        """Returns `value` cast to another data type; constants are converted at conversion."""
        if value.dtype is dtype:
            return value
        if value.data is not None:
            return self.scope.converted(value, dtype)
        result = self.emit(Cast(), value, self.ints(int(dtype)))
        result.dtype = dtype
        return result

    def as_declared(self, value: Value, index: int = 0) -> Value:
        """Returns an int32 result in the type that the source has for the output (int32 or int64)."""
        if self.output(index).dtype is not DataType.INT64:
            return value
        value.dtype = DataType.INT32
        return self.as_type(value, DataType.INT64)
