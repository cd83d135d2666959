"""onnxruntime's operators on quantized tensors, and on weights with a few bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..builder import Builder
from ..values import Value
from .layers import image, pooling_window, window
from .microsoft import own
from .quantized import quantize, scale_for
from .registry import operator

_BYTES = ("uint8", "int8")


def result_records(g: Builder, low: float, high: float, dtype: str) -> tuple[Value, Value]:
    """Returns scale and zero point of a result between the bounds."""
    info = np.iinfo(dtype)
    scale = np.float32((high - low) / (int(info.max) - int(info.min)))
    return g.constant(scale), g.constant(int(np.clip(round(info.min - low / scale), info.min, info.max)), dtype)


def back(g: Builder, stored: Value, records: tuple[Value, Value]) -> None:
    if g.maybe():
        g.node("DequantizeLinear", stored, *records)


def weights(g: Builder, shape: tuple[int, ...], axis: int | None) -> tuple[Value, Value, Value]:
    """Returns int8 or uint8 weights with one scale, or one per channel of the axis."""
    dtype = g.choose(("int8", "int8", "uint8"))
    low, high = (-60, 60) if dtype == "int8" else (40, 160)  # onnxruntime saturates to 16 bits without VNNI
    stored = g.constant_values(dtype, shape, low, high)
    zero = 0 if dtype == "int8" else 100
    if axis is not None and g.maybe():
        count = shape[axis]
        return stored, g.constant_values("float32", (count,), 0.002, 0.01), g.constant(np.full(count, zero, dtype))
    return stored, g.constant(0.005, "float32"), g.constant(zero, dtype)


@operator("QLinearConv", since=11)
def conv(g: Builder, name: str) -> None:
    x = image(g, 1, 2)
    dtype = g.choose(_BYTES)
    attributes = window(g, x)
    group = g.choose([n for n in (1, x.shape[1]) if x.shape[1] % n == 0])
    shape = (group * g.choose((1, 2, 3)), x.shape[1] // group, *attributes["kernel_shape"])
    stored = quantize(g, x, dtype)
    w = weights(g, shape, 0)
    bias = g.constant_values("int32", (shape[0],), -300, 300) if g.maybe() and w[1].rank == 0 else None
    records = result_records(g, -3.0, 3.0, dtype)
    back(g, g.node(name, *stored, *w, *records, bias, group=group, **attributes), records)


@operator("com.microsoft.QLinearConv", since=11)
def channels_last(g: Builder, name: str) -> None:
    """The standard's image operator in NHWC."""
    dtype = g.choose(_BYTES)
    size, channels, out = g.integer(3, 7), g.integer(1, 4), g.integer(1, 4)
    stored = quantize(g, g.operand("float32", (g.integer(1, 2), size, size + 1, channels)), dtype)
    w = weights(g, (out, channels, 3, 2), 0)
    records = result_records(g, -3.0, 3.0, dtype)
    attributes = {"kernel_shape": [3, 2], "pads": g.choose((None, [1, 0, 1, 1])), "strides": g.choose((None, [2, 1]))}
    back(g, own(g, name, *stored, *w, *records, channels_last=1, **attributes)[0], records)


@operator("QLinearMatMul", since=11)
def matmul(g: Builder, name: str) -> None:
    x = g.pick(("float32",), 2, 3, where=lambda v: v.size > 0 and v.fixed(v.rank - 1))
    dtype = g.choose(_BYTES)
    records = result_records(g, -3.0, 3.0, dtype)
    stored = quantize(g, x, dtype)
    w = weights(g, (x.shape[-1], g.integer(1, 6)), None)
    back(g, g.node(name, *stored, *w, *records), records)


@operator("QLinearAdd", "QLinearMul", since=11)
def arithmetic(g: Builder, name: str) -> None:
    x = g.pick(("float32",))
    dtype = g.choose(_BYTES)
    records = result_records(g, -4.0, 4.0, dtype)
    back(g, own(g, name, *quantize(g, x, dtype), *quantize(g, g.partner(x), dtype), *records)[0], records)


