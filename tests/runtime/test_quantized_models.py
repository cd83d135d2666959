"""Models of one quantized operator run by the library, against dequantized NumPy arithmetic rounded to the result's record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, numpy_type
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation, Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, PadFusion, Stack
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode, QuantType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.quantization import DynamicQuant, QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.tables import QuantParam

Array = npt.NDArray[Any]
Real = npt.NDArray[np.float64]
INT8, INT16, INT32 = DataType.INT8, DataType.INT16, DataType.INT32


def record(scale: float, zero: int = 0) -> tuple[QuantParam, ...]:
    return (QuantParam(scale=scale, zeroPoint=zero),)


def per_channel(scales: Sequence[float]) -> tuple[QuantParam, ...]:
    return tuple(QuantParam(scale=scale) for scale in scales)


def real(q: Array, quant: Sequence[QuantParam], axis: int = 0) -> Real:
    scales = np.array([r.scale for r in quant])
    zeros = np.array([r.zeroPoint for r in quant])
    if len(quant) > 1:
        shape = [-1 if k == axis else 1 for k in range(q.ndim)]
        scales, zeros = scales.reshape(shape), zeros.reshape(shape)
    return np.asarray((q.astype(np.float64) - zeros) * scales)


def stored(x: Real, quant: Sequence[QuantParam], dtype: DataType = INT8) -> Array:
    limits = np.iinfo(numpy_type(dtype))
    steps = x / quant[0].scale
    rounded = np.sign(steps) * np.floor(np.abs(steps) + 0.5) + quant[0].zeroPoint
    return np.clip(rounded, limits.min, limits.max).astype(numpy_type(dtype))


def quantized(name: str, shape: tuple[int, ...], quant: tuple[QuantParam, ...], dtype: DataType = INT8) -> Value:
    return Value(name, dtype, shape, format=Format.NHWC, quant=quant)


def weights(name: str, data: Array, quant: tuple[QuantParam, ...] = ()) -> Value:
    value = constant(name, data, Format.NHWC)
    value.quant = quant
    return value


def random(dtype: DataType, *shape: int, seed: int = 1) -> Array:
    limits = np.iinfo(numpy_type(dtype))
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(numpy_type(dtype))


def run(
    folder: Path,
    nodes: list[Node],
    inputs: list[Value],
    outputs: list[Value],
    arrays: Sequence[Array],
    threads: int = 1,
) -> list[Array]:
    """The outputs of a model of these nodes."""
    graph = Graph("main", inputs, outputs, nodes)
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    module_io.save(Module([graph]), path)
    context = mslite.Context()
    context.cpu.thread_num = threads
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, context)
    tensors = model.get_inputs()
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor.set_data_from_numpy(array)
    return [np.asarray(tensor.get_data_to_numpy()) for tensor in model.predict(tensors)]


def call(op: Operator, inputs: Sequence[Value], output: Value, kind: QuantType = QuantType.QUANT_ALL) -> Node:
    return Node(op, op.name, tuple(inputs), (output,), quant_type=kind)


def within_a_step(got: Array, wanted: Array) -> None:
    """Float32 arithmetic may fall to the other side of a rounding limit, rarely: the records avoid halves of steps."""
    assert got.dtype == wanted.dtype
    difference = np.abs(got.astype(np.int64) - wanted.astype(np.int64))
    assert difference.max(initial=0) <= 1
    assert (difference > 0).mean() < 0.01


def rescaled(sums: Array, factors: Real, wide: bool = False) -> Array:
    """Integer sums times factors in TensorFlow Lite's fixed point; `wide`: the form for sums of 64 bits."""
    fractions, exponents = np.frexp(np.broadcast_to(factors, sums.shape))
    fixed = np.rint(fractions * 2.0**31).astype(np.int64)
    sums, exponents = sums.astype(np.int64), exponents.astype(np.int64)
    if wide:
        total = 15 - exponents
        narrow = np.where(fixed < 0x7FFF0000, (fixed + (1 << 15)) >> 16, 0x7FFF)
        return np.asarray((sums * narrow + (1 << (total - 1))) >> total)
    right = np.maximum(-exponents, 0)
    high = ((sums << np.maximum(exponents, 0)) * fixed + (1 << 30)) >> 31
    away = np.where(right > 0, (1 << np.maximum(right - 1, 0)) - (high < 0), 0)
    return np.asarray((high + away) >> right)


