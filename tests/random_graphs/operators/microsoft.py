"""onnxruntime's contrib operators, which exported and optimized models use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, WORLDS, Value
from .indexing import fixed
from .layers import image, weight, window
from .matrices import matrix
from .registry import operator

_DOMAIN = "com.microsoft"


def own(g: Builder, name: str, *operands: Value | None, outputs: Any = 1, **attributes: Any) -> list[Value]:
    """Adds a node of that domain; `name` may include the domain."""
    return g.nodes_results(
        name.removeprefix("com.microsoft."), *operands, outputs=outputs, domain=_DOMAIN, **attributes
    )


def width_of(x: Value) -> int:
    if x.size == 0 or not x.fixed(x.rank - 1):
        raise Rejected("an open axis")
    return x.shape[-1]


@operator("com.microsoft.Gelu", "QuickGelu", since=11)
def function(g: Builder, name: str) -> None:
    own(g, name, g.pick(FLOATS[:1]), alpha=g.choose((None, 1.0)) if name == "QuickGelu" else None)


@operator("BiasGelu", "FastGelu", since=11)
def gelu(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:1], low=1)
    bias = g.operand(x.dtype, (width_of(x),)) if name == "BiasGelu" or g.maybe() else None
    own(g, name, x, bias)


@operator("FusedMatMul", "TransposeMatMul", since=11)
def fused_matmul(g: Builder, name: str) -> None:
    x = g.pick(FLOATS[:1], 2, 4, where=lambda v: v.size > 0 and v.fixed_shape)
    turned = [g.choose((None, 1)) for _ in range(2)]
    inner = x.shape[-2] if turned[0] else x.shape[-1]
    free = g.integer(1, 6)
    lead = g.choose(((), x.shape[:-2]))
    y = matrix(g, x, (*lead, free, inner) if turned[1] else (*lead, inner, free))
    own(g, name, x, y, transA=turned[0], transB=turned[1], alpha=g.choose((None, 0.5)))


@operator("FusedGemm", since=11)
def fused_gemm(g: Builder, name: str) -> None:
    a = g.pick(FLOATS[:1], 2, 2, where=lambda v: v.size > 0)
    columns = g.integer(1, 6)
    b = matrix(g, a, (width_of(a), columns))
    c = g.operand(a.dtype, (columns,)) if g.maybe() else None
    own(g, name, a, b, c, activation=g.choose(("Relu", "Sigmoid", "Tanh")), alpha=g.choose((None, 0.5)))


@operator("FusedConv", since=11)
def fused_conv(g: Builder, name: str) -> None:
    x = image(g, 2, 2)
    attributes = window(g, x)
    out = g.integer(1, 4)
    bias = g.operand(x.dtype, (out,)) if g.maybe() else None
    kind, numbers = g.choose((("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.1])))
    weights = weight(g, x, (out, x.shape[1], *attributes["kernel_shape"]))
    own(g, name, x, weights, bias, activation=kind, activation_params=numbers, **attributes)


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", since=11)
def skip_normalization(g: Builder, name: str) -> None:
    x = g.operand("float32", (g.integer(1, 2), g.integer(1, 4), width := g.integer(2, 9)))
    skip = g.operand("float32", x.shape)
    scale = g.operand("float32", (width,))
    shift = [g.operand("float32", (width,)) if g.maybe() else None] if name == "SkipLayerNormalization" else []
    bias = g.operand("float32", (width,)) if g.maybe() else None
    outputs = [True, False, False, g.maybe()]
    for world in range(WORLDS):
        rows = x.worlds[world] + skip.worlds[world] + (0 if bias is None else bias.worlds[world])
        if np.any(np.abs(np.mean(rows, -1)) > 16 * np.std(rows, -1)):
            raise Rejected("onnxruntime takes the square of the mean from the mean of squares")
    own(g, name, x, skip, scale, *shift, bias, outputs=outputs, epsilon=g.choose((None, 1e-5)))


@operator("EmbedLayerNormalization", since=11)
def embedding(g: Builder, name: str) -> None:
    batch, steps, width, words = g.integer(1, 2), g.integer(1, 5), g.integer(2, 6), g.integer(2, 7)
    ids = g.operand("int32", (batch, steps), 0, words - 1)
    kinds = g.operand("int32", (batch, steps), 0, 1) if g.maybe() else None
    tables = [g.constant_values("float32", (rows, width)) for rows in (words, steps)]
    kind_table = g.constant_values("float32", (2, width)) if kinds else None
    scale, shift = g.constant_values("float32", (width,)), g.constant_values("float32", (width,))
    mask = g.operand("int32", (batch, steps), 0, 1) if g.maybe() else None
    own(g, name, ids, kinds, *tables, kind_table, scale, shift, mask, outputs=2)


@operator("com.microsoft.Attention", since=11)
def attention(g: Builder, name: str) -> None:
    batch, steps, heads, width, full = (
        g.integer(1, 2),
        g.integer(1, 5),
        g.integer(1, 3),
        g.integer(1, 4),
        g.integer(1, 8),
    )
    x = g.operand("float32", (batch, steps, full))
    weights = g.constant_values("float32", (full, 3 * heads * width), -0.5, 0.5)
    bias = g.constant_values("float32", (3 * heads * width,))
    mask = None
    if g.maybe():
        kind = g.integer(0, 2)
        mask = g.operand("int32", (batch,), 1, steps) if kind == 0 else g.operand("int32", (batch, steps), 0, 1)
        if kind > 0 and not mask.always(lambda array: bool(np.all(array[:, 0] == 1))):
            raise Rejected("a step sees nothing: what is left of its numbers beside -10000 is noise")
    own(g, name, x, weights, bias, mask, num_heads=heads, unidirectional=g.choose((None, 1)))


@operator("MultiHeadAttention", since=11)
def heads_attention(g: Builder, name: str) -> None:
    batch, steps, seen, heads, width = (g.integer(1, most) for most in (2, 4, 5, 3, 4))
    shapes = ((batch, steps, heads * width), (batch, seen, heads * width), (batch, seen, heads * width))
    q, k, v = (g.operand("float32", shape) for shape in shapes)
    bias = g.constant_values("float32", (3 * heads * width,)) if g.maybe() else None
    added = g.operand("float32", (batch, heads, steps, seen)) if g.maybe() else None
    own(g, name, q, k, v, bias, None, added, num_heads=heads, scale=g.choose((None, 0.5)))


@operator("GroupQueryAttention", since=11)
def grouped_attention(g: Builder, name: str) -> None:
    batch, steps, heads, width = g.integer(1, 2), g.integer(1, 4), g.choose((2, 4)), g.choose((4, 8, 16))
    held = g.choose((1, 2))
    q = g.operand("float32", (batch, steps, heads * width))
    k, v = (g.operand("float32", (batch, steps, held * width)) for _ in range(2))
    past = [g.constant(np.zeros((batch, held, 0, width), np.float32)) for _ in range(2)] if g.maybe(3) else [None] * 2
    lengths, total = g.constant(np.full(batch, steps - 1, np.int32)), g.constant(steps, "int32")
    tables: list[Value] = []
    if g.maybe():
        tables = [g.constant_values("float32", (8, width // 2), -1.0, 1.0) for _ in range(2)]
    attributes = {"do_rotary": 1 if tables else None, "local_window_size": g.choose((None, None, 2))}
    own(g, name, q, k, v, *past, lengths, total, *tables, outputs=3, num_heads=heads, kv_num_heads=held, **attributes)


@operator("com.microsoft.RotaryEmbedding", since=11)
def rotary(g: Builder, name: str) -> None:
    batch, heads, steps, width = g.integer(1, 2), g.integer(1, 3), g.integer(1, 4), g.choose((4, 2, 8))
    x = g.operand("float32", (batch, heads, steps, width))
    places = g.operand("int64", (batch, steps), 0, 5)
    tables = [g.constant_values("float32", (6, width // 2), -1.0, 1.0) for _ in range(2)]
    own(g, name, x, places, *tables, interleaved=g.choose((None, 1)))


@operator("CDist", since=11)
def distances(g: Builder, name: str) -> None:
    width = g.integer(1, 5)
    one, other = (g.operand("float32", (g.integer(1, 5), width)) for _ in range(2))
    found = own(g, name, one, other, metric=g.choose(("euclidean", "sqeuclidean")))[0]
    if not found.always(lambda array: np.all(array > 0.2)):
        raise Rejected("onnxruntime takes squares of large numbers from each other where points are close")


@operator("ExpandDims", since=11)
def expand_dims(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int32", "int64"), high=4)
    own(g, name, x, g.constant(g.integer(-x.rank, x.rank), "int32"))


@operator("com.microsoft.Trilu", since=11)
def triangle(g: Builder, name: str) -> None:
    k = g.constant(g.integer(-3, 3), "int64") if g.maybe() else None
    own(g, name, g.pick(("float32", "int64"), low=2), k, upper=g.choose((None, 0, 1)))


@operator("com.microsoft.Pad", since=11)
def pad(g: Builder, name: str) -> None:
    x = g.pick(("float32",), low=1)
    pads = g.constant([g.integer(0, 2) for _ in range(2 * x.rank)], "int64")
    own(g, name, x, pads, g.constant_values(x.dtype, ()) if g.maybe() else None)


@operator("com.microsoft.Range", since=11)
def counted(g: Builder, name: str) -> None:
    start, step, count = g.integer(-5, 5), g.choose((1, 2, -1)), g.integer(1, 9)
    dtype = g.choose(("float32", "int64", "int32"))
    own(g, name, *(g.constant(number, dtype) for number in (start, start + step * count, step)))


@operator("com.microsoft.GatherND", since=11)
def gather_nd(g: Builder, name: str) -> None:
    x = fixed(g.pick(("float32", "int64"), low=1))
    depth = g.integer(1, x.rank)
    places = np.stack([np.random.default_rng(axis).integers(0, x.shape[axis], (3,)) for axis in range(depth)], -1)
    own(g, name, x, g.constant(places, "int64"))


@operator("com.microsoft.Unique", since=11)
def unique(g: Builder, name: str) -> None:
    own(g, name, g.pick(FLOATS[:1], 1, 1), outputs=3)


@operator("Inverse", since=11)
def inverse(g: Builder, name: str) -> None:
    size = g.integer(1, 4)
    x = g.input("float32", (*g.shape(g.integer(0, 1)), size, size))
    if not x.always(lambda array: array.size > 0 and array.shape[-1] == array.shape[-2]):
        raise Rejected("onnxruntime crashes")
    own(g, name, g.node("Add", x, g.constant(4 * np.eye(size), "float32")))


@operator("NhwcMaxPool", since=11)
def pool_of_integers(g: Builder, name: str) -> None:
    x = g.operand(g.choose(("uint8", "int8")), (1, g.integer(3, 6), g.integer(3, 6), g.integer(1, 4)))
    own(g, name, x, kernel_shape=[2, 2], strides=g.choose((None, [2, 2])), pads=g.choose((None, [1, 1, 0, 0])))


@operator("ConvTransposeWithDynamicPads", since=11)
def transposed_convolution(g: Builder, name: str) -> None:
    x = image(g, 2, 2)
    weights = weight(g, x, (x.shape[1], g.integer(1, 3), 3, 3))
    own(g, name, x, weights, g.constant([0, 1, 0, 1], "int64"), kernel_shape=[3, 3], strides=[2, 2])


@operator("com.microsoft.GridSample", since=11)
def grid_sample(g: Builder, name: str) -> None:
    x = fixed(g.pick(FLOATS[:1], 4, 4))
    grid = g.operand("float32", (x.shape[0], g.integer(1, 4), g.integer(1, 4), 2), -1.3, 1.3)
    mode, padding = (
        g.choose((None, "bilinear", "nearest", "bicubic")),
        g.choose((None, "zeros", "border", "reflection")),
    )
    own(g, name, x, grid, mode=mode, padding_mode=padding, align_corners=g.choose((None, 1)))