@operator("QLinearSigmoid", "QLinearLeakyRelu", since=11)
def function(g: Builder, name: str) -> None:
    dtype = g.choose(_BYTES)
    records = result_records(g, *((0.0, 1.0) if name == "QLinearSigmoid" else (-1.0, 2.0)), dtype)
    stored = quantize(g, g.pick(("float32",)), dtype)
    back(g, own(g, name, *stored, *records, alpha=g.choose((None, 0.2)) if "Leaky" in name else None)[0], records)


@operator("QLinearAveragePool", "QLinearGlobalAveragePool", since=11)
def pool(g: Builder, name: str) -> None:
    x = image(g, 2, 2)
    dtype = g.choose(_BYTES)
    records = result_records(g, -2.0, 2.0, dtype)
    attributes: dict[str, Any] = {} if "Global" in name else pooling_window(g, x, dilated=False)
    attributes.pop("dilations", None)
    back(g, own(g, name, *quantize(g, x, dtype), *records, channels_last=0, **attributes)[0], records)


@operator("QLinearConcat", since=11)
def concat(g: Builder, name: str) -> None:
    x = g.pick(("float32",), low=1)
    dtype = g.choose(_BYTES)
    records = result_records(g, -2.0, 2.0, dtype)
    parts = [operand for _ in range(g.integer(1, 3)) for operand in quantize(g, x, dtype)]
    back(g, own(g, name, *records, *parts, axis=g.integer(0, x.rank - 1))[0], records)


@operator("QLinearSoftmax", since=11)
def softmax(g: Builder, name: str) -> None:
    x = g.pick(("float32",), low=1, where=lambda v: v.size > 0)
    dtype = g.choose(_BYTES)
    records = result_records(g, 0.0, 255 / 128, dtype)  # onnxruntime truncates 1 / scale, and wraps above 255
    back(g, own(g, name, *quantize(g, x, dtype), *records, opset=13, axis=g.integer(0, x.rank - 1))[0], records)


@operator("QLinearWhere", since=11)
def where(g: Builder, name: str) -> None:
    condition = g.pick(("bool",), where=lambda v: v.fixed_shape)
    dtype = g.choose(_BYTES)
    records = result_records(g, -2.0, 2.0, dtype)
    operands = [p for _ in range(2) for p in quantize(g, g.operand("float32", condition.shape), dtype)]
    back(g, own(g, name, condition, *operands, *records)[0], records)


@operator("QGemm", since=11)
def gemm(g: Builder, name: str) -> None:
    a = g.pick(("float32",), 2, 2, where=lambda v: v.size > 0 and v.fixed(1))
    dtype = g.choose(_BYTES)
    columns = g.integer(1, 6)
    turned = g.choose((None, 1))
    b = weights(g, (columns, a.shape[1]) if turned else (a.shape[1], columns), None)
    c = g.constant_values("int32", (columns,), -300, 300) if g.maybe() else None
    records = result_records(g, -3.0, 3.0, dtype)
    wanted: tuple[Value, ...] = records if g.maybe() else ()
    own(g, name, *quantize(g, a, dtype), *b, c, *wanted, transB=turned)


@operator("MatMulIntegerToFloat", "DynamicQuantizeMatMul", since=11)
def to_real(g: Builder, name: str) -> None:
    x = g.pick(("float32",), 2, 3, where=lambda v: v.size > 0 and v.fixed(v.rank - 1))
    columns = g.integer(1, 6)
    w, scale, zero = weights(g, (x.shape[-1], columns), 1)
    bias = g.constant_values("float32", (columns,)) if g.maybe() else None
    if name == "DynamicQuantizeMatMul":
        own(g, name, x, w, scale, zero, bias)
    else:
        stored, one, nought = quantize(g, x, "uint8")
        own(g, name, stored, w, one, scale, nought, zero, bias)


@operator("com.microsoft.QuantizeLinear", "com.microsoft.DequantizeLinear", since=11)
def casts(g: Builder, name: str) -> None:
    x = g.pick(("float32",))
    dtype = g.choose((*_BYTES, "int16", "uint16"))
    scale, zero = scale_for(x, dtype)
    records = g.constant(scale, "float32"), g.constant(zero, dtype)
    stored = own(g, "QuantizeLinear", x, *records)[0]
    own(g, "DequantizeLinear", stored, *records)


