"""Patterns of exporters: node chains that a converter fuses, moves transposes through, or folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import Value
from .elementwise import clipped
from .layers import conv, image
from .movement import padded, sliced
from .registry import operator

_SAFE = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Neg", "Abs", "Elu")


@operator("transposes")
def transposes(g: Builder, name: str) -> None:
    """NCHW to NHWC, an operator, and back: the layout pass must cancel the transposes."""
    x = g.pick(("float32", "float32", "int32"), 3, 5)
    order = [0, *range(2, x.rank), 1]
    back = [0, x.rank - 1, *range(1, x.rank - 1)]
    y = g.node("Transpose", x, perm=order)
    for _ in range(g.integer(0, 2)):
        kind = g.integer(0, 4)
        if kind == 0 and y.dtype == "float32":
            y = g.node(g.choose(_SAFE), y)
        elif kind == 1:
            y = g.node(g.choose(("Add", "Mul")), y, g.partner(y))
        elif kind == 2:
            y = g.node("Concat", y, y, axis=g.integer(-1, y.rank - 1))
        elif kind == 3:
            y = g.node("ReduceMax", y, keepdims=1, **_axes(g, y))
        else:
            y = padded(g, y, [g.integer(0, 1) for _ in range(2 * y.rank)])
    g.node("Transpose", y, perm=back if not g.maybe(4) else g.permutation(y.rank))


def _axes(g: Builder, x: Value) -> dict[str, Any]:
    if g.opset >= 18:
        return {}
    return {"axes": [g.integer(1, x.rank - 1)]}


@operator("shape arithmetic")
def shape_arithmetic(g: Builder, name: str) -> None:
    """Shape -> Gather/Slice -> arithmetic -> Concat -> Reshape."""
    x = g.pick(("float32", "int32", "float16"), 2, 5, where=lambda v: v.size > 0)
    shape = g.node("Shape", x)
    kind = g.integer(0, 3)
    if kind == 0:
        first = g.node("Gather", shape, g.constant(0, "int64"), axis=0)
        first = g.with_axes("Unsqueeze", first, [0])
        g.node("Reshape", x, g.node("Concat", first, g.constant([-1], "int64"), axis=0))
    elif kind == 1:
        cut = g.integer(1, x.rank - 1)
        head, tail = sliced(g, shape, 0, cut), sliced(g, shape, cut, 2**31)
        product = g.node("ReduceProd", tail, keepdims=1)
        g.node("Reshape", x, g.node("Concat", head, product, axis=0))
    elif kind == 2:
        twice = g.node("Mul", shape, g.constant(np.array([1, *[2] * (x.rank - 1)]), "int64"))
        filled = g.node("ConstantOfShape", twice)
        if x.dtype == "float32":
            g.node("Add", g.node("Expand", g.constant_as_value(1.0), twice), filled)
    else:
        last = g.node("Gather", shape, g.constant([-1], "int64"), axis=0)
        half = g.node("Div", last, g.constant([2], "int64"))
        if g.opset < 10:
            raise Rejected("bounds are attributes")
        g.node("Slice", x, g.constant([0], "int64"), half, g.constant([-1], "int64"))


@operator("convolution block")
def conv_block(g: Builder, name: str) -> None:
    """Convolution, normalization or scale, activation, residual."""
    conv(g, "Conv")
    x = g.values[-1]
    size = (x.shape[1],)
    if g.maybe():
        scale, shift, mean = (g.constant_values(x.dtype, size, 0.5, 1.5) for _ in range(3))
        x = g.node("BatchNormalization", x, scale, shift, mean, g.constant_values(x.dtype, size, 0.5, 1.5))
    elif g.maybe():
        shape = (x.shape[1], *[1] * (x.rank - 2))
        x = g.node(g.choose(("Mul", "Add", "Sub")), x, g.constant_values(x.dtype, shape, 0.5, 1.5))
    kind = g.integer(0, 5)
    if kind < 2:
        x = g.node(g.choose(_SAFE), x)
    elif kind == 2:
        x = g.node("Mul", x, g.node("Sigmoid", x))
    elif kind == 3:
        x = clipped(g, x, 0.0, 6.0)
    elif kind == 4:
        x = g.node("PRelu", x, g.constant_values(x.dtype, (x.shape[1], *[1] * (x.rank - 2)), 0.0, 0.5))
    if g.maybe():
        fits = [v for v in g.values if v.dtype == x.dtype and v.shape == x.shape]
        g.node("Add", x, g.choose(fits))


@operator("attention")
def attention(g: Builder, name: str) -> None:
    """Projections, heads, softmax of scaled scores, and back."""
    batch, steps, heads, width = g.integer(1, 2), g.integer(1, 5), g.integer(1, 3), g.integer(1, 4)
    x = (
        g.pick(("float32",), 3, 3, shape=(batch, steps, heads * width))
        if g.maybe()
        else g.input("float32", (batch, steps, heads * width))
    )
    full = heads * width
    split = g.constant([0, -1, heads, width], "int64")

    def project() -> Value:
        y = g.node("MatMul", x, g.constant_values("float32", (full, full), -0.5, 0.5))
        if g.maybe():
            y = g.node("Add", y, g.constant_values("float32", (full,)))
        return g.node("Transpose", g.node("Reshape", y, split), perm=[0, 2, 1, 3])

    q, k, v = project(), project(), project()
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.node(g.choose(("Div", "Mul")), scores, g.constant(np.sqrt(width), "float32"))
    if g.maybe():
        scores = g.node("Add", scores, g.operand("float32", (steps, steps)))
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
    g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.constant([0, 0, full], "int64"))


@operator("written-out function")
def written_out(g: Builder, name: str) -> None:
    """GELU, LayerNorm, SiLU, HardSwish, softmax and L2 norm in the form of exporters."""
    x = g.pick(("float32",), 1, 4, where=lambda v: v.size > 0)
    kind = g.integer(0, 5)
    if kind == 0:
        y = g.node("Erf", g.node("Div", x, g.constant(np.sqrt(2), "float32")))
        y = g.node("Mul", x, g.node("Add", y, g.constant(1, "float32")))
        g.node("Mul", y, g.constant(0.5, "float32"))
    elif kind == 1:
        mean = _mean(g, x)
        centered = g.node("Sub", x, mean)
        variance = _mean(g, g.node("Pow", centered, g.constant(2, "float32")))
        root = g.node("Sqrt", g.node("Add", variance, g.constant(1e-5, "float32")))
        y = g.node("Div", centered, root)
        if not x.fixed(x.rank - 1):
            raise Rejected("an open axis")
        y = g.node("Mul", y, g.constant_values("float32", x.shape[-1:]))
        g.node("Add", y, g.constant_values("float32", x.shape[-1:]))
    elif kind == 2:
        y = clipped(g, g.node("Add", x, g.constant(3, "float32")), 0.0, 6.0)
        g.node("Div", g.node("Mul", x, y), g.constant(6, "float32"))
    elif kind == 3:
        y = g.node("Exp", g.node("Sub", x, _max(g, x)))
        total = _last(g, "ReduceSum", y)
        g.node("Div", y, total)
    elif kind == 4:
        norm = g.node("Sqrt", _last(g, "ReduceSum", g.node("Mul", x, x)))
        g.node("Div", x, g.node("Max", norm, g.constant(1e-3, "float32")))
    else:
        g.node("Mul", x, g.node("Tanh", g.node("Softplus", x)))


def _mean(g: Builder, x: Value) -> Value:
    return _last(g, "ReduceMean", x)


def _max(g: Builder, x: Value) -> Value:
    return _last(g, "ReduceMax", x)


def _last(g: Builder, name: str, x: Value) -> Value:
    return g.with_axes(name, x, [-1], keepdims=1)


@operator("image block")
def image_block(g: Builder, name: str) -> None:
    """Pool, resize back, concatenate, as in detection networks."""
    x = image(g, 2, 2, 2)
    y = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = g.node(
        "Resize",
        y,
        None,
        g.constant([1, 1, 2, 2], "float32"),
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    if y.shape == x.shape:
        g.node("Concat", x, y, axis=1)
