"""Operators of newer opsets, or that few models use."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..values import FLOATS, TYPES, Value
from .elementwise import np_element
from .indexing import fixed
from .layers import image
from .reductions import axis_of
from .registry import operator


@operator("Swish", since=24)
def swish(g: Builder, name: str) -> None:
    g.node(name, g.pick(FLOATS[:2]), alpha=g.choose((None, 0.5, 1.5)))


@operator("CastLike", since=15)
def cast_like(g: Builder, name: str) -> None:
    x = g.pick(("int32", "int64", "bool", "uint8", "float16", "float32"))
    like = g.pick(FLOATS) if x.dtype in FLOATS else g.pick(TYPES)
    g.node(name, x, like)


@operator("CumProd", since=26)
def running_product(g: Builder, name: str) -> None:
    x = g.pick((*FLOATS, "int32", "int64"), low=1, where=lambda v: v.size < 100)
    axis = g.constant(axis_of(g, x), g.choose(("int64", "int32")))
    g.node(name, x, axis, exclusive=g.choose((None, 0, 1)), reverse=g.choose((None, 0, 1)))


@operator("BitCast", since=26)
def reread(g: Builder, name: str) -> None:
    kinds = {
        "int32": ("uint32", "float32"),
        "uint8": ("int8",),
        "int64": ("uint64", "float64"),
        "float32": ("float32",),
    }
    x = g.operand(g.choose(tuple(kinds)), g.shape(), 0, 8)
    g.node(name, x, to=np_element(g.choose(kinds[x.dtype])))


@operator("CenterCropPad", since=18)
def centered(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int32", "uint8"), low=1, high=4)
    axes = [axis for axis in range(x.rank) if x.fixed(axis) and g.maybe()] or [x.rank - 1]
    sizes = [max(1, x.shape[axis] + g.integer(-2, 3)) for axis in axes]
    g.node(name, x, g.constant(sizes, "int64"), axes=None if axes == list(range(x.rank)) else axes)


@operator("AffineGrid", since=20)
def affine_grid(g: Builder, name: str) -> None:
    rank = g.choose((2, 3))
    batch = g.integer(1, 2)
    theta = g.operand("float32", (batch, rank, rank + 1), -1.0, 1.0)
    sizes = [batch, g.integer(1, 3), *(g.integer(2, 5) for _ in range(rank))]
    g.node(name, theta, g.constant(sizes, "int64"), align_corners=g.choose((None, 0, 1)))


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", since=12)
def loss(g: Builder, name: str) -> None:
    batch, classes = g.integer(1, 4), g.integer(2, 6)
    rest = g.choose(((), (), (3,), (2, 3)))
    scores = g.operand("float32", (batch, classes, *rest))
    labels = g.operand(g.choose(("int64", "int32")), (batch, *rest), 0, classes - 1)
    weights = g.operand("float32", (classes,), 0.5, 2.0) if g.maybe() else None
    ignored = g.choose((None, 0, -1))
    how = g.choose((None, "mean", "sum", "none"))
    outputs = 2 if name == "SoftmaxCrossEntropyLoss" and g.maybe() else 1
    g.nodes_results(name, scores, labels, weights, outputs=outputs, ignore_index=ignored, reduction=how)


@operator("HannWindow", "HammingWindow", "BlackmanWindow", since=17)
def weights_of_a_window(g: Builder, name: str) -> None:
    g.node(name, g.constant(g.integer(3, 20), g.choose(("int64", "int32"))), periodic=g.choose((None, 0, 1)))


@operator("MelWeightMatrix", since=17)
def mel(g: Builder, name: str) -> None:
    bands, length, rate = g.integer(2, 8), g.choose((16, 32)), g.choose((8000, 16000))
    numbers = [g.constant(number, "int64") for number in (bands, length, rate)]
    low, high = g.constant(float(g.choose((0, 100))), "float32"), g.constant(rate / 2.5, "float32")
    g.node(name, *numbers, low, high)


@operator("DFT", since=17)
def fourier(g: Builder, name: str) -> None:
    shape = (*g.shape(g.integer(1, 2)), g.integer(2, 9), g.choose((1, 2)))
    x = g.operand("float32", shape)
    axis = g.choose([i for i in range(len(shape) - 1) if shape[i] > 1])
    length = g.constant(g.integer(2, 9), "int64") if g.maybe(3) else None
    kind = g.choose(("plain", "onesided", "inverse"))
    one, inverse = (1, None) if kind == "onesided" and shape[-1] == 1 else (None, 1 if kind == "inverse" else None)
    if g.opset >= 20:
        g.node(name, x, length, g.constant(axis, "int64"), onesided=one, inverse=inverse)
    else:
        g.node(name, x, length, axis=axis, onesided=one, inverse=inverse)


@operator("STFT", since=17)
def spectrogram(g: Builder, name: str) -> None:
    batch, length, frame = g.integer(1, 2), g.integer(16, 32), g.choose((8, 4, 6))
    x = g.operand("float32", (batch, length, 1))
    window = g.constant_values("float32", (frame,), 0.1, 1.0) if g.maybe() else None
    frame_length = g.constant(frame, "int64") if window is None or g.maybe() else None
    g.node(name, x, g.constant(g.integer(2, 5), "int64"), window, frame_length, onesided=g.choose((None, 0, 1)))


@operator("MaxRoiPool")
def regions(g: Builder, name: str) -> None:
    x = fixed(image(g, 2, 2, 3))
    count = g.integer(1, 3)
    rng = np.random.default_rng(g.integer(0, 1000))
    low = rng.integers(0, 2, (count, 2))
    found = np.concatenate([rng.integers(0, x.shape[0], (count, 1)), low, low + rng.integers(1, 4, (count, 2))], 1)
    g.node(name, x, g.constant(found, "float32"), pooled_shape=[g.integer(1, 3), g.integer(1, 3)])


@operator("Scatter", since=9, until=10)
def scatter(g: Builder, name: str) -> None:
    x = fixed(g.pick(("float32", "int32", "int64"), low=1))
    axis = g.integer(0, x.rank - 1)
    shape = [*x.shape]
    shape[axis] = g.integer(1, x.shape[axis])
    line = np.random.default_rng(g.integer(0, 1000)).permutation(x.shape[axis])[: shape[axis]]
    places = np.moveaxis(np.broadcast_to(line, (*shape[:axis], *shape[axis + 1 :], len(line))), -1, axis)
    g.node(name, x, g.constant(places, "int64"), g.operand(x.dtype, shape), axis=axis)


@operator("Upsample", until=9)
def upsample(g: Builder, name: str) -> None:
    x = image(g, 2, 2)
    scales = [1.0, 1.0, g.choose((2.0, 1.0, 3.0)), g.choose((2.0, 1.0, 1.5))]
    mode = g.choose((None, "nearest", "linear"))
    if g.opset < 9:
        g.node(name, x, scales=scales, mode=mode)
    else:
        g.node(name, x, g.constant(scales, "float32"), mode=mode)


@operator("TensorScatter", since=24)
def cache_update(g: Builder, name: str) -> None:
    batch, longest, width = g.integer(1, 3), g.integer(2, 6), g.integer(1, 4)
    new = g.integer(1, longest)
    heads = (g.integer(1, 2),) if g.maybe() else ()
    cache = g.operand("float32", (batch, *heads, longest, width))
    update = g.operand("float32", (batch, *heads, new, width))
    mode = g.choose((None, "linear", "circular"))
    places = g.operand("int64", (batch,), 0, longest - (1 if mode == "circular" else new)) if g.maybe() else None
    g.node(name, cache, update, places, mode=mode)


@operator("RotaryEmbedding", since=23)
def rotary(g: Builder, name: str) -> None:
    batch, heads, steps, width = g.integer(1, 2), g.integer(1, 3), g.integer(1, 4), g.choose((4, 2, 8))
    flat = g.maybe()
    x = g.operand("float32", (batch, steps, heads * width) if flat else (batch, heads, steps, width))
    turned = g.choose((None, width, 2)) if width > 2 else None
    half = (turned or width) // 2
    interleaved = g.choose((None, 1))
    if g.maybe():
        places: Value | None = g.operand("int64", (batch, steps), 0, 5)
        shape: tuple[int, ...] = (6, half)
    else:
        places, shape = None, (batch, steps, half)
    tables = [g.constant_values("float32", shape, -1.0, 1.0) for _ in range(2)]
    attributes = {"interleaved": interleaved, "num_heads": heads if flat else None, "rotary_embedding_dim": turned}
    g.node(name, x, *tables, places, **attributes)


@operator("Attention", since=23)
def attention(g: Builder, name: str) -> None:
    batch, heads, width, value_width = g.integer(1, 2), g.choose((2, 1, 4)), g.integer(1, 4), g.integer(1, 4)
    shared = g.choose([n for n in (1, 2) if heads % n == 0])
    steps, seen = g.integer(1, 4), g.integer(1, 5)
    flat = g.maybe()

    def states(count: int, length: int, size: int) -> Value:
        return g.operand("float32", (batch, length, count * size) if flat else (batch, count, length, size))

    past = g.integer(1, 3) if g.maybe(4) else 0
    held = heads // shared
    operands: list[Value | None] = [states(heads, steps, width), states(held, seen, width)]
    operands.append(states(held, seen, value_width))
    total = past + seen
    masked = g.integer(0, 3)
    shape = g.choose(((steps, total), (1, 1, steps, total), (batch, heads, steps, total)))
    operands.append(g.operand("bool" if masked == 2 else "float32", shape) if masked > 1 else None)
    if past:
        operands += [g.operand("float32", (batch, held, past, size)) for size in (width, value_width)]
    # The standard counts steps from the first element of the past, onnxruntime from its end.
    causal = 1 if not past and (masked == 1 or (masked == 3 and g.maybe())) else None
    if masked == 2 and causal is None and not g.maybe(4):
        operands[3] = g.constant(np.arange(total) <= np.arange(steps)[:, None] + past, "bool")
    outputs = [True, past > 0, past > 0, g.maybe(4)]
    g.nodes_results(
        name,
        *operands,
        outputs=outputs,
        is_causal=causal,
        scale=g.choose((None, 0.5)),
        softcap=g.choose((None, None, 2.0)),
        q_num_heads=heads if flat else None,
        kv_num_heads=held if flat else None,
    )