@operator("MatMulNBits", since=11)
def few_bits(g: Builder, name: str) -> None:
    inner, columns, block = g.choose((32, 16, 48)), g.integer(1, 6), g.choose((16, 32))
    blocks = -(-inner // block)
    x = g.operand("float32", (*g.shape(g.integer(0, 1)), g.integer(1, 4), inner), -1.0, 1.0)
    stored = g.constant_values("uint8", (columns, blocks, block // 2), 0, 255)
    scales = g.constant_values("float32", (columns * blocks,), 0.01, 0.1)
    zeros = g.constant_values("uint8", (columns * -(-blocks // 2),), 0, 255) if g.maybe() else None
    own(g, name, x, stored, scales, zeros, K=inner, N=columns, bits=4, block_size=block)


@operator("GatherBlockQuantized", since=11)
def rows_of_few_bits(g: Builder, name: str) -> None:
    rows, width = g.integer(2, 5), 32
    stored = g.constant_values("uint8", (rows, width // 2), 0, 255)
    scales = g.constant_values("float32", (rows, width // 16), 0.01, 0.1)
    which = g.operand("int64", (g.integer(1, 4),), 0, rows - 1)
    own(g, name, stored, which, scales, gather_axis=0, quantize_axis=1, block_size=16, bits=4)


@operator("MatMulBnb4", since=11)
def few_bits_from_a_table(g: Builder, name: str) -> None:
    inner, columns, block = g.choose((32, 16, 48)), g.integer(1, 6), g.choose((16, 32))
    x = g.operand("float32", (*g.shape(g.integer(0, 1)), g.integer(1, 4), inner), -1.0, 1.0)
    stored = g.constant_values("uint8", (inner * columns // 2,), 0, 255)
    magnitudes = g.constant_values("float32", (-(-inner * columns // block),), 0.1, 1.0)
    own(g, name, x, stored, magnitudes, K=inner, N=columns, block_size=block, quant_type=g.integer(0, 1))


@operator("QEmbedLayerNormalization", since=11)
def embedding(g: Builder, name: str) -> None:
    batch, steps, words, width = g.integer(1, 2), g.integer(1, 4), g.integer(2, 6), g.integer(2, 6)
    ids, kinds = (g.operand("int32", (batch, steps), 0, most) for most in (words - 1, 1))
    shapes = ((words, width), (steps + 1, width), (2, width), (width,), (width,))
    tables = [g.constant_values("uint8", shape, 0, 255) for shape in shapes]
    scales = [g.constant_values("float32", (), 0.01, 0.05) for _ in shapes]
    zeros = [g.constant_values("uint8", (), 0, 255) for _ in shapes]
    mask = g.operand("int32", (batch, steps), 0, 1) if g.maybe() else None
    own(g, name, ids, kinds, *tables, mask, *scales, *zeros, outputs=[True, True], epsilon=1e-3)


@operator("QAttention", since=11)
def attention(g: Builder, name: str) -> None:
    batch, steps, heads, width, full = (g.integer(1, most) for most in (2, 4, 2, 4, 6))
    x, one, nought = quantize(g, g.operand("float32", (batch, steps, full)), "uint8")
    w, scale, zero = weights(g, (full, 3 * heads * width), None)
    bias = g.constant_values("float32", (3 * heads * width,))
    own(g, name, x, w, bias, one, scale, None, nought, zero, num_heads=heads, unidirectional=g.choose((None, 1)))


@operator("DynamicQuantizeLSTM", since=11)
def lstm(g: Builder, name: str) -> None:
    steps, batch, size, hidden = g.integer(1, 4), 1, g.integer(1, 5), g.integer(1, 4)
    x = g.operand("float32", (steps, batch, size))
    w, r = (g.constant_values("int8", (1, rows, 4 * hidden), -60, 60) for rows in (size, hidden))
    scales = [g.constant([number], "float32") for number in (0.006, 0.005)]
    zeros = [g.constant([0], "int8") for _ in range(2)]
    bias = g.constant_values("float32", (1, 8 * hidden)) if g.maybe() else None
    operands = [x, w, r, bias, None, None, None, None, scales[0], zeros[0], scales[1], zeros[1]]
    own(g, name, *operands, outputs=[True, g.maybe(), g.maybe()], hidden_size=hidden)
