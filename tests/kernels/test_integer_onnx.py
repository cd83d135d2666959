"""Operators of ONNX on stored integers, between casts, compared with onnxruntime: equal on every instruction set here.

They round once, half to even. onnxruntime computes in floats, so what lies half-way between two steps may go
either way there, and nothing else may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from mslite.converter.mindir import module_io
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.e2e.integers import ISAS, availability, run
from tests.kernels.integer_models import Array, integers, scales
from tests.kernels.integer_pairs import PAIR_OPERATORS, PAIR_SCALES, Operand, all_pairs, between_casts
from tests.parsers.onnx.helper import reference

_NEAR_HALF = {1: 1e-4, 2: 0.02}
"""How near to half a step, in steps, float values in float32 lose their way; by the bytes of the result."""
DTYPES = ["int8", "uint8", "int16", "uint16"]
FEW = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(
    model: ModelProto, inputs: Mapping[str, Array], exact: Array | None, folder: Path, stored: Array | None = None
) -> None:
    """Asserts that no node is computed in float32 and that the results are `stored`, or else onnxruntime's, except where
    `exact` (in steps of the result) lies half-way between two integers."""
    wanted = reference(model, inputs)[0] if stored is None else stored
    module = parse(model)
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    module_io.save(module, folder / "m.ms")
    paths = []
    for value in module.main.inputs:
        paths.append(folder / f"{value.name}.npy")
        np.save(paths[-1], inputs[value.name])
    is_tie = np.zeros(wanted.shape, bool)
    if exact is not None:
        is_tie = np.abs(np.abs(exact - np.rint(exact)) - 0.5) < _NEAR_HALF[wanted.itemsize]
    checked = 0
    for isa in ISAS:
        if isa.startswith("arm64") or availability(isa):
            continue
        result = run(folder / "m.ms", paths, folder / isa, isa)
        assert not [f"{step.operator} ({step.kernel})" for step in result.fallbacks]
        (mine,) = result.outputs
        assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
        off = np.abs(mine.astype(np.int64) - wanted.astype(np.int64))
        assert not np.any(off[~is_tie.reshape(off.shape)]), isa
        assert off.max(initial=0) <= 1, isa
        checked += 1
    if not checked:
        pytest.skip(availability("scalar"))


def drawn(data: st.DataObject, shape: Sequence[int], dtype: str, constant: bool = False) -> Operand:
    limits = np.iinfo(dtype)
    array = integers(data.draw(st.integers(0, 999)), dtype, shape)
    point = 0 if constant else data.draw(st.integers(int(limits.min), int(limits.max)))
    return Operand(array, data.draw(scales), point, constant)


def result_for(data: st.DataObject, real: Array, dtype: str, like: Operand | None) -> Operand:
    """A record for results: that of `like`, or one in which a part of them is cut off."""
    if like is not None and data.draw(st.booleans()):
        return Operand(np.zeros(1, dtype), like.scale, like.point)
    span = float(np.abs(real).max()) or 1.0
    limits = np.iinfo(dtype)
    point = data.draw(st.integers(int(limits.min), int(limits.max)))
    steps = 100 if limits.bits == 8 else 25000
    return Operand(np.zeros(1, dtype), span / steps * data.draw(st.floats(0.5, 2)), point)


def windows(x: Array, kernel: int, stride: int, pad: int, counts_padding: bool) -> Array:
    """Averages over windows of an NCHW image, in float64."""
    padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    ones = np.pad(np.ones_like(x), [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=float(counts_padding))
    shape = (kernel, kernel)
    sums = [
        np.lib.stride_tricks.sliding_window_view(array, shape, (2, 3))[:, :, ::stride, ::stride].sum((4, 5))
        for array in (padded, ones)
    ]
    average: Array = sums[0] / sums[1]
    return average


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("counts_padding", [False, True])
@FEW
@given(data=st.data())
def test_average_pooling(dtype: str, counts_padding: bool, data: st.DataObject, tmp_path: Path) -> None:
    x = drawn(data, [2, data.draw(st.integers(1, 70)), data.draw(st.integers(3, 9)), 7], dtype)
    kernel, stride, pad = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 2)), data.draw(st.integers(0, 1))
    real = windows(x.real, kernel, stride, pad, counts_padding)
    y = result_for(data, real, dtype, x)
    attributes = {
        "kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "count_include_pad": int(counts_padding)
    }  # fmt: skip
    model, inputs = between_casts("AveragePool", [x], y, attributes)
    check(model, inputs, real / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["GlobalAveragePool", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"])
@FEW
@given(data=st.data())
def test_reductions(name: str, dtype: str, data: st.DataObject, tmp_path: Path) -> None:
    x = drawn(data, [2, data.draw(st.integers(1, 70)), data.draw(st.integers(1, 9)), 7], dtype)
    axes = (2, 3) if name == "GlobalAveragePool" else data.draw(st.sampled_from([(2, 3), (1,), (3,), (0, 2)]))
    functions = {"ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}
    real = functions.get(name, np.mean)(x.real, axis=axes, keepdims=True)
    y = result_for(data, real, dtype, x)
    as_input = name == "ReduceSum" or (name != "GlobalAveragePool" and y.array.itemsize == 2)
    attributes = {} if as_input or name == "GlobalAveragePool" else {"axes": axes}
    model, inputs = between_casts(name, [x], y, attributes, [np.array(axes)] if as_input else ())
    check(model, inputs, real / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("constant", [False, True])
@FEW
@given(data=st.data())
def test_products(constant: bool, dtype: str, data: st.DataObject, tmp_path: Path) -> None:
    m, k, n = (data.draw(st.integers(1, 70)) for _ in range(3))
    stored = "int8" if constant and dtype.endswith("16") else dtype
    a, b = drawn(data, [2, m, k], dtype), drawn(data, [k, n] if constant else [2, k, n], stored, constant)
    real = a.real @ b.real
    y = result_for(data, real, dtype, None)
    model, inputs = between_casts("MatMul", [a, b], y, {})
    check(model, inputs, real / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("dtype", DTYPES)
@FEW
@given(data=st.data())
def test_dense_layers(dtype: str, data: st.DataObject, tmp_path: Path) -> None:
    m, k, n = (data.draw(st.integers(1, 70)) for _ in range(3))
    a, b = drawn(data, [m, k], dtype), drawn(data, [n, k], "int8", True)
    bias = Operand(integers(3, "int16", [n]).astype(np.int32), float(a.scale * b.scale), 0, True)
    real = a.real @ b.real.T + bias.real
    y = result_for(data, real, dtype, None)
    model, inputs = between_casts("Gemm", [a, b, bias], y, {"transB": 1})
    check(model, inputs, real / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ["", "Relu"])
@FEW
@given(data=st.data())
def test_convolutions_whose_results_leave_the_model(
    activation: str, dtype: str, data: st.DataObject, tmp_path: Path
) -> None:
    """In the source's layout: the activation stays inside all the same."""
    x = drawn(data, [2, data.draw(st.integers(1, 20)), 6, 7], dtype)
    weight = drawn(data, [data.draw(st.integers(1, 40)), x.array.shape[1], 3, 2], "int8", True)
    patches = np.lib.stride_tricks.sliding_window_view(x.real, (3, 2), (2, 3))
    real = np.einsum("bcijhw,ochw->boij", patches, weight.real)
    y = result_for(data, real, dtype, None)
    model, inputs = between_casts("Conv", [x, weight], y, {}, then=activation)
    check(model, inputs, (np.maximum(real, 0) if activation else real) / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul"])
@FEW
@given(data=st.data())
def test_arithmetic(name: str, dtype: str, data: st.DataObject, tmp_path: Path) -> None:
    shape = [data.draw(st.integers(1, 9)), data.draw(st.integers(1, 70))]
    a, b = drawn(data, shape, dtype), drawn(data, shape[data.draw(st.integers(0, 1)) :], dtype)
    real = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[name](a.real, b.real)
    y = result_for(data, real, dtype, None)
    model, inputs = between_casts(name, [a, b], y, {})
    check(model, inputs, real / np.float64(y.scale), tmp_path)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("name", PAIR_OPERATORS)
@pytest.mark.parametrize("steps", PAIR_SCALES)
def test_all_pairs_of_bytes(steps: tuple[float, float, float], name: str, repeats: bool, tmp_path: Path) -> None:
    """They are those of IEEE arithmetic in float32, whatever way a quotient is computed."""
    model, inputs, wanted = all_pairs(name, steps, repeats)
    check(model, inputs, None, tmp_path, wanted)


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
@pytest.mark.parametrize("name", ["Sigmoid", "Tanh", "Softmax", "LeakyRelu", "Relu"])
@FEW
@given(data=st.data())
def test_functions_of_16_bits(name: str, dtype: str, data: st.DataObject, tmp_path: Path) -> None:
    x = drawn(data, [data.draw(st.integers(1, 9)), data.draw(st.integers(1, 70))], dtype)
    x.scale = np.float32(x.scale / 3000)
    exps = np.exp(x.real - x.real.max(-1, keepdims=True))
    real = {
        "Sigmoid": 1 / (1 + np.exp(-x.real)), "Tanh": np.tanh(x.real), "Softmax": exps / exps.sum(-1, keepdims=True),
        "LeakyRelu": np.where(x.real < 0, np.float32(0.2) * x.real, x.real), "Relu": np.maximum(x.real, 0),
    }[name]  # fmt: skip
    y = result_for(data, real, dtype, None)
    model, inputs = between_casts(name, [x], y, {"alpha": 0.2} if name == "LeakyRelu" else {})
    check(model, inputs, real / np.float64(y.scale), tmp_path)


def test_sums_of_16_bits_beyond_32(tmp_path: Path) -> None:
    """The bias of ONNX has 32 bits; the sums need more."""
    x = Operand(np.full([1, 600, 2, 2], 32767, np.int16), 1e-4, 0)
    weight = Operand(np.full([3, 600, 1, 1], 127, np.int8), 1e-2, 0, True)
    bias = Operand(np.array([-5, 0, 70000], np.int32), float(x.scale * weight.scale), 0, True)
    real = np.einsum("bchw,oc->bohw", x.real, weight.real[:, :, 0, 0]) + bias.real[:, None, None]
    model, inputs = between_casts("Conv", [x, weight, bias], Operand(np.zeros(1, np.int16), 0.1, 0), {})
    check(model, inputs, real / np.float64(np.float32(0.1)), tmp_path)
