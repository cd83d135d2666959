"""Operators with an integer implementation, and rules for their quantization parameters, as in TensorFlow Lite.

All other operators stay in float, with casts around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import ActivationType, DataType, ReduceMode, ResizeMethod
from mslite.converter.mindir.ops.recurrent import LSTMSequence
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import MOVES


class Kind(Enum):
    """Constraints on the quantization parameters of an operator's inputs and outputs."""

    MAC = "multiplies and accumulates"
    """Convolutions and matmuls: weights symmetric per channel, bias int32; input and output have separate
    parameters."""
    FREE = "computes"
    """All inputs and outputs have separate parameters."""
    SAME = "computes in one quantization"
    """All data inputs and outputs have the same parameters."""
    MOVE = "moves"
    """Same parameters; the operator only moves elements."""
    RECURRENT = "keeps states"
    """LSTM: states have separate parameters, see rewrite/recurrent.py; int8 only."""
    FIXED = "has a known range"
    """The operator defines the parameters of its output."""


@dataclass(frozen=True)
class OperatorRule:
    """How a node is quantized. `data` are the indices of inputs that are quantized like activations, constant or
    not."""

    kind: Kind
    data: tuple[int, ...]
    fixed8: tuple[float, int] = (1.0, 0)
    """Scale and zero point of the output of a FIXED node in int8."""
    fixed16: tuple[float, int] = (1.0, 0)

    def fixed_record(self, bits: int) -> QuantParam:
        scale, zero = self.fixed8 if bits <= 8 else self.fixed16
        stored = 8 if bits <= 8 else 16
        dtype = DataType.INT8 if bits <= 8 else DataType.INT16
        return QuantParam(scale=scale, zeroPoint=zero, numBits=stored, dstDtype=int(dtype))


_PROBABILITY = ((1 / 256, -128), (1 / 32768, 0))
_SIGNED_UNIT = ((1 / 128, 0), (1 / 32768, 0))
_LOG_PROBABILITY = ((16 / 256, 127), (16 / 65536, 32767))

_PRODUCTS = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "MatMulFusion", "FullConnection"})
_ARITHMETIC = frozenset({"AddFusion", "SubFusion", "MulFusion"})
_FREE_ACTIVATIONS = frozenset(
    {ActivationType.RELU, ActivationType.RELU6, ActivationType.RELU1, ActivationType.LEAKY_RELU, ActivationType.HSWISH,
     ActivationType.HSIGMOID, ActivationType.ELU, ActivationType.SWISH, ActivationType.GELU}
)  # fmt: skip
CLAMPS = frozenset({ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6})
"""Fused activations that are implemented by clamping the integer output."""
_FREE_UNARY = frozenset({"HardSigmoid", "LeakyRelu", "Elu", "Abs", "Neg"})
_DEFAULT_ACTIVATIONS = (None, "", "Sigmoid Tanh Tanh")
_SEVERAL = frozenset({"Concat", "Stack"})


def is_mac_node(node: Node) -> bool:
    """Whether the node is a convolution, matmul or fully connected layer."""
    return node.op.name in _PRODUCTS


def saves_time(node: Node) -> bool:
    """Whether integers save more time than the casts around the node cost: convolutions, matmuls and LSTMs."""
    return is_mac_node(node) or node.op.name == "LSTMSequence"


def rule_of(node: Node) -> OperatorRule | None:
    """Returns the rule of a float node; None if it stays in float."""
    rule = _rule(node)
    if rule is None or node.quant_type != 0 or not node.outputs:
        return None
    values = [*(node.inputs[index] for index in rule.data), *node.outputs]
    if any(value.dtype is not DataType.FLOAT32 or value.quant or value.raw is not None for value in values):
        return None
    if all(node.inputs[index].is_constant for index in rule.data):
        return None
    return rule


