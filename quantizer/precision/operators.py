"""Which operators compute on integers, and what their records must fulfill: the rules of TensorFlow Lite's int8 scheme.

Every operator that is not here stays in float, between casts.
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
    """What an operator asks of the records of its operands and results."""

    MAC = "multiplies and accumulates"
    """Weights symmetric per channel, bias int32; input and result have records of their own."""
    FREE = "computes"
    """Every operand and result has a record of its own."""
    SAME = "computes in one quantization"
    """All data operands and results share one record."""
    MOVE = "moves"
    """As SAME; the node only moves stored integers."""
    RECURRENT = "keeps states"
    """LSTM: states with records of their own, see rewrite/recurrent.py; int8 only."""
    FIXED = "has a known range"
    """The result's record is a constant of the operator."""


@dataclass(frozen=True)
class OperatorRule:
    """How one node is quantized. `data`: indices of the operands that are activations (constant or not)."""

    kind: Kind
    data: tuple[int, ...]
    fixed8: tuple[float, int] = (1.0, 0)
    """Scale and zero point of the result of a FIXED node, as int8."""
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
"""Built-in activations that a result's record and limits can express."""
_FREE_UNARY = frozenset({"HardSigmoid", "LeakyRelu", "Elu", "Abs", "Neg"})
_DEFAULT_ACTIVATIONS = (None, "", "Sigmoid Tanh Tanh")
_SEVERAL = frozenset({"Concat", "Stack"})


def is_product(node: Node) -> bool:
    """True for an operator whose multiply-accumulates count."""
    return node.op.name in _PRODUCTS


def saves_time(node: Node) -> bool:
    """True for what is worth casts around it: a product, or a cell made of products."""
    return is_product(node) or node.op.name == "LSTMSequence"


def rule_of(node: Node) -> OperatorRule | None:
    """The rule of a float node, None when it stays in float."""
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
    """True for the form that integers can follow: one direction forwards, the usual functions, constant weights."""
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
    """Where the initial states stand among the operands: `hidden` and `cell`, those that are there."""
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
    """Weights must be constants, but for products of two activations; a bias must be one."""
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
    """True when the bias is one number per channel of the result."""
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
