"""Quantized values: integers between QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import Value
from .layers import image, window
from .registry import operator


def scale_for(x: Value, dtype: str) -> tuple[float, int]:
    """Returns scale and zero point for a value's range. Raises Rejected if it has none."""
    if not x.always(lambda array: bool(np.all(np.isfinite(array)))):
        raise Rejected("NaN has no integer")
    info = np.iinfo(dtype)
    low = min(float(np.min(x.array, initial=0)), 0.0)
    high = max(float(np.max(x.array, initial=0)), 0.0, low + 0.1)
    scale = float(np.float32((high - low) / (int(info.max) - int(info.min))))
    return scale, int(np.clip(round(info.min - low / scale), info.min, info.max))


def quantize(g: Builder, x: Value, dtype: str) -> tuple[Value, Value, Value]:
    """Quantizes x. Returns the integers, scale and zero point."""
    scale, zero = scale_for(x, dtype)
    records = g.constant(scale, "float32"), g.constant(zero, dtype)
    return g.node("QuantizeLinear", x, *records), *records


def through(g: Builder, x: Value, dtype: str) -> Value:
    """Quantizes and dequantizes x."""
    stored, scale, zero = quantize(g, x, dtype)
    return g.node("DequantizeLinear", stored, scale, zero)


@operator("QuantizeLinear", "DequantizeLinear")
def pair(g: Builder, name: str) -> None:
    x = g.pick(("float32",))
    dtype = g.choose(("int8", "uint8"))
    if name == "QuantizeLinear":
        quantize(g, x, dtype)
    else:
        through(g, x, dtype)


@operator("DynamicQuantizeLinear")
def dynamic(g: Builder, name: str) -> None:
    stored, scale, zero = g.nodes_results(name, g.pick(("float32",)), outputs=3)
    g.node("DequantizeLinear", stored, scale, zero)


def stored_weights(g: Builder, shape: tuple[int, ...], axis: int) -> Value:
    """Constant int8 weights with DequantizeLinear, with one scale or one per channel."""
    stored = g.constant_values("int8", shape, -100, 100)
    if g.maybe():
        scales = g.constant_values("float32", (shape[axis],), 0.002, 0.01)
        return g.node("DequantizeLinear", stored, scales, g.constant(np.zeros(shape[axis], np.int8)), axis=axis)
    return g.node("DequantizeLinear", stored, g.constant(0.005, "float32"), g.constant(0, "int8"))


@operator("quantized Conv")
def conv(g: Builder, name: str) -> None:
    x = image(g, 1, 2)
    dtype = g.choose(("int8", "uint8"))
    attributes = window(g, x)
    group = g.choose([n for n in (1, x.shape[1]) if x.shape[1] % n == 0])
    out = group * g.choose((1, 2, 4))
    weights = stored_weights(g, (out, x.shape[1] // group, *attributes["kernel_shape"]), 0)
    y = g.node("Conv", through(g, x, dtype), weights, group=group, **attributes)
    if g.maybe():
        y = g.node("Relu", y)
    through(g, y, dtype)


@operator("quantized MatMul")
def matmul(g: Builder, name: str) -> None:
    x = g.pick(("float32",), 2, 3, where=lambda v: v.size > 0 and v.fixed(v.rank - 1))
    dtype = g.choose(("int8", "uint8"))
    y = g.node("MatMul", through(g, x, dtype), stored_weights(g, (x.shape[-1], g.integer(1, 6)), 1))
    through(g, y, dtype)


@operator("quantized Add")
def add(g: Builder, name: str) -> None:
    x = g.pick(("float32",))
    dtype = g.choose(("int8", "uint8"))
    y = through(g, g.partner(x), dtype)
    through(g, g.node(g.choose(("Add", "Mul", "Sub")), through(g, x, dtype), y), dtype)


@operator("quantized others")
def others(g: Builder, name: str) -> None:
    x = through(g, image(g, 2, 2), dtype := g.choose(("int8", "uint8")))
    kind = g.choose(
        ("Relu", "Sigmoid", "MaxPool", "AveragePool", "Concat", "Softmax", "Reshape", "Transpose", "ReduceMean")
    )
    if kind in ("MaxPool", "AveragePool"):
        y = g.node(kind, x, kernel_shape=[2, 2], pads=[0, 0, 1, 1], strides=[g.integer(1, 2)] * 2)
    elif kind == "Concat":
        y = g.node(kind, x, through(g, x, dtype), axis=1)
    elif kind == "Reshape":
        y = g.node(kind, x, g.constant([0, -1], "int64"))
    elif kind == "Transpose":
        y = g.node(kind, x, perm=[0, 2, 3, 1])
    elif kind == "ReduceMean":
        y = g.node("GlobalAveragePool", x)
    else:
        y = g.node(kind, x)
    through(g, y, dtype)
