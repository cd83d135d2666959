"""Element-wise operators, computed with onnxruntime's operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.enums import ActivationType, EltwiseMode
from tests.kernels.random_calls import Call, Draw, axis_of, broadcast_pair, normal, shapes, typed

from .graph import Array, Graph, run
from .registry import compared

_DOMAINS = {
    "Log": (0.1, 3),
    "Sqrt": (0, 3),
    "Rsqrt": (0.1, 3),
    "Acos": (-1, 1),
    "Asin": (-1, 1),
    "Atanh": (-0.9, 0.9),
    "Acosh": (1, 3),
    "Log1p": (-0.5, 3),
    "Reciprocal": (0.5, 3),
    "Tan": (-1, 1),
}


@st.composite
def one_tensor(draw: Draw, name: str) -> Call:
    return Call(OPERATORS[name](), (normal(draw, draw(shapes()), *_DOMAINS.get(name, (-2, 2))),))


_SAME_NAME = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Floor", "Log", "Mish"),
    *("Neg", "Reciprocal", "Round", "Sign", "Sin", "Sinh", "Sqrt", "Tan"),
)


@compared(*_SAME_NAME, strategy=one_tensor)
def unary(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run(op.name, *inputs)


@compared("Log1p", "Rsqrt", "Square", strategy=one_tensor)
def composed(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    if op.name == "Log1p":
        return graph.run(graph("Log", graph("Add", x, 1.0)))
    return graph.run(graph("Mul", x, x) if op.name == "Square" else graph("Reciprocal", graph("Sqrt", x)))


@st.composite
def special_numbers(draw: Draw, name: str) -> Call:
    x = normal(draw, draw(shapes()))
    for value in (np.nan, np.inf, -np.inf):
        x[np.asarray(typed(draw, x.shape, ("bool",)))] = value
    signs = {key: draw(st.booleans()) for key in ("detect_negative", "detect_positive")} if name == "IsInf" else {}
    return Call(OPERATORS[name](**signs), (x,))


@compared("IsNaN", "IsInf", "IsFinite", strategy=special_numbers)
def classify(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    if op.name == "IsNaN":
        return graph.run(graph("IsNaN", x))
    if op.name == "IsInf":
        signs = {"detect_negative": int(op.detect_negative), "detect_positive": int(op.detect_positive)}
        return graph.run(graph("IsInf", x, **signs))
    return graph.run(graph("Not", graph("Or", graph("IsNaN", x), graph("IsInf", x))))


@st.composite
def truths(draw: Draw, name: str) -> Call:
    kinds = ("bool",) if name == "LogicalNot" else ("int8", "int16", "int32", "int64")
    return Call(OPERATORS[name](), (typed(draw, draw(shapes()), kinds),))


@compared("LogicalNot", "BitwiseNot", strategy=truths)
def negated(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("Not" if op.name == "LogicalNot" else op.name, *inputs)


@st.composite
def exponentials(draw: Draw, name: str) -> Call:
    numbers = {"base": draw(st.sampled_from((-1.0, 2.0, 0.5, 10.0)))}
    numbers |= {key: draw(st.sampled_from((1.0, -0.5, 0.0, 1.5))) for key in ("scale", "shift")}
    return Call(OPERATORS[name](**numbers), (normal(draw, draw(shapes())),))


@compared("ExpFusion", strategy=exponentials)
def exponential(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    y = graph("Add", graph("Mul", inputs[0], op.scale), op.shift)
    return graph.run(graph("Exp", y) if op.base == -1 else graph("Pow", op.base, y))


@st.composite
def limits(draw: Draw, name: str) -> Call:
    x = typed(draw, draw(shapes()), ("float32", "int8", "int32", "int64"))
    low, high = sorted(draw(st.integers(-9, 9)) for _ in range(2))
    if draw(st.booleans()) and x.dtype == np.float32:
        return Call(OPERATORS[name](min=float(low), max=float(high)), (x,))
    return Call(OPERATORS[name](), (x, np.asarray(low, x.dtype), np.asarray(high, x.dtype)))


@compared("Clip", strategy=limits)
def clip(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    bounds = inputs[1:] or [np.float32(op.min), np.float32(op.max)]
    return run("Clip", inputs[0], *bounds)


@st.composite
def casts(draw: Draw, name: str) -> Call:
    kinds = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")
    x = np.abs(typed(draw, draw(shapes()), ("float32",)) * 50).astype(draw(st.sampled_from(kinds)))
    number = np.asarray(int(data_type_of(np.dtype(draw(st.sampled_from(kinds))))), np.int32)
    return Call(OPERATORS[name](), (x, number), (1,), 0.0)


@compared("Cast", strategy=casts)
def cast(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    from mslite.converter.mindir.graph import numpy_type
    from mslite.converter.mindir.ops.enums import DataType

    like = np.zeros(0, numpy_type(DataType(int(inputs[1]))))
    return run("CastLike", inputs[0], like)


# ---- binary operators ----

_ARITHMETIC = {"AddFusion": "Add", "SubFusion": "Sub", "MulFusion": "Mul", "DivFusion": "Div", "RealDiv": "Div"}
_ARITHMETIC |= {"Maximum": "Max", "Minimum": "Min", "Mod": "Mod"}
_COMPARISONS = {"Equal": "Equal", "Greater": "Greater", "GreaterEqual": "GreaterOrEqual", "Less": "Less"}
_COMPARISONS |= {"LessEqual": "LessOrEqual"}
_LOGIC = {"LogicalAnd": "And", "LogicalOr": "Or", "LogicalXor": "Xor"}
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
_FUSED = (ActivationType.NO_ACTIVATION, ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6)


@st.composite
def pairs(draw: Draw, name: str) -> Call:
    a, b = broadcast_pair(draw)
    kinds: tuple[str, ...] = ("float32", "int32", "int64")
    if name in _LOGIC:
        kinds = ("bool",)
    elif name in _BITS:
        kinds = ("int8", "uint8", "int32", "int64")
    elif name in ("Atan2", "BiasAdd"):
        kinds = ("float32",)
    elif name in ("ShiftLeft", "ShiftRight"):
        kinds = ("uint8", "uint32", "uint64")
    first = typed(draw, a, kinds)
    second = typed(draw, b, (str(first.dtype),))
    if kinds[0] == "uint8" and name.startswith("Shift"):
        second = second % first.dtype.type(7)
    if "Div" in name or "Mod" in name:
        second = np.where(np.abs(second) < 0.25, second.dtype.type(1), second)
    attributes = {}
    if name in ("AddFusion", "SubFusion", "MulFusion", "DivFusion") and first.dtype == np.float32:
        attributes["activation_type"] = draw(st.sampled_from(_FUSED))
    return Call(OPERATORS[name](**attributes), (first, second))


def activated(graph: Graph, kind: ActivationType, y: str) -> str:
    """Activations that are fused into other operators."""
    if kind is ActivationType.RELU:
        return str(graph("Relu", y))
    return str(graph("Clip", y, 0.0, 6.0)) if kind is ActivationType.RELU6 else y


@compared(*_ARITHMETIC, *_COMPARISONS, *_LOGIC, *_BITS, "NotEqual", strategy=pairs)
def binary(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    if op.name == "NotEqual":
        return graph.run(graph("Not", graph("Equal", *inputs)))
    name = (_ARITHMETIC | _COMPARISONS | _LOGIC).get(op.name, op.name)
    y = graph(name, *inputs, **({"fmod": 1} if name == "Mod" else {}))
    return graph.run(activated(graph, getattr(op, "activation_type", ActivationType.NO_ACTIVATION), y))


@compared("ShiftLeft", "ShiftRight", strategy=pairs)
def shift(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("BitShift", *inputs, direction=op.name.removeprefix("Shift").upper())


@compared("FloorDiv", "FloorMod", "SquaredDifference", "Atan2", strategy=pairs)
def composed_of_two(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (a, b) = Graph(), inputs
    real = a.dtype.kind == "f"
    if op.name == "SquaredDifference":
        difference = graph("Sub", a, b)
        return graph.run(graph("Mul", difference, difference))
    if op.name == "Atan2":
        half = graph("Where", graph("Less", a, 0.0), -math.pi, math.pi)
        turn = graph("Where", graph("Less", b, 0.0), half, 0.0)
        return graph.run(graph("Add", graph("Atan", graph("Div", a, b)), turn))
    if not real:
        rest = graph("Mod", a, b)
        return graph.run(rest if op.name == "FloorMod" else graph("Div", graph("Sub", a, rest), b))
    floor = graph("Floor", graph("Div", a, b))
    return graph.run(floor if op.name == "FloorDiv" else graph("Sub", a, graph("Mul", floor, b)))


@st.composite
def powers(draw: Draw, name: str) -> Call:
    a, b = broadcast_pair(draw)
    numbers = {"scale": draw(st.sampled_from((1.0, 0.5))), "shift": draw(st.sampled_from((0.0, 1.5)))}
    return Call(OPERATORS[name](**numbers), (normal(draw, a, 0.1, 2), normal(draw, b)))


@compared("PowFusion", strategy=powers)
def power(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    return graph.run(graph("Pow", graph("Add", graph("Mul", inputs[0], op.scale), op.shift), inputs[1]))


@st.composite
def sums(draw: Draw, name: str) -> Call:
    shape = draw(shapes())
    count = 2 if name == "Eltwise" else draw(st.integers(1, 4))
    attributes = {"mode": draw(st.sampled_from(list(EltwiseMode)[:3]))} if name == "Eltwise" else {}
    kinds = ("float32", "int32")
    first = typed(draw, shape, kinds)
    return Call(
        OPERATORS[name](**attributes), (first, *(typed(draw, shape, (str(first.dtype),)) for _ in range(count - 1)))
    )


@compared("AddN", "Eltwise", strategy=sums)
def summed(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    mode = getattr(op, "mode", EltwiseMode.SUM)
    name = {EltwiseMode.PROD: "Mul", EltwiseMode.SUM: "Add", EltwiseMode.MAXIMUM: "Max"}[mode]
    y = graph("Identity", inputs[0])
    for x in inputs[1:]:
        y = graph(name, y, x)
    return graph.run(y)


@st.composite
def scaled(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 5, 1, 5))
    x = normal(draw, shape)
    if name == "BiasAdd":
        return Call(OPERATORS[name](), (x, normal(draw, shape[-1:])))
    first = draw(st.integers(0, len(shape) - 1))
    last = draw(st.integers(first + 1, len(shape)))
    operands = [normal(draw, shape[first:last]) for _ in range(draw(st.integers(1, 2)))]
    kind = draw(st.sampled_from(_FUSED))
    axis = first - (len(shape) if draw(st.booleans()) else 0)
    return Call(OPERATORS[name](axis=axis, activation_type=kind), (x, *operands))


@compared("BiasAdd", "ScaleFusion", strategy=scaled)
def scale(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, *operands) = Graph(), inputs
    if op.name == "BiasAdd":
        return graph.run(graph("Add", x, operands[0]))
    behind = x.ndim - op.axis % x.ndim - operands[0].ndim
    axes = list(range(-behind, 0))
    wide = [graph("Unsqueeze", array, np.array(axes, np.int64)) if axes else array for array in operands]
    y = graph("Mul", x, wide[0])
    y = graph("Add", y, wide[1]) if len(wide) > 1 else y
    return graph.run(activated(graph, op.activation_type, y))


@st.composite
def selections(draw: Draw, name: str) -> Call:
    a, b = broadcast_pair(draw)
    if name == "Select":
        a = b
    if name == "NonZero":
        return Call(OPERATORS[name](), (typed(draw, draw(shapes(1)), ("bool", "int32", "float32")),))
    condition = typed(draw, a, ("bool",))
    first = typed(draw, a, ("float32", "int32", "int64"))
    return Call(OPERATORS[name](), (condition, first, typed(draw, b, (str(first.dtype),))))


@compared("Where", "Select", "NonZero", strategy=selections)
def where(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    if op.name == "NonZero":
        return graph.run(graph("Transpose", graph("NonZero", inputs[0]), perm=[1, 0]))
    return graph.run(graph("Where", *inputs))


# ---- activations ----


def _gelu(graph: Graph, op: Any, x: Array) -> str:
    return str(graph("Gelu", x, approximate="tanh" if op.approximate else "none"))


_KINDS: dict[ActivationType, Callable[[Graph, Any, Array], str]] = {
    ActivationType.RELU: lambda g, op, x: g("Relu", x),
    ActivationType.SIGMOID: lambda g, op, x: g("Sigmoid", x),
    ActivationType.RELU6: lambda g, op, x: g("Clip", x, 0.0, 6.0),
    ActivationType.ELU: lambda g, op, x: g("Elu", x, alpha=op.alpha),
    ActivationType.LEAKY_RELU: lambda g, op, x: g("LeakyRelu", x, alpha=op.alpha),
    ActivationType.ABS: lambda g, op, x: g("Abs", x),
    ActivationType.RELU1: lambda g, op, x: g("Clip", x, -1.0, 1.0),
    ActivationType.SOFTSIGN: lambda g, op, x: g("Softsign", x),
    ActivationType.SOFTPLUS: lambda g, op, x: g("Softplus", x),
    ActivationType.TANH: lambda g, op, x: g("Tanh", x),
    ActivationType.SELU: lambda g, op, x: g("Selu", x),
    ActivationType.HSWISH: lambda g, op, x: g("HardSwish", x),
    ActivationType.HSIGMOID: lambda g, op, x: g("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    ActivationType.THRESHOLDRELU: lambda g, op, x: g("ThresholdedRelu", x, alpha=op.alpha),
    ActivationType.LINEAR: lambda g, op, x: g("Identity", x),
    ActivationType.HARD_TANH: lambda g, op, x: g("Clip", x, op.min_val, op.max_val),
    ActivationType.SIGN: lambda g, op, x: g("Sign", x),
    ActivationType.SWISH: lambda g, op, x: g("Mul", x, g("Sigmoid", x)),
    ActivationType.GELU: _gelu,
    ActivationType.FAST_GELU: lambda g, op, x: g("Gelu", x, approximate="tanh"),
}


@st.composite
def activations(draw: Draw, name: str) -> Call:
    attributes = {"activation_type": draw(st.sampled_from(list(_KINDS))), "approximate": draw(st.booleans())}
    op = OPERATORS[name](alpha=0.3, min_val=-0.5, max_val=0.75, **attributes)
    return Call(op, (normal(draw, draw(shapes()), -4, 4),))


@compared("Activation", strategy=activations)
def activation(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    return graph.run(_KINDS[op.activation_type](graph, op, inputs[0]))


_PARAMETERS: dict[str, dict[str, str]] = {
    "Elu": {"alpha": "alpha"},
    "LeakyRelu": {"negative_slope": "alpha"},
    "Celu": {"alpha": "alpha"},
    "Selu": {"alpha": "alpha", "gamma": "gamma"},
    "Shrink": {"bias": "bias", "threshold": "lambd"},
    "HardSigmoid": {"alpha": "alpha", "beta": "beta"},
}


@st.composite
def rectifiers(draw: Draw, name: str) -> Call:
    numbers = {key: draw(st.sampled_from((0.2, 0.7, 1.4))) for key in _PARAMETERS[name]}
    return Call(OPERATORS[name](**numbers), (normal(draw, draw(shapes()), -4, 4),))


@compared(*_PARAMETERS, strategy=rectifiers)
def rectifier(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run(op.name, *inputs, **{theirs: getattr(op, ours) for ours, theirs in _PARAMETERS[op.name].items()})


@st.composite
def slopes(draw: Draw, name: str) -> Call:
    shape = draw(shapes(2, 5, 1, 6))
    return Call(OPERATORS[name](), (normal(draw, shape), normal(draw, draw(st.sampled_from(((1,), shape[-1:]))))), (1,))


@compared("PReLUFusion", strategy=slopes)
def sloped(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("PRelu", *inputs)


@st.composite
def along_an_axis(draw: Draw, name: str) -> Call:
    shape = list(draw(shapes(1, 5, 1, 6)))
    axis = axis_of(draw, len(shape))
    if name == "GLU":
        shape[axis] *= 2
    return Call(OPERATORS[name](axis=(axis,) if name == "Softmax" else axis), (normal(draw, tuple(shape)),))


@compared("Softmax", "LogSoftmax", "Hardmax", "GLU", strategy=along_an_axis)
def softmax(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    if op.name == "GLU":
        graph = Graph()
        value, gate = graph("Split", inputs[0], outputs=2, axis=op.axis, num_outputs=2)
        return graph.run(graph("Mul", value, graph("Sigmoid", gate)))
    return run(op.name, *inputs, axis=op.axis[0] if op.name == "Softmax" else op.axis)
