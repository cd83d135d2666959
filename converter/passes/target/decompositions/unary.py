"""Decompositions of unary functions: hyperbolic and inverse functions, logarithms, rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.activation import Elu
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Equal, Greater
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Abs, Cos, ExpFusion, Floor, Log, Neg, Sin, Sqrt, Square
from mslite.converter.passes.target.decompositions.float_arithmetic import (
    activation,
    as_number,
    clamp,
    linear,
    log1p,
    number,
    require_float,
    sign,
)
from mslite.converter.passes.target.writer import Writer, decomposes

_LARGE = 1e9
"""Above it the inverse hyperbolic sine is computed as the logarithm of 2x."""
_WHOLE = 2.0**23
"""All float32 values from here on are integers."""
_ARCTANGENT = (
    0.9999998864, -0.3333259707, 0.1998590719, -0.1416123096, 0.1049894991, -0.07234861727, 0.03978124649, -0.01440136003,
    0.002456722963,
)  # fmt: skip
"""Coefficients of t, t^3, t^5, ... for atan on [0, 1]: a weighted least-squares fit with an error below 6e-9."""


def _known(node: Node) -> Value:
    require_float(node.inputs[0])
    return node.inputs[0]


@decomposes("Sinh")
def hyperbolic_sine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """sinh is sign(x) * (1 - e) * (1 + e) / (2 * e) with e = exp(-|x|); ELU computes 1 - e without cancellation for
    small x."""
    x = _known(node)
    below = writer.emit(Neg(), writer.emit(Abs(), x))
    e = writer.emit(ExpFusion(), below)
    rest = writer.emit(MulFusion(), writer.emit(Elu(alpha=1), below), linear(e, 1, 1, writer))
    size = writer.emit(DivFusion(), rest, linear(e, -2, 0, writer))
    return [writer.emit(MulFusion(), size, sign(x, writer))]


@decomposes("Cosh")
def hyperbolic_cosine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = _known(node)
    both = writer.emit(AddFusion(), writer.emit(ExpFusion(), x), writer.emit(ExpFusion(), writer.emit(Neg(), x)))
    return [linear(both, 0.5, 0, writer)]


@decomposes("Tan")
def tangent(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = _known(node)
    return [writer.emit(DivFusion(), writer.emit(Sin(), x), writer.emit(Cos(), x))]


def arctangent_of_positive(x: Value, writer: Writer) -> Value:
    """Emits atan of non-negative x, from x or 1 / x, whichever is in [0, 1]."""
    one = number(1, x, writer)
    t = writer.emit(DivFusion(), writer.emit(Minimum(), x, one), writer.emit(Maximum(), x, one))
    square = writer.emit(Square(), t)
    y = linear(square, _ARCTANGENT[-1], _ARCTANGENT[-2], writer)
    for coefficient in _ARCTANGENT[-3::-1]:
        y = linear(writer.emit(MulFusion(), y, square), 1, coefficient, writer)
    y = writer.emit(MulFusion(), y, t)
    turned = as_number(writer.emit(Greater(), x, one), writer)
    added = writer.emit(MulFusion(), turned, linear(y, -2, math.pi / 2, writer))
    return writer.emit(AddFusion(), y, added)


def _odd(size: Value, x: Value, writer: Writer) -> Value:
    return writer.emit(MulFusion(), size, sign(x, writer))


@decomposes("Atan")
def arctangent(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = _known(node)
    return [_odd(arctangent_of_positive(writer.emit(Abs(), x), writer), x, writer)]


@decomposes("Asin")
def arcsine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """asin is sign(x) * atan(|x| / sqrt(1 - x^2)). x is clamped to [-1, 1], because square root kernels fail for
    negative numbers."""
    x = _known(node)
    size = writer.emit(Abs(), x)
    square = writer.emit(MulFusion(), linear(size, -1, 1, writer), linear(size, 1, 1, writer))
    root = writer.emit(Sqrt(), activation(ActivationType.RELU, square, writer))
    return [_odd(arctangent_of_positive(writer.emit(DivFusion(), size, root), writer), x, writer)]


@decomposes("Acos")
def arccosine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """acos is 2 * atan(sqrt((1 - x) / (1 + x))), with x clamped to [-1, 1]."""
    x = clamp(_known(node), -1, 1, writer)
    share = writer.emit(DivFusion(), linear(x, -1, 1, writer), linear(x, 1, 1, writer))
    return [linear(arctangent_of_positive(writer.emit(Sqrt(), share), writer), 2, 0, writer)]


@decomposes("Asinh")
def inverse_hyperbolic_sine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """asinh is sign(x) * log1p(a + a^2 / (1 + sqrt(a^2 + 1))) with a = |x|, clamped to a bound; the logarithm of the
    excess is added."""
    x = _known(node)
    size = writer.emit(Abs(), x)
    a = writer.emit(Minimum(), size, number(_LARGE, x, writer))
    square = writer.emit(Square(), a)
    root = writer.emit(Sqrt(), linear(square, 1, 1, writer))
    rest = writer.emit(DivFusion(), square, linear(root, 1, 1, writer))
    beyond = writer.emit(Maximum(), linear(size, 1 / _LARGE, 0, writer), number(1, x, writer))
    inner = log1p(writer.emit(AddFusion(), a, rest), writer)
    return [_odd(writer.emit(AddFusion(), inner, writer.emit(Log(), beyond)), x, writer)]


@decomposes("Acosh")
def inverse_hyperbolic_cosine(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """acosh is log1p(d + sqrt(d * (d + 2))) with d = x - 1, 0 below 1, clamped to a bound; the logarithm of the excess
    is added."""
    x = _known(node)
    near = writer.emit(Minimum(), x, number(_LARGE, x, writer))
    d = activation(ActivationType.RELU, linear(near, 1, -1, writer), writer)
    root = writer.emit(Sqrt(), writer.emit(MulFusion(), d, linear(d, 1, 2, writer)))
    beyond = writer.emit(Maximum(), linear(x, 1 / _LARGE, 0, writer), number(1, x, writer))
    inner = log1p(writer.emit(AddFusion(), d, root), writer)
    return [writer.emit(AddFusion(), inner, writer.emit(Log(), beyond))]


@decomposes("Atanh")
def inverse_hyperbolic_tangent(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """atanh is sign(x) * log1p(2a / (1 - a)) / 2 with a = |x|; infinite for a >= 1."""
    x = _known(node)
    a = writer.emit(Abs(), x)
    rest = activation(ActivationType.RELU, linear(a, -1, 1, writer), writer)
    inner = log1p(writer.emit(DivFusion(), linear(a, 2, 0, writer), rest), writer)
    return [_odd(linear(inner, 0.5, 0, writer), x, writer)]


@decomposes("Log1p")
def logarithm_of_more(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    return [log1p(_known(node), writer)]


@decomposes("Reciprocal")
def reciprocal(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = _known(node)
    return [writer.emit(DivFusion(), number(1, x, writer), x)]


@decomposes("Rsqrt")
def reciprocal_root(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    x = _known(node)
    return [writer.emit(DivFusion(), number(1, x, writer), writer.emit(Sqrt(), x))]


@decomposes("Round")
def round_half_to_even(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    """Rounds half to even: floor(x), plus one if the fraction is over a half, or is a half and the integer is odd."""
    x = _known(node)
    near = clamp(x, -_WHOLE, _WHOLE, writer)  # larger numbers are integers; avoids differences of infinities
    below = writer.emit(Floor(), near)
    rest, half = writer.emit(SubFusion(), near, below), number(0.5, x, writer)
    pairs = linear(writer.emit(Floor(), linear(below, 0.5, 0, writer)), 2, 0, writer)
    is_odd = writer.emit(SubFusion(), below, pairs)
    is_half = as_number(writer.emit(Equal(), rest, half), writer)
    tie = writer.emit(MulFusion(), is_half, is_odd)
    more = writer.emit(AddFusion(), as_number(writer.emit(Greater(), rest, half), writer), tie)
    return [writer.emit(AddFusion(), writer.emit(Floor(), x), more)]