@pytest.mark.parametrize("dtype", [INT8, DataType.UINT8, INT16])
@pytest.mark.parametrize("activation", [ActivationType.NO_ACTIVATION, ActivationType.RELU6])
def test_arithmetic(dtype: DataType, activation: ActivationType, tmp_path: Path) -> None:
    scale = 1.0 if dtype is not INT16 else 1 / 256
    zero = 0 if dtype is INT16 else 3
    a, b, y = record(0.05 * scale, zero), record(0.031 * scale, zero), record(0.07 * scale, zero)
    x1, x2 = random(dtype, 4, 33), random(dtype, 4, 33, seed=2)
    values = [quantized("a", x1.shape, a, dtype), quantized("b", x2.shape, b, dtype)]
    out = quantized("y", x1.shape, y, dtype)
    (got,) = run(tmp_path, [call(AddFusion(activation_type=activation), values, out)], values, [out], [x1, x2])
    wanted = real(x1, a) + real(x2, b)
    if activation is ActivationType.RELU6:
        wanted = np.clip(wanted, 0, 6)
    within_a_step(got, stored(wanted, y, dtype))


def convolution(x: Real, w: Real, stride: int = 1) -> Real:
    """x [n, h, w, c] with w [out, kh, kw, c], no padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[1:3], (1, 2))[:, ::stride, ::stride]
    return np.asarray(np.einsum("nhwcij,oijc->nhwo", windows, w))


@pytest.mark.parametrize("bias_record", ["own", "missing", "zero"])
@pytest.mark.parametrize("channels", [1, 5])
def test_convolution(bias_record: str, channels: int, tmp_path: Path) -> None:
    """A bias without a scale has that of input times weight."""
    x, w = random(INT8, 1, 9, 8, 6), random(INT8, 5, 3, 3, 6, seed=2)
    bias = random(INT32, 5, seed=3) // (1 << 18)
    x_record, w_record = record(0.02, -7), per_channel([0.01 + 0.003 * k for k in range(channels)])
    y_record = record(0.1, 4)
    products = tuple(QuantParam(scale=r.scale * x_record[0].scale, numBits=32) for r in w_record)
    given = {"own": products, "missing": (), "zero": tuple(QuantParam(scale=0.0) for _ in products)}[bias_record]
    value, out = quantized("x", x.shape, x_record), quantized("y", (1, 7, 6, 5), y_record)
    op = Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.VALID, group=1,
        in_channel=6, out_channel=5, activation_type=ActivationType.RELU,
    )  # fmt: skip
    node = call(op, [value, weights("w", w, w_record), weights("b", bias, given)], out)
    (got,) = run(tmp_path, [node], [value], [out], [x])
    wanted = convolution(real(x, x_record), real(w, w_record)) + real(bias, products)
    within_a_step(got, stored(np.maximum(wanted, 0), y_record))


def test_int16_convolution_with_int64_bias(tmp_path: Path) -> None:
    x, w = random(INT16, 1, 5, 5, 3), random(INT8, 4, 1, 1, 3, seed=2)
    bias = random(INT32, 4, seed=3).astype(np.int64) // 1000
    x_record, w_record, y_record = record(0.001), per_channel([0.01, 0.02, 0.03, 0.04]), record(0.004)
    products = tuple(QuantParam(scale=r.scale * 0.001) for r in w_record)
    value, out = quantized("x", x.shape, x_record, INT16), quantized("y", (1, 5, 5, 4), y_record, INT16)
    op = Conv2DFusion(
        format=Format.NHWC, kernel_size=(1, 1), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.VALID, group=1,
        in_channel=3, out_channel=4,
    )  # fmt: skip
    node = call(op, [value, weights("w", w, w_record), weights("b", bias, products)], out)
    (got,) = run(tmp_path, [node], [value], [out], [x])
    sums = x.astype(np.int64) @ w.reshape(4, 3).T.astype(np.int64) + bias
    factors = np.array([r.scale for r in w_record]) * 0.001 / 0.004
    wanted = np.clip(rescaled(sums, factors, wide=True), -(1 << 15), (1 << 15) - 1)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("transposed", [False, True])
def test_matrix_product_has_its_channels_in_the_columns(transposed: bool, tmp_path: Path) -> None:
    x, w = random(INT8, 3, 8), random(INT8, 8, 8, seed=2)
    x_record, w_record, y_record = record(0.02, 1), per_channel([0.01 * (k + 1) for k in range(8)]), record(0.5, -3)
    value, out = quantized("x", x.shape, x_record), quantized("y", (3, 8), y_record)
    node = call(MatMulFusion(transpose_b=transposed), [value, weights("w", w, w_record)], out)
    (got,) = run(tmp_path, [node], [value], [out], [x])
    b = real(w, w_record, axis=0).T if transposed else real(w, w_record, axis=1)
    within_a_step(got, stored(real(x, x_record) @ b, y_record))


def test_transposed_convolution_has_its_channels_last(tmp_path: Path) -> None:
    x, w = random(INT8, 1, 4, 4, 3), random(INT8, 3, 1, 1, 5, seed=2)
    x_record, w_record = record(0.02, 1), per_channel([0.01 * (k + 1) for k in range(5)])
    y_record = record(0.0937, -3)
    value, out = quantized("x", x.shape, x_record), quantized("y", (1, 4, 4, 5), y_record)
    op = Conv2dTransposeFusion(
        format=Format.NHWC, kernel_size=(1, 1), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.VALID, group=1,
        in_channel=3, out_channel=5,
    )  # fmt: skip
    node = call(op, [value, weights("w", w, w_record)], out)
    (got,) = run(tmp_path, [node], [value], [out], [x])
    sums = (x.astype(np.int64) - 1) @ w.reshape(3, 5).astype(np.int64)
    factors = 0.02 * np.array([r.scale for r in w_record]) / 0.0937
    np.testing.assert_array_equal(got, np.clip(rescaled(sums, factors) - 3, -128, 127))


def test_each_result_of_a_chain_is_rounded(tmp_path: Path) -> None:
    """Rounding only at the end would give other integers."""
    x = random(INT8, 200)
    coarse, fine = record(0.9, 0), record(0.01, 0)
    value, middle, out = quantized("x", (200,), fine), quantized("m", (200,), coarse), quantized("y", (200,), fine)
    half = weights("half", np.array([64], np.int8), record(1 / 128))
    nodes = [call(MulFusion(), [value, half], middle), call(MulFusion(), [middle, half], out)]
    (got,) = run(tmp_path, nodes, [value], [out], [x])
    between = stored(real(x, fine) * 0.5, coarse)
    np.testing.assert_array_equal(got, stored(real(between, coarse) * 0.5, fine))
    assert not np.array_equal(got, stored(real(x, fine) * 0.25, fine))


def test_values_move_between_different_records(tmp_path: Path) -> None:
    x1, x2 = random(INT8, 2, 3), random(INT8, 2, 4, seed=2)
    a, b, y = record(0.1, 3), record(0.05, -20), record(0.08, 0)
    values = [quantized("a", x1.shape, a), quantized("b", x2.shape, b)]
    out = quantized("y", (2, 7), y)
    (got,) = run(tmp_path, [call(Concat(axis=1), values, out)], values, [out], [x1, x2])
    np.testing.assert_array_equal(got, stored(np.concatenate([real(x1, a), real(x2, b)], 1), y))


def test_values_of_equal_records_are_not_touched(tmp_path: Path) -> None:
    x = random(INT8, 2, 3)
    q = record(0.1, 3)
    value, same, out = quantized("x", (2, 3), q), quantized("t", (3, 2), ()), quantized("y", (2, 3, 2), q)
    nodes = [
        call(Transpose(), [value, constant("perm", np.array([1, 0], np.int32))], same),
        call(Stack(axis=0), [same, same], out),
    ]
    (got,) = run(tmp_path, nodes, [value], [out], [x])
    np.testing.assert_array_equal(got, np.stack([x.T, x.T]))


def test_padding_is_the_zero_point(tmp_path: Path) -> None:
    x, q = random(INT8, 2, 3), record(0.1, 3)
    value, out = quantized("x", (2, 3), q), quantized("y", (3, 5), q)
    pads = constant("pads", np.array([[1, 0], [0, 2]], np.int32))
    (got,) = run(tmp_path, [call(PadFusion(), [value, pads], out)], [value], [out], [x])
    np.testing.assert_array_equal(got, np.pad(x, ((1, 0), (0, 2)), constant_values=3))


def test_pools_and_activations(tmp_path: Path) -> None:
    x, q, wide = random(INT8, 1, 4, 4, 3), record(0.1, 3), record(0.173, -5)
    value = quantized("x", x.shape, q)
    pooled, mean, positive = (
        quantized("max", (1, 2, 2, 3), q), quantized("mean", (1, 2, 2, 3), wide), quantized("relu", x.shape, wide)
    )  # fmt: skip
    window: dict[str, Any] = {"kernel_size": (2, 2), "strides": (2, 2), "pad_mode": PadMode.VALID}
    nodes = [
        call(MaxPoolFusion(format=Format.NHWC, **window), [value], pooled),
        call(AvgPoolFusion(format=Format.NHWC, **window), [value], mean),
        call(Activation(activation_type=ActivationType.RELU), [value], positive),
    ]
    got = run(tmp_path, nodes, [value], [pooled, mean, positive], [x])
    blocks = x.reshape(1, 2, 2, 2, 2, 3)
    np.testing.assert_array_equal(got[0], blocks.max((2, 4)))
    within_a_step(got[1], stored(real(blocks, q).mean((2, 4)), wide))
    np.testing.assert_array_equal(got[2], stored(np.maximum(real(x, q), 0), wide))


def test_softmax(tmp_path: Path) -> None:
    x, q, y = random(INT8, 3, 10), record(0.05, 3), record(1 / 256, -128)
    value, out = quantized("x", x.shape, q), quantized("y", x.shape, y)
    (got,) = run(tmp_path, [call(Softmax(axis=(-1,)), [value], out)], [value], [out], [x])
    e = np.exp(real(x, q))
    within_a_step(got, stored(e / e.sum(-1, keepdims=True), y))


def test_quantized_weights_with_real_activations(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((3, 6)).astype(np.float32)
    w, q = random(INT8, 4, 6), per_channel([0.01, 0.02, 0.03, 0.04])
    for kind in (QuantType.QUANT_WEIGHT, QuantType.QUANT_ALL):
        value, out = Value("x", DataType.FLOAT32, (3, 6)), Value("y", DataType.FLOAT32, (3, 4))
        node = call(FullConnection(has_bias=False), [value, weights("w", w, q)], out, kind)
        (got,) = run(tmp_path, [node], [value], [out], [x])
        np.testing.assert_allclose(got, x @ real(w, q).T, rtol=0, atol=1e-5)


@pytest.mark.parametrize("symmetric", [False, True])
def test_dynamic_quantization(symmetric: bool, tmp_path: Path) -> None:
    """The product sees the activations as their rounded integers stand for."""
    x = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    w, q = random(INT8, 16, 4), per_channel([0.01, 0.02, 0.03, 0.04])
    value, narrow, moved, out = (
        Value("x", DataType.FLOAT32, x.shape), quantized("q", x.shape, ()), quantized("r", (5, 16), ()),
        Value("y", DataType.FLOAT32, (5, 4)),
    )  # fmt: skip
    op = DynamicQuant(symmetric=symmetric, activation_channel=symmetric, prefer_axis=-2)
    nodes = [
        Node(op, "dynamic", (value,), (narrow,)),
        Node(Reshape(), "move", (narrow, constant("shape", np.array([5, 16], np.int32))), (moved,)),
        call(MatMulFusion(), [moved, weights("w", w, q)], out, QuantType.QUANT_DYNAMIC),
    ]
    (got,) = run(tmp_path, nodes, [value], [out], [x])
    if symmetric:
        scale = np.abs(x).max(1, keepdims=True) / 127.0
        rounded = np.rint(x / scale) * scale
    else:
        scale = (x.max() - x.min()) / 255.0
        zero = np.rint(-128 - x.min() / scale)
        rounded = (np.clip(np.rint(x / scale) + zero, -128, 127) - zero) * scale
    wanted = rounded @ real(w, q, axis=1)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)
    assert np.abs(got - x @ real(w, q, axis=1)).max() > 1e-3


def test_same_bits_for_any_thread_count(tmp_path: Path) -> None:
    x, w = random(INT8, 1, 37, 41, 8), random(INT8, 16, 3, 3, 8, seed=2)
    x_record, w_record, y_record = record(0.02, -7), record(0.01), record(0.1, 4)
    op = Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.VALID, group=1,
        in_channel=8, out_channel=16,
    )  # fmt: skip
    results = []
    for threads in (1, 2, 3, 7):
        value, out = quantized("x", x.shape, x_record), quantized("y", (1, 35, 39, 16), y_record)
        node = call(op, [value, weights("w", w, w_record)], out)
        results.append(run(tmp_path, [node], [value], [out], [x], threads)[0].tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize(("shape", "axis"), [((3000, 2), 0), ((2, 3000), -1), ((4, 3), 0)])
def test_cast_of_a_constant_with_many_channels(shape: tuple[int, int], axis: int, tmp_path: Path) -> None:
    q = random(INT8, *shape)
    records = per_channel(np.linspace(0.01, 0.5, shape[axis]).tolist())
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    value, middle, out = (Value(name, DataType.FLOAT32, shape) for name in ("x", "m", "y"))
    nodes = [
        Node(
            QuantDTypeCast(src_t=int(INT8), dst_t=int(DataType.FLOAT32), axis=axis),
            "cast",
            (weights("w", q, records),),
            (middle,),
        ),
        Node(AddFusion(), "add", (value, middle), (out,)),
    ]
    (got,) = run(tmp_path, nodes, [value], [out], [x])
    np.testing.assert_allclose(got, x + real(q, records, axis % 2).astype(np.float32), rtol=0, atol=1e-6)