def _rule(node: Node) -> OperatorRule | None:
    name = node.op.name
    if name == "LSTMSequence":
        states = state_operands(node).values() if is_plain_lstm(node) else ()
        return OperatorRule(Kind.RECURRENT, (0, *states)) if is_plain_lstm(node) else None
    if name in _PRODUCTS:
        return _product(node)
    if getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION) not in CLAMPS and name != "Activation":
        return None
    if name in _ARITHMETIC:
        return OperatorRule(Kind.FREE, (0, 1))
    if name == "Activation":
        return _activation(node)
    if name in _FREE_UNARY:
        return OperatorRule(Kind.FREE, (0,))
    if name == "Clip":
        return OperatorRule(Kind.FREE, (0,)) if len(node.inputs) == 1 else None
    if name in ("MaxPoolFusion", "AvgPoolFusion"):
        return OperatorRule(Kind.SAME, (0,))
    if name in ("Maximum", "Minimum"):
        return OperatorRule(Kind.SAME, (0, 1))
    if name == "PReLUFusion":
        return OperatorRule(Kind.FREE, (0, 1))
    if name == "ReduceFusion":
        return _reduction(node)
    if name == "Resize":
        linear = getattr(node.op, "method", None) in (ResizeMethod.LINEAR, ResizeMethod.NEAREST)
        return OperatorRule(Kind.SAME, (0,)) if linear else None
    if name == "PadFusion":
        return OperatorRule(Kind.SAME, (0,)) if len(node.inputs) == 2 and _pads_with_zero(node) else None
    if name == "Softmax":
        return OperatorRule(Kind.FIXED, (0,), *_PROBABILITY)
    if name == "LogSoftmax":
        return OperatorRule(Kind.FIXED, (0,), *_LOG_PROBABILITY)
    if name == "L2NormalizeFusion":
        return OperatorRule(Kind.FIXED, (0,), *_SIGNED_UNIT)
    if name in MOVES:
        operands = tuple(range(len(node.inputs))) if name in _SEVERAL else (0,)
        return OperatorRule(Kind.MOVE, operands)
    return None


def is_plain_lstm(node: Node) -> bool:
    """Whether an LSTM has an integer implementation: forward direction, default activations, constant weights."""
    op = node.op
    if not isinstance(op, LSTMSequence) or len(node.outputs) != 3:
        return False
    unusual = (
        op.clip, op.projection_clip, op.input_forget, op.has_sequence_lengths, op.has_peepholes,
        op.has_projection, op.has_projection_bias, op.has_normalization,
    )  # fmt: skip
    if any(unusual) or op.direction not in (None, "", "forward") or op.activations not in _DEFAULT_ACTIVATIONS:
        return False
    constants = node.inputs[1 : 4 if op.has_bias else 3]
    if any(v.data is None or v.dtype is not DataType.FLOAT32 or v.quant for v in constants):
        return False
    return all(value.array().ndim == 3 and value.array().shape[0] == 1 for value in node.inputs[1:3])


def state_operands(node: Node) -> dict[str, int]:
    """Returns the input indices of the initial states that exist: keys `hidden` and `cell`."""
    op = node.op
    assert isinstance(op, LSTMSequence)
    found: dict[str, int] = {}
    at = 4 if op.has_bias else 3
    for name, is_there in (("hidden", op.has_initial_hidden), ("cell", op.has_initial_cell)):
        if is_there:
            found[name] = at
            at += 1
    return found


def _product(node: Node) -> OperatorRule | None:
    """Returns the rule of a convolution or matmul. Weights must be constant, except in a matmul of two activations. A
    bias must be constant."""
    if getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION) not in CLAMPS or len(node.inputs) < 2:
        return None
    weight = node.inputs[1]
    if len(node.inputs) > 2 and not (_is_real_constant(node.inputs[2]) and _has_channels(node)):
        return None
    if node.op.name != "MatMulFusion":
        return OperatorRule(Kind.MAC, (0,)) if _is_real_constant(weight) else None
    if any(value.rank is None or value.rank < 2 for value in node.inputs[:2]):
        return None
    if weight.is_constant:
        return OperatorRule(Kind.MAC, (0,)) if _is_real_constant(weight) else None
    return OperatorRule(Kind.MAC, (0, 1))


def _has_channels(node: Node) -> bool:
    """Whether the bias has one value per output channel."""
    shape, bias = node.outputs[0].shape, node.inputs[2].array()
    return shape is not None and bool(shape) and bias.ndim > 0 and bias.size == shape[-1] == bias.shape[-1]


def _is_real_constant(value: Value) -> bool:
    return value.data is not None and value.dtype is DataType.FLOAT32 and not value.quant


def _activation(node: Node) -> OperatorRule | None:
    kind = getattr(node.op, "activation_type", None)
    if kind is ActivationType.SIGMOID:
        return OperatorRule(Kind.FIXED, (0,), *_PROBABILITY)
    if kind is ActivationType.TANH:
        return OperatorRule(Kind.FIXED, (0,), *_SIGNED_UNIT)
    return OperatorRule(Kind.FREE, (0,)) if kind in _FREE_ACTIVATIONS else None


def _reduction(node: Node) -> OperatorRule | None:
    mode = getattr(node.op, "mode", None)
    if getattr(node.op, "coeff", 1.0) not in (0.0, 1.0):
        return None
    if mode in (ReduceMode.ReduceMax, ReduceMode.ReduceMin):
        return OperatorRule(Kind.SAME, (0,))
    return OperatorRule(Kind.FREE, (0,)) if mode in (ReduceMode.ReduceMean, ReduceMode.ReduceSum) else None


def _pads_with_zero(node: Node) -> bool:
    return float(getattr(node.op, "constant_value", 0.0)) == 0.0
