"""Normalizations with parameters."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, Value
from .layers import image
from .registry import operator


@operator("BatchNormalization")
def batch(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:2], 2, 5, where=lambda v: v.fixed(1)) if g.maybe(3) else image(g)
    size = (x.shape[1],)
    make = g.operand if g.maybe(5) else g.constant_values
    scale, shift, mean = (make(x.dtype, size, -1.0, 1.5) for _ in range(3))
    variance = make(x.dtype, size, 0.25, 2.0)
    g.node(name, x, scale, shift, mean, variance, epsilon=g.choose((None, 1e-3)))


def several_pixels(x: Value) -> Value:
    """The normalization of a single value amplifies rounding errors by 1 / sqrt(epsilon)."""
    if np.prod(x.shape[2:]) < 2:
        raise Rejected("nothing to normalize")
    return x


@operator("InstanceNormalization")
def instance(g: Builder, name: str) -> None:
    x = several_pixels(image(g))
    size = (x.shape[1],)
    g.node(name, x, g.operand(x.dtype, size, 0.5, 1.5), g.operand(x.dtype, size), epsilon=g.choose((None, 1e-3)))


@operator("GroupNormalization", since=21)
def group(g: Builder, name: str) -> None:
    x = several_pixels(image(g))
    groups = g.choose([n for n in (1, 2, x.shape[1]) if x.shape[1] % n == 0])
    size = (x.shape[1],)
    g.node(name, x, g.operand(x.dtype, size), g.operand(x.dtype, size), num_groups=groups)


@operator("LayerNormalization", since=17)
def layer(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:2], low=1)
    axis = g.integer(0, x.rank - 1)
    if not all(x.fixed(i) for i in range(axis, x.rank)):
        raise Rejected("an open axis")
    size = x.shape[axis:]
    bias = g.operand(x.dtype, size) if g.maybe() else None
    outputs = [True, g.maybe(8), g.maybe(8)]
    g.nodes_results(name, x, g.operand(x.dtype, size), bias, outputs=outputs, axis=axis - x.rank if g.maybe() else axis)


@operator("RMSNormalization", since=23)
def root_mean_square(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:1], low=1)
    axis = g.integer(0, x.rank - 1)
    if not all(x.fixed(i) for i in range(axis, x.rank)):
        raise Rejected("an open axis")
    g.node(name, x, g.operand(x.dtype, x.shape[axis:]), axis=axis - x.rank if g.maybe() else axis)


@operator("LRN")
def local_response(g: Builder, name: str) -> None:
    x = image(g, 2, 2)
    g.node(
        name,
        x,
        size=g.choose((3, 1, 5)),
        alpha=g.choose((None, 0.1)),
        beta=g.choose((None, 0.5)),
        bias=g.choose((None, 2.0)),
    )
