"""Sparse tensors, FFTs and quantized tensors, computed with onnxruntime's and LiteRT's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from tests.kernels.random_calls import Call, Draw, ints, normal, shapes

from .graph import Array, Graph, run
from .litert import run_litert
from .registry import compared


def _places(draw: Draw, shape: Sequence[int]) -> Array:
    """Returns some unique indices of a tensor, in ascending order."""
    count = int(np.prod(shape))
    chosen = sorted(draw(st.lists(st.integers(0, count - 1), unique=True, min_size=1, max_size=8)))
    return np.stack(np.unravel_index(np.array(chosen), tuple(shape)), 1).astype(np.int32)


@st.composite
def sparse_tensors(draw: Draw, name: str) -> Call:
    rank = 2 if name == "SparseFillEmptyRows" else draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 5)) for _ in range(rank)]
    places = _places(draw, shape)
    values = normal(draw, (len(places),))
    size, default = ints(*shape), np.asarray(np.float32(-1.5))
    if name == "SparseToDense":
        return Call(OPERATORS[name](), (places, size, values, default), (1,))
    if name == "SparseFillEmptyRows":
        return Call(OPERATORS[name](), (places.astype(np.int64), values, size.astype(np.int64), default))
    target = draw(st.permutations(shape))
    if draw(st.booleans()):
        target = [-1, *target[1:]]
    return Call(OPERATORS[name](), (places, size, ints(*target)))


@compared("SparseToDense", strategy=sparse_tensors)
def to_dense(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run_litert("SPARSE_TO_DENSE", inputs, constant=(1,), options=("SparseToDenseOptions", {}))


@compared("SparseReshape", strategy=sparse_tensors)
def sparse_reshape(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    """Computes row-major indices from strides, and back by division."""
    graph, (places, old, new) = Graph(), (array.astype(np.int64) for array in inputs)
    total = graph("ReduceProd", old, keepdims=0)
    known = graph("Neg", graph("ReduceProd", new, keepdims=0))
    size = graph("Where", graph("Less", new, 0), graph("Div", total, graph("Max", known, 1)), new)

    def behind(sizes: Any, rank: int) -> list[str]:
        ends = np.array([rank])
        return [graph("ReduceProd", graph("Slice", sizes, np.array([i + 1]), ends), keepdims=1) for i in range(rank)]

    steps = graph("Concat", *behind(old, len(old)), axis=0)
    flat = graph("ReduceSum", graph("Mul", places, steps), np.array([1]), keepdims=1)
    strides = graph("Concat", *behind(size, len(new)), axis=0)
    return graph.run(graph("Mod", graph("Div", flat, strides), size), size)


@compared("SparseFillEmptyRows", strategy=sparse_tensors)
def fill_empty_rows(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    """Appends the missing rows, then sorts by row: TopK of the rows, equal ones by their index."""
    graph, (places, values, size, default) = Graph(), inputs
    count, rows = len(places), int(size[0])
    seen = graph("ScatterND", np.zeros(rows, np.int64), places[:, :1], np.ones(count, np.int64))
    missing = graph("Transpose", graph("NonZero", graph("Sub", 1, seen)), perm=[1, 0])
    together = graph("Concat", places, graph("Pad", missing, np.array([0, 0, 0, 1])), axis=0)
    total = graph("Gather", graph("Shape", together), 0)
    key = graph("Mul", graph("Gather", together, 0, axis=1), graph("Add", total, 1))
    key = graph("Add", key, graph("Range", np.int64(0), total, np.int64(1)))
    _, order = graph("TopK", key, graph("Reshape", total, np.array([1])), outputs=2, axis=0, largest=0)
    extra = graph("Expand", default, graph("Shape", graph("Squeeze", missing, np.array([1]))))
    filled = graph("Gather", graph("Concat", values, extra, axis=0), order)
    turned = graph("ScatterElements", order, order, graph("Range", np.int64(0), total, np.int64(1)))
    reverse = graph("Slice", turned, np.array([0]), np.array([count]))
    return graph.run(graph("Gather", together, order), filled, graph("Equal", seen, 0), reverse)


# ---- FFTs ----


@st.composite
def signals(draw: Draw, name: str) -> Call:
    batch = draw(shapes(0, 2, 1, 3))
    if name in ("FftReal", "FftImag", "ComplexAbs"):
        shape = (*batch, draw(st.integers(1, 9)))
        return Call(OPERATORS[name](), ((normal(draw, shape) + 1j * normal(draw, shape)).astype(np.complex64),))
    if name == "Rfft":
        length = draw(st.sampled_from((2, 4, 8, 16, 32)))
        return Call(OPERATORS[name](fft_length=length), (normal(draw, (*batch, draw(st.integers(1, 40)))),), (), 3e-5)
    sizes = [draw(st.sampled_from((2, 4, 8, 16))) for _ in range(2)]
    shape = (*batch, draw(st.integers(1, 12)), draw(st.integers(1, 12)))
    return Call(OPERATORS[name](fft_height=sizes[0], fft_width=sizes[1]), (normal(draw, shape),), (), 3e-5)


@compared("FftReal", "FftImag", "ComplexAbs", strategy=signals)
def complex_parts(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    name = {"FftReal": "REAL", "FftImag": "IMAG", "ComplexAbs": "COMPLEX_ABS"}[op.name]
    return run_litert(name, inputs)


@compared("Rfft", strategy=signals)
def rfft(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    rows = x.reshape(-1, x.shape[-1], 1)
    y = graph.run(graph("DFT", rows, op.fft_length, 1, onesided=1))[0]
    return [(y[..., 0] + 1j * y[..., 1]).reshape(*x.shape[:-1], -1).astype(np.complex64)]


@compared("Rfft2D", strategy=signals)
def rfft2d(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    size = ints(op.fft_height, op.fft_width)
    return run_litert("RFFT2D", [inputs[0], size], ("complex64",), constant=(1,), options=("Rfft2dOptions", {}))


@st.composite
def transforms(draw: Draw, name: str) -> Call:
    length = draw(st.integers(1, 12))
    onesided, inverse = draw(st.sampled_from(((False, False), (True, False), (False, True))))
    x = normal(draw, (draw(st.integers(1, 3)), length, 1 if onesided else draw(st.integers(1, 2))))
    return Call(OPERATORS[name](axis=1, inverse=inverse, onesided=onesided), (x,), (), 3e-5)


@compared("Dft", strategy=transforms)
def dft(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph(17)
    return graph.run(graph("DFT", inputs[0], axis=1, inverse=int(op.inverse), onesided=int(op.onesided)))


@st.composite
def mel_scales(draw: Draw, name: str) -> Call:
    length = draw(st.sampled_from((16, 64, 256)))
    rate = draw(st.sampled_from((8000, 16000)))
    numbers = (draw(st.integers(1, 12)), length, rate)
    edges = (draw(st.sampled_from((0.0, 60.0))), draw(st.sampled_from((3000.0, 4000.0))))
    operands = [np.asarray(number, np.int64) for number in numbers] + [np.asarray(edge, np.float32) for edge in edges]
    return Call(OPERATORS[name](), tuple(operands))


@compared("MelWeightMatrix", strategy=mel_scales)
def mel_weights(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("MelWeightMatrix", *inputs)


@st.composite
def sounds(draw: Draw, name: str) -> Call:
    if name == "AudioSpectrogram":
        window = draw(st.integers(2, 40))
        op = OPERATORS[name](window_size=window, stride=draw(st.integers(1, 20)), mag_square=draw(st.booleans()))
        return Call(op, (normal(draw, (window + draw(st.integers(0, 60)), draw(st.integers(1, 2)))),), (), 3e-5)
    bins = draw(st.sampled_from((65, 129, 257)))
    op = OPERATORS[name](
        freq_upper_limit=4000, freq_lower_limit=20, filter_bank_channel_num=draw(st.integers(10, 24)),
        dct_coeff_num=draw(st.integers(1, 10)),
    )  # fmt: skip
    x = normal(draw, (draw(st.integers(1, 2)), draw(st.integers(1, 4)), bins), 0.1, 9)
    return Call(op, (x, np.array([16000], np.int32)), (1,), 1e-4)


@compared("AudioSpectrogram", "Mfcc", strategy=sounds)
def sound(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    if op.name == "AudioSpectrogram":
        options = {"window_size": op.window_size, "stride": op.stride, "magnitude_squared": op.mag_square}
        return run_litert("CUSTOM:AudioSpectrogram", inputs, custom=options)
    limits = {"upper_frequency_limit": float(op.freq_upper_limit), "lower_frequency_limit": float(op.freq_lower_limit)}
    counts = {"filterbank_channel_count": op.filter_bank_channel_num, "dct_coefficient_count": op.dct_coeff_num}
    return run_litert("CUSTOM:Mfcc", inputs, constant=(1,), custom=limits | counts)
