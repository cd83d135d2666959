"""Integers with zero points as inputs: onnxruntime's integer matmuls, and its dynamic quantization.

onnxruntime's uint8 x int8 matmuls saturate on processors without VNNI if both have 8 bits, so signed values have 7 bits there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import PadMode
from tests.kernels.random_calls import Call, Draw, normal, shapes

from .graph import Array, Graph
from .registry import compared

_U, _S = np.dtype(np.uint8), np.dtype(np.int8)
_KINDS = ((_U, _S), (_U, _U), (_S, _S))


def _bytes(draw: Draw, kind: np.dtype[Any], shape: tuple[int, ...], *, narrow: bool) -> Array:
    low, high = (0, 256) if kind == _U else (-64, 64) if narrow else (-128, 128)
    return np.random.default_rng(draw(st.integers(0, 999))).integers(low, high, shape).astype(kind)


def _extra(draw: Draw, columns: int) -> tuple[Array, ...]:
    """Nothing, a scale, or a scale and a bias."""
    operands = (normal(draw, (draw(st.sampled_from((1, columns))),), 0.001, 2.0), normal(draw, (columns,)))
    return operands[: draw(st.integers(0, 2))]


def _real(graph: Graph, sums: str, extra: Sequence[Array]) -> str:
    if not extra:
        return sums
    y = graph("Mul", graph("Cast", sums, to=1), extra[0])
    return str(graph("Add", y, extra[1]) if len(extra) > 1 else y)


@st.composite
def products(draw: Draw, name: str) -> Call:
    """onnxruntime has one zero point for a, and zero points for b with the rank of b."""
    m, k, n = (draw(st.integers(1, high)) for high in (20, 90, 40))
    kinds, batch = draw(st.sampled_from(_KINDS)), draw(shapes(0, 2, 1, 3))
    a = _bytes(draw, kinds[0], (*batch, m, k), narrow=False)
    b = _bytes(draw, kinds[1], (*(batch if draw(st.booleans()) else ()), k, n), narrow=True)
    points = draw(st.sampled_from(((), (*b.shape[:-2], 1, n) if b.ndim > 2 else (n,))))
    zeros = (_bytes(draw, kinds[0], (), narrow=False), _bytes(draw, kinds[1], points, narrow=True))
    constants = draw(st.sampled_from(((), (1,), (1, 3))))
    return Call(OPERATORS[name](), (a, b, *zeros, *_extra(draw, n)), constants, 0)


@compared("MatMulInteger", strategy=products)
def product(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    return graph.run(_real(graph, graph("MatMulInteger", *inputs[:4]), inputs[4:]))


@st.composite
def convolutions(draw: Draw, name: str) -> Call:
    group, kernel = draw(st.sampled_from((1, 1, 2))), (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    channels, outputs = group * draw(st.integers(1, 9)), group * draw(st.integers(1, 20))
    size = tuple(draw(st.integers(5, 9)) for _ in range(2))
    dilation, stride = (tuple(draw(st.integers(1, 2)) for _ in range(2)) for _ in range(2))
    pads = tuple(draw(st.integers(0, 2)) for _ in range(4))
    op = OPERATORS[name](
        kernel_size=kernel, stride=stride, dilation=dilation, pad_mode=PadMode.PAD, pad_list=pads, group=group
    )
    kinds = draw(st.sampled_from(_KINDS[:2]))
    x = _bytes(draw, kinds[0], (draw(st.integers(1, 2)), *size, channels), narrow=False)
    weight = _bytes(draw, kinds[1], (outputs, *kernel, channels // group), narrow=True)
    zeros = (_bytes(draw, kinds[0], (), narrow=False), _bytes(draw, kinds[1], (), narrow=True))
    return Call(op, (x, weight, *zeros, *_extra(draw, outputs)), draw(st.sampled_from(((), (1,), (1, 3)))), 0)


@compared("ConvInteger", strategy=convolutions)
def convolution(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    x, weight = (np.ascontiguousarray(np.moveaxis(array, 3, 1)) for array in inputs[:2])
    top, bottom, left, right = op.pad_list
    attributes = {"strides": op.stride, "dilations": op.dilation, "pads": (top, left, bottom, right)}
    sums = graph("ConvInteger", x, weight, *inputs[2:4], group=op.group, **attributes)
    return graph.run(_real(graph, graph("Transpose", sums, perm=[0, 2, 3, 1]), inputs[4:]))


@st.composite
def ranges(draw: Draw, name: str) -> Call:
    x = normal(draw, draw(shapes(1, 4, 1, 9)), draw(st.sampled_from((-4.0, 0.5))), 4)
    return Call(OPERATORS[name](), (-x if draw(st.booleans()) else x,), (), 0)


@compared("DynamicQuantizeLinear", strategy=ranges)
def dynamic_quantize_linear(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    return graph.run(*graph("DynamicQuantizeLinear", inputs[0], outputs=3))
