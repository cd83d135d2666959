"""Functions that emit float arithmetic, shared by decompositions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops._declare import Floats
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.unary import Abs, Cast, Log
from mslite.converter.passes.target.writer import Writer

Function = Callable[[Value], Value]

REMEDY = "Leave out --targetVersion, or export the model without this operator"

_MAX = float(np.finfo(np.float32).max)


def clamp(x: Value, low: float, high: float, writer: Writer) -> Value:
    """Emits x clamped to [low, high]."""
    if low < high and x.dtype is DataType.FLOAT32:
        return activation(ActivationType.HARD_TANH, x, writer, min_val=max(low, -_MAX), max_val=min(high, _MAX))
    return writer.emit(Minimum(), writer.emit(Maximum(), x, number(low, x, writer)), number(high, x, writer))


def activation(kind: ActivationType, x: Value, writer: Writer, **attributes: float) -> Value:
    return writer.emit(Activation(activation_type=kind, **attributes), x)  # type: ignore[arg-type]


def number(value: float, x: Value, writer: Writer) -> Value:
    """Returns a scalar constant with the type and rank of x."""
    return writer.const(np.full((1,) * (x.rank or 0), value), numpy_type(x.dtype))


def linear(x: Value, scale: float, shift: float, writer: Writer) -> Value:
    """Emits scale * x + shift."""
    if scale != 1:
        x = writer.emit(MulFusion(), x, number(scale, x, writer))
    return writer.emit(AddFusion(), x, number(shift, x, writer)) if shift else x


def cast(x: Value, kind: DataType, writer: Writer) -> Value:
    """Emits a cast of x."""
    return writer.emit(Cast(), x, writer.const(int(kind), np.int32, name=f"to_{kind.name.lower()}"))


def as_number(condition: Value, writer: Writer) -> Value:
    """Emits 1 for true, 0 for false, as float32."""
    return cast(condition, DataType.FLOAT32, writer)


_WIDE = 2.0**100


def sign(x: Value, writer: Writer) -> Value:
    """Emits the sign of x, NaN for NaN: scales x so that even the smallest number exceeds 1, then clamps it."""
    for _ in range(2):
        x = clamp(linear(x, _WIDE, 0, writer), -1, 1, writer)
    return x


def log1p(x: Value, writer: Writer) -> Value:
    """Emits ln(1 + x): the logarithm of the rounded sum, corrected by its rounding error."""
    total = linear(x, 1, 1, writer)
    lost = writer.emit(SubFusion(), x, linear(total, 1, -1, writer))
    return writer.emit(AddFusion(), writer.emit(Log(), total), writer.emit(DivFusion(), lost, total))


def require_float(x: Value) -> None:
    """Raises Blocked if x is not float32."""
    if x.dtype is not DataType.FLOAT32:
        raise Blocked(f"the decomposition supports float32 only, not {x.dtype.name.lower()}", REMEDY)


def _affine(x: Value, numbers: list[float], writer: Writer) -> Value:
    return linear(x, numbers[0], numbers[1], writer)


def _hard_sigmoid(x: Value, numbers: list[float], writer: Writer) -> Value:
    return clamp(linear(x, numbers[0], numbers[1], writer), 0, 1, writer)


def _scaled_tanh(x: Value, numbers: list[float], writer: Writer) -> Value:
    y = activation(ActivationType.TANH, linear(x, numbers[1], 0, writer), writer)
    return linear(y, numbers[0], 0, writer)


def softsign(x: Value, writer: Writer) -> Value:
    """Emits x / (1 + |x|)."""
    return writer.emit(DivFusion(), x, linear(writer.emit(Abs(), x), 1, 1, writer))


def _kind(kind: ActivationType, x: Value, numbers: list[float], writer: Writer) -> Value:
    return activation(kind, x, writer, **({"alpha": numbers[0]} if numbers else {}))


_FORMULAS: dict[str, tuple[tuple[float, ...], Callable[[Value, list[float], Writer], Value]]] = {
    "Sigmoid": ((), partial(_kind, ActivationType.SIGMOID)),
    "Tanh": ((), partial(_kind, ActivationType.TANH)),
    "Relu": ((), partial(_kind, ActivationType.RELU)),
    "Affine": ((1, 0), _affine),
    "LeakyRelu": ((0.01,), partial(_kind, ActivationType.LEAKY_RELU)),
    "ThresholdedRelu": ((1,), partial(_kind, ActivationType.THRESHOLDRELU)),
    "ScaledTanh": ((1, 1), _scaled_tanh),
    "HardSigmoid": ((0.2, 0.5), _hard_sigmoid),
    "Elu": ((1,), partial(_kind, ActivationType.ELU)),
    "Softsign": ((), lambda x, numbers, writer: softsign(x, writer)),
    "Softplus": ((), partial(_kind, ActivationType.SOFTPLUS)),
}
"""ONNX's activations of recurrent layers -> default alpha and beta, and the function that emits them."""


def recurrent_functions(names: list[str], alphas: Floats, betas: Floats, writer: Writer) -> list[Function]:
    """Returns the named functions; alphas and betas are used in order by those that need them. Raises Blocked for
    unknown names."""
    lists = [list(alphas or ()), list(betas or ())]
    functions: list[Function] = []
    for name in names:
        if name not in _FORMULAS:
            raise Blocked(f"its activation {name} is not supported", "Export it with another activation")
        defaults, formula = _FORMULAS[name]
        numbers = [given.pop(0) if given else default for given, default in zip(lists, defaults, strict=False)]
        functions.append(partial(_call, formula, numbers, writer))
    return functions


def _call(
    formula: Callable[[Value, list[float], Writer], Value], numbers: list[float], writer: Writer, x: Value
) -> Value:
    return formula(x, numbers, writer)
