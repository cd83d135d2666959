"""Decompositions of several nodes at once: what goes between them has no place in a version's files."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.compatibility import Version, refusals
from mslite.converter.mindir.graph import Array, Module, Value, constant
from mslite.converter.mindir.ops import (
    activation,
    audio,
    convolution,
    indexing,
    matmul,
    quantization,
    rearrange,
    recurrent,
    reduction,
    unary,
)
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType, ReduceMode
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.verify.interpreter import run_graph
from tests.passes.builder import Builder, numbers
from tests.passes.target.single import lowered

OLD = (Version.V1_3, Version.V1_5)


def _results(module: Module, *inputs: Array) -> list[Array]:
    given = {value.name: data for value, data in zip(module.main.inputs, inputs, strict=True)}
    contents = run_graph(module.main, given)
    return [np.asarray(contents[value]) for value in module.main.outputs]


def _compare(module: Module, version: Version, *inputs: Array, tolerance: float = 0.0) -> None:
    """That the version takes what becomes of the module, and that its results stay what they are."""
    wanted = _results(module, *inputs)
    context = lowered(module, version)
    assert not refusals(module, version), context.refusals
    for got, expected in zip(_results(module, *inputs), wanted, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


def _bytes(kind: type[np.generic], *shape: int) -> npt.NDArray[np.generic]:
    draw = np.random.default_rng(7)
    limits = np.iinfo(kind)  # type: ignore[type-var]
    return draw.integers(limits.min, limits.max + 1, shape).astype(kind)


@pytest.mark.parametrize("version", list(Version))
@pytest.mark.parametrize("scaled", [False, True])
def test_integer_product(version: Version, scaled: bool) -> None:
    """The integers are the same, and so are their sums."""
    builder = Builder()
    x = builder.input(2, 5, 33)
    y, scale, zero = builder.calls(quantization.DynamicQuantizeLinear(), x, outputs=3)
    more = [np.float32(0.02), numbers(9)] if scaled else []
    out = builder.call(matmul.MatMulInteger(), y, _bytes(np.int8, 33, 9), zero, np.array(3, np.int8), *more)
    module = builder.module(out, scale)
    _compare(module, version, numbers(2, 5, 33, seed=3) * np.float32(4))


@pytest.mark.parametrize("version", list(Version))
def test_integer_convolution(version: Version) -> None:
    builder = Builder()
    x = builder.input(1, 6, 7, 4)
    x.format = Format.NHWC
    y, _, zero = builder.calls(quantization.DynamicQuantizeLinear(), x, outputs=3)
    op = convolution.ConvInteger(format=Format.NHWC, kernel_size=(3, 3), pad_list=(1, 1, 1, 1))
    out = builder.call(op, y, _bytes(np.uint8, 5, 3, 3, 4), zero, np.array(130, np.uint8))
    _compare(builder.module(out), version, numbers(1, 6, 7, 4))


def test_integers_that_the_user_reads_stay() -> None:
    builder = Builder()
    y, *_ = builder.calls(quantization.DynamicQuantizeLinear(), builder.input(3, 4), outputs=3)
    module = builder.module(y)
    context = lowered(module, Version.V1_3)
    assert [reason for _, _, reason in context.refusals] == ["its integers are read by the user"]


@pytest.mark.parametrize("version", list(Version))
@pytest.mark.parametrize(("height", "width", "rows"), [(1, 16, 1), (1, 16, 3), (6, 10, 5), (4, 7, 6)])
def test_spectrum(version: Version, height: int, width: int, rows: int) -> None:
    builder = Builder()
    spectrum = builder.call(audio.Rfft2D(fft_height=height, fft_width=width), builder.input(3, rows, 12))
    flat = builder.call(rearrange.Reshape(), spectrum, np.array([3, -1], np.int32))
    outputs = [builder.call(op, flat) for op in (audio.ComplexAbs(), audio.FftReal(), audio.FftImag())]
    _compare(builder.module(*outputs), version, numbers(3, rows, 12), tolerance=1e-4)


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("kind", [ActivationType.TANH, ActivationType.RELU6, ActivationType.GELU])
def test_activation_apart(version: Version, kind: ActivationType) -> None:
    builder = Builder()
    op = matmul.MatMulFusion(activation_type=kind, transpose_b=True)
    out = builder.call(op, builder.input(2, 3, 8), numbers(5, 8), numbers(5, seed=1))
    _compare(builder.module(out), version, numbers(2, 3, 8, seed=2), tolerance=1e-5)


def test_bound_of_stored_integers() -> None:
    """An activation of integers stays one, in a node of its own."""
    builder = Builder()
    x = builder.input(4, 8, dtype=np.int8)
    weight = constant("weight", _bytes(np.int8, 5, 8))
    out = builder.call(matmul.MatMulFusion(activation_type=ActivationType.RELU, transpose_b=True), x, weight)
    records = (QuantParam(scale=0.05, zeroPoint=2), QuantParam(scale=0.01), QuantParam(scale=0.05, zeroPoint=-128))
    for value, record in zip((x, weight, out), records, strict=True):
        value.dtype, value.quant = DataType.INT8, (record,)
    module = builder.module(out)
    module.main.nodes[0].quant_type = QuantType.QUANT_ALL
    _compare(module, Version.V1_3, _bytes(np.int8, 4, 8))
    assert [type(node.op) for node in module.main.nodes] == [matmul.MatMulFusion, activation.Activation]


@pytest.mark.parametrize("version", OLD)
def test_stored_lstm(version: Version) -> None:
    """Between casts, its constants as the float values that they stand for."""
    builder = Builder()
    x = builder.input(6, 1, 8, dtype=np.int8)
    weights = [constant(f"w{index}", _bytes(np.int8, 1, 16, size)) for index, size in enumerate((8, 4))]
    bias = constant("bias", np.arange(32, dtype=np.int32)[np.newaxis])
    op = recurrent.LSTMSequence(has_bias=True, hidden_scale=1 / 128)
    y, hidden, cell = builder.calls(op, x, *weights, bias, outputs=3)
    module = builder.module(y)
    module.main.nodes[0].quant_type = QuantType.QUANT_ALL
    for value, count in ((weights[0], 16), (weights[1], 16), (bias, 32)):
        value.quant = tuple(QuantParam(scale=0.004) for _ in range(count))
    for value in (x, y, hidden, cell):
        value.dtype, value.quant = DataType.INT8, (QuantParam(scale=1 / 128),)
    cell.dtype = DataType.INT16
    _compare(module, version, _bytes(np.int8, 6, 1, 8), tolerance=1)


def test_steps_that_are_not_known() -> None:
    builder = Builder()
    x: Value = builder.input(-(1 << 41), 1, 3)
    op = recurrent.GRUSequence(linear_before_reset=True)
    y, _ = builder.calls(op, x, numbers(1, 12, 3), numbers(1, 12, 4), outputs=2)
    context = lowered(builder.module(y), Version.V1_3)
    assert "a number of steps that is not known" in context.refusals[0][2]


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_rows_of_bytes(version: Version, kind: type[np.generic]) -> None:
    """A table stays 8 bits wide where its rows become float values."""
    builder = Builder()
    indices = builder.input(3, dtype=np.int32)
    rows = builder.call(indexing.Gather(), _bytes(kind, 7, 5), indices, np.array(0, np.int32))
    out = builder.call(unary.Cast(), rows, np.array(int(DataType.FLOAT32), np.int32))
    module = builder.module(out)
    _compare(module, version, np.array([2, 0, 6], np.int32))
    assert module.main.nodes[0].inputs[0].dtype is DataType.INT8


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("mode", [ReduceMode.ReduceSum, ReduceMode.ReduceL2])
def test_reduction_over_all(version: Version, mode: ReduceMode) -> None:
    builder = Builder()
    axes = np.zeros(0, np.int32)
    out = builder.call(reduction.ReduceFusion(mode=mode), builder.input(3, 4), axes)
    _compare(builder.module(out), version, numbers(3, 4), tolerance=1e-5)
