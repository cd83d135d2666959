"""Gradient rules, one per operator: from the gradient of a node's result to those of its operands.

A rule returns one entry per operand: a value of the operand's shape, or None where nothing depends on it. It is asked for nodes
whose fused activations were taken apart (`normalise.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Node, Shape, Value
from mslite.converter.mindir.ops import Operator, activation, arithmetic, convolution, pooling, reduction, training
from mslite.converter.mindir.ops.assembly import Concat, PadFusion
from mslite.converter.mindir.ops.enums import ActivationType, Format, PaddingMode, PadMode, ReduceMode, RoundMode
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.unary import ExpFusion
from mslite.converter.training.builder import Builder


class NoGradientError(Exception):
    """A node that no gradient can be computed of: reason and remedy."""

    def __init__(
        self, reason: str, remedy: str = "Write it in operators that have one, or train a part without it"
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass
class Call:
    """A node whose gradient is asked for."""

    node: Node
    build: Builder
    wanted: tuple[bool, ...]
    """For each operand, whether its gradient is used."""

    @property
    def op(self) -> Operator:
        return self.node.op

    def shape(self, operand: int) -> Shape:
        return shape_of(self.node.inputs[operand])

    def name(self, what: str) -> str:
        return f"Gradients/{self.node.name}/{what}"

    def add(self, op: Operator, what: str, inputs: list[Value], shape: Shape) -> Value:
        return self.build.node(op, self.name(what), inputs, shape)


def shape_of(value: Value) -> Shape:
    """The shape of a value that has one."""
    assert value.shape is not None
    return value.shape


Gradients = list[Value | None]
Rule = Callable[[Call, Value], Gradients]
RULES: dict[str, Rule] = {}


def rule(*operators: str) -> Callable[[Rule], Rule]:
    def declare(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(operators, function))
        return function

    return declare


# ---- convolution, products ----


@rule("Conv2DFusion")
def _convolution(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, convolution.Conv2DFusion)
    shared: dict[str, Any] = {
        "format": Format.NHWC,
        "kernel_size": op.kernel_size,
        "stride": op.stride,
        "dilation": op.dilation,
    }
    shared |= {"pad_mode": op.pad_mode, "pad_list": op.pad_list, "group": op.group or 1}
    shared |= {"in_channel": op.in_channel, "out_channel": op.out_channel}
    x, weight = call.node.inputs[:2]
    found: Gradients = [None] * len(call.node.inputs)
    if call.wanted[0]:
        sizes = call.build.sizes(call.name("x/shape"), call.shape(0))
        found[0] = call.add(training.Conv2DBackpropInputFusion(**shared), "x", [dy, weight, sizes], call.shape(0))
    if call.wanted[1]:
        sizes = call.build.sizes(call.name("weight/shape"), call.shape(1))
        found[1] = call.add(training.Conv2DBackpropFilterFusion(**shared), "weight", [dy, x, sizes], call.shape(1))
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    return found


def _bias(call: Call, dy: Value, operand: int) -> Value:
    shape = call.shape(operand)
    summed = call.add(training.BiasAddGrad(), "bias", [dy], (shape_of(dy)[-1],))
    return call.build.reshaped(summed, shape, call.name("bias/reshaped"))


@rule("MatMulFusion")
def _product(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, MatMulFusion)
    a, b = call.node.inputs[:2]
    of_a, of_b = call.shape(0), call.shape(1)
    found: Gradients = [None] * len(call.node.inputs)
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    if len(of_b) == 2 and len(of_a) > 2 and not op.transpose_a:
        flat_a = (prod(of_a[:-1]), of_a[-1])
        a = call.build.reshaped(a, flat_a, call.name("a/flat"))
        dy = call.build.reshaped(dy, (flat_a[0], shape_of(dy)[-1]), call.name("dy/flat"))
    elif len(of_a) < 2 or len(of_b) < 2 or of_a[:-2] != of_b[:-2]:
        raise NoGradientError(f"the product of {list(of_a)} and {list(of_b)} repeats matrices")
    if call.wanted[0]:
        found[0] = call.build.reshaped(_of_a(call, dy, b, op, shape_of(a)), of_a, call.name("a/reshaped"))
    if call.wanted[1]:
        found[1] = _of_b(call, dy, a, op)
    return found


def _of_a(call: Call, dy: Value, b: Value, op: MatMulFusion, shape: Shape) -> Value:
    if op.transpose_a:
        return call.add(MatMulFusion(transpose_a=op.transpose_b, transpose_b=True), "a", [b, dy], shape)
    return call.add(MatMulFusion(transpose_b=not op.transpose_b), "a", [dy, b], shape)


def _of_b(call: Call, dy: Value, a: Value, op: MatMulFusion) -> Value:
    if op.transpose_b:
        return call.add(MatMulFusion(transpose_a=True, transpose_b=op.transpose_a), "b", [dy, a], call.shape(1))
    return call.add(MatMulFusion(transpose_a=not op.transpose_a), "b", [a, dy], call.shape(1))


@rule("FullConnection")
def _full_connection(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, FullConnection)
    x, weight = call.node.inputs[:2]
    out, depth = call.shape(1)
    rows = prod(call.shape(0)) // depth
    found: Gradients = [None] * len(call.node.inputs)
    dy = call.build.reshaped(dy, (rows, out), call.name("dy/flat"))
    if call.wanted[0]:
        dx = call.add(MatMulFusion(), "x", [dy, weight], (rows, depth))
        found[0] = call.build.reshaped(dx, call.shape(0), call.name("x/reshaped"))
    if call.wanted[1]:
        flat = call.build.reshaped(x, (rows, depth), call.name("x/flat"))
        found[1] = call.add(MatMulFusion(transpose_a=True), "weight", [dy, flat], (out, depth))
    if len(found) > 2 and call.wanted[2]:
        found[2] = _bias(call, dy, 2)
    return found


# ---- functions of one number ----

_OF_Y = (ActivationType.SIGMOID, ActivationType.TANH, ActivationType.ELU, ActivationType.RELU, ActivationType.RELU6)
_NONE = (
    ActivationType.THRESHOLDRELU,
    ActivationType.HARD_TANH,
    ActivationType.SIGN,
    ActivationType.SELU,
    ActivationType.UNKNOWN,
)


def _by_activation(call: Call, dy: Value, kind: ActivationType, alpha: float = 0.0) -> Gradients:
    at = call.node.output if kind in _OF_Y else call.node.inputs[0]
    op = training.ActivationGrad(activation_type=kind, alpha=alpha)
    inputs = [at, dy] if kind in (ActivationType.SIGMOID, ActivationType.TANH) else [dy, at]
    return [call.add(op, "x", inputs, call.shape(0)), *[None] * (len(call.node.inputs) - 1)]


@rule("Activation")
def _activation(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, activation.Activation)
    kind = op.activation_type
    if kind in _NONE:
        raise NoGradientError(f"{kind.name} has no gradient here")
    if kind is ActivationType.GELU and op.approximate:
        kind = ActivationType.FAST_GELU
    return _by_activation(call, dy, kind, op.alpha)


@rule("LeakyRelu")
def _leaky(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, activation.LeakyRelu)
    return _by_activation(call, dy, ActivationType.LEAKY_RELU, call.op.negative_slope)


@rule("Elu")
def _elu(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, activation.Elu)
    return _by_activation(call, dy, ActivationType.ELU, call.op.alpha)


@rule("Softmax")
def _softmax(call: Call, dy: Value) -> Gradients:
    """dx = y (dy - sum(dy y))."""
    assert isinstance(call.op, activation.Softmax)
    y, shape = call.node.output, call.shape(0)
    axis = (call.op.axis[0] if call.op.axis else -1) % len(shape)
    weighted = call.add(arithmetic.MulFusion(), "weighted", [dy, y], shape)
    kept = tuple(1 if i == axis else size for i, size in enumerate(shape))
    axes = call.build.sizes(call.name("axis"), (axis,))
    total = call.add(
        reduction.ReduceFusion(mode=ReduceMode.ReduceSum, keep_dims=True, coeff=1.0), "sum", [weighted, axes], kept
    )
    rest = call.add(arithmetic.SubFusion(), "rest", [dy, total], shape)
    return [call.add(arithmetic.MulFusion(), "x", [y, rest], shape)]


@rule("Abs", "Log", "Neg", "Sqrt", "Rsqrt", "Square")
def _function(call: Call, dy: Value) -> Gradients:
    x, y = call.node.inputs[0], call.node.output
    made: dict[str, tuple[Operator, list[Value]]] = {
        "Abs": (training.AbsGrad(), [x, dy]),
        "Log": (training.LogGrad(), [dy, x]),
        "Neg": (training.NegGrad(), [dy]),
        "Sqrt": (training.SqrtGrad(), [y, dy]),
        "Rsqrt": (training.RsqrtGrad(), [y, dy]),
        "Square": (training.PowerGrad(power=2.0, scale=1.0), [dy, x]),
    }
    op, inputs = made[call.op.name]
    return [call.add(op, "x", inputs, call.shape(0))]


@rule("ExpFusion")
def _exponential(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, ExpFusion)
    factor = op.scale * (1.0 if op.base <= 0 else float(np.log(op.base)))
    dx = call.add(arithmetic.MulFusion(), "product", [dy, call.node.output], call.shape(0))
    if factor != 1.0:
        scale = call.build.constant(call.name("factor"), np.float32(factor))
        dx = call.add(arithmetic.MulFusion(), "x", [dx, scale], call.shape(0))
    return [dx]


# ---- functions of two numbers ----


@rule("AddFusion", "SubFusion", "MulFusion", "DivFusion", "RealDiv", "Maximum", "Minimum", "BiasAdd")
def _binary(call: Call, dy: Value) -> Gradients:
    a, b = call.node.inputs
    of_a, of_b, whole = call.shape(0), call.shape(1), shape_of(dy)
    name = call.op.name
    found: Gradients = [None, None]
    if name in ("AddFusion", "BiasAdd"):
        if of_a == whole and (of_b == whole or not call.wanted[1]):
            return [dy, dy]
        if of_a == whole and of_b == whole[-1:]:
            return [dy, call.add(training.BiasAddGrad(), "b", [dy], of_b)]
    if name == "SubFusion" and of_a == whole and not call.wanted[1]:
        return [dy, None]
    if name == "MulFusion" and call.wanted != (True, True):
        place, other = (0, b) if call.wanted[0] else (1, a)
        if call.shape(place) == whole:
            found[place] = call.add(arithmetic.MulFusion(), "ab"[place], [dy, other], whole)
            return found
    ops: dict[str, Operator] = {
        "AddFusion": training.AddGrad(),
        "BiasAdd": training.AddGrad(),
        "SubFusion": training.SubGrad(),
        "MulFusion": training.MulGrad(),
        "Maximum": training.MaximumGrad(grad_x=True, grad_y=True),
        "Minimum": training.MinimumGrad(grad_x=True, grad_y=True),
    }
    op = ops.get(name, training.DivGrad())
    inputs = [a, b, dy] if name in ("Maximum", "Minimum") else [dy, a, b]
    return list(call.build.nodes(op, call.name("ab"), inputs, [of_a, of_b]))


@rule("AddN")
def _sum(call: Call, dy: Value) -> Gradients:
    return [dy] * len(call.node.inputs)


# ---- windows ----


@rule("AvgPoolFusion", "MaxPoolFusion")
def _pooling(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, pooling.AvgPoolFusion | pooling.MaxPoolFusion)
    shape = call.shape(0)
    kernel, strides, mode = op.kernel_size or (1, 1), op.strides or (1, 1), op.pad_mode
    if op.global_:
        kernel, strides, mode = shape[1:3], (1, 1), PadMode.VALID
    if mode is PadMode.PAD:
        if any(op.pad or ()):
            raise NoGradientError("pads that are given as numbers have no gradient", "Use SAME or VALID padding")
        mode = PadMode.VALID
    if op.round_mode is RoundMode.CEIL and any(
        (size - k) % step for size, k, step in zip(shape[1:3], kernel, strides, strict=True)
    ):
        raise NoGradientError("windows that reach over the edge (ceil) have no gradient", "Use floor")
    made: Operator
    if isinstance(op, pooling.AvgPoolFusion):
        made = training.AvgPoolGrad(kernel_size=kernel, strides=strides, pad_mode=mode, format=Format.NHWC)
    else:
        made = training.MaxPoolGrad(kernel_size=kernel, strides=strides, pad_mode=mode, format=Format.NHWC)
    return [call.add(made, "x", [call.node.inputs[0], call.node.output, dy], shape)]


# ---- movements and sums ----


@rule("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims")
def _same_elements(call: Call, dy: Value) -> Gradients:
    dx = call.build.reshaped(dy, call.shape(0), call.name("x"))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("Transpose")
def _transpose(call: Call, dy: Value) -> Gradients:
    if len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("the permutation is not constant")
    inverse = np.argsort(call.node.inputs[1].array()).astype(np.int32)
    perm = call.build.constant(call.name("perm"), inverse)
    return [call.add(Transpose(), "x", [dy, perm], call.shape(0)), None]


@rule("Concat")
def _concat(call: Call, dy: Value) -> Gradients:
    assert isinstance(call.op, Concat)
    axis = call.op.axis % len(shape_of(dy))
    found: Gradients = []
    at = 0
    for place, wanted in enumerate(call.wanted):
        shape = call.shape(place)
        begin = tuple(at if i == axis else 0 for i in range(len(shape)))
        found.append(call.build.slice(dy, begin, shape, call.name(f"x{place}")) if wanted else None)
        at += shape[axis]
    return found


@rule("PadFusion")
def _pad(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, PadFusion)
    if op.padding_mode is not PaddingMode.CONSTANT or len(call.node.inputs) < 2 or call.node.inputs[1].data is None:
        raise NoGradientError("only padding with a constant, by constant sizes, has a gradient")
    pads = call.node.inputs[1].array().astype(np.int64).reshape(-1, 2)
    begin = tuple(int(before) for before in pads[:, 0])
    if min(begin) < 0 or int(pads.min()) < 0:
        raise NoGradientError("padding that cuts has no gradient")
    dx = call.build.slice(dy, begin, call.shape(0), call.name("x"))
    return [dx, *[None] * (len(call.node.inputs) - 1)]


@rule("ReduceFusion")
def _reduce(call: Call, dy: Value) -> Gradients:
    op = call.op
    assert isinstance(op, reduction.ReduceFusion)
    shape = call.shape(0)
    if op.mode not in (ReduceMode.ReduceSum, ReduceMode.ReduceMean) or op.reduce_to_end:
        raise NoGradientError(f"{op.mode.name} has no gradient here", "Use a sum or a mean")
    axes: tuple[int, ...] = tuple(range(len(shape)))
    if len(call.node.inputs) > 1:
        if call.node.inputs[1].data is None:
            raise NoGradientError("the axes are not constant")
        axes = tuple(int(axis) % len(shape) for axis in call.node.inputs[1].array().reshape(-1))
    kept = tuple(1 if i in axes else size for i, size in enumerate(shape))
    dx = call.build.reshaped(dy, kept, call.name("kept"))
    factor = 1.0
    if op.mode is ReduceMode.ReduceMean:
        factor /= prod(shape[axis] for axis in axes)
    if factor != 1.0:
        scale = call.build.constant(call.name("factor"), np.float32(factor))
        dx = call.add(arithmetic.MulFusion(), "scaled", [dx, scale], kept)
    return [call.build.broadcast(dx, shape, call.name("x")), *[None] * (len(call.node.inputs) - 1)]


__all__ = ["RULES", "Call", "NoGradientError", "shape_of"]
