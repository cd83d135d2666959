"""Equalization, SmoothQuant, learned rounding: the float function stays, and integers lose less where they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, Format, PadMode
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.verify.interpreter import run_graph
from mslite.quantizer.calibration.sources import PythonData
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.transforms.blocks import blocks_of, layout_of
from mslite.quantizer.transforms.equalize import equalize
from mslite.quantizer.transforms.smooth import smooth
from mslite.quantizer.weights.gram import grams, rows
from mslite.quantizer.weights.rounding import coordinate_descent, damped
from tests.quantizer.networks import (
    Array,
    convolution,
    image_network,
    matrix_network,
    node,
    node_of,
    real,
    run,
    samples,
    sqnr,
    weight,
)


def full(methods: dict[str, str], bits: int = 8, **full_keys: str) -> QuantizerSettings:
    return quantizer_settings(
        {
            "common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": str(bits)},
            "full_quant_param": full_keys,
            "mslite_quant_param": methods,
        }
    )


def quality(module: Module, settings: QuantizerSettings, folder: Path, count: int = 16) -> float:
    """SQNR in dB on samples that the calibration did not see."""
    copy = copy_module(module)
    quantize(copy, settings, samples(module, count))
    unseen = samples(module, 8, seed=99)
    wanted = [run(module, sample, folder)[0] for sample in unseen]
    got = [run(copy, sample, folder)[0] for sample in unseen]
    return sqnr(np.stack(wanted), np.stack(got))


def unequal_network(activation: ActivationType = ActivationType.RELU, spread: float = 3.0) -> Module:
    """Convolution → depthwise → pooling → convolution → flatten → dense; channels differ by powers of ten."""
    draw = np.random.default_rng(3)
    x, a, b = real("x", 1, 8, 8, 3), real("a", 1, 8, 8, 16), real("b", 1, 8, 8, 16)
    p, c, f, y = real("p", 1, 8, 8, 16), real("c", 1, 8, 8, 8), real("f", 1, 512), real("y", 1, 10)
    scales = 10 ** draw.uniform(-spread / 2, spread / 2, 16)
    w1, w2, w3 = (weight(draw, name, *shape) for name, shape in
                  (("w1", (16, 3, 3, 3)), ("w2", (16, 3, 3, 1)), ("w3", (8, 3, 3, 16))))  # fmt: skip
    w1 = constant("w1", (w1.array() * scales.reshape(-1, 1, 1, 1)).astype(np.float32), Format.NHWC)
    w3 = constant("w3", (w3.array() / scales).astype(np.float32), Format.NHWC)
    bias = constant("bias", (draw.normal(0, 0.1, 16) * scales).astype(np.float32))
    pool = MaxPoolFusion(format=Format.NHWC, kernel_size=(3, 3), strides=(1, 1), pad_mode=PadMode.SAME)
    nodes = [
        node(convolution((3, 16), activation=activation), "first", [x, w1, bias], a),
        node(convolution((16, 16), 16, activation), "depthwise", [a, w2], b),
        node(pool, "pool", [b], p),
        node(convolution((16, 8)), "second", [p, w3], c),
        node(Reshape(), "flatten", [c, constant("shape", np.array([1, 512], np.int32))], f),
        node(FullConnection(has_bias=False), "dense", [f, weight(draw, "w4", 10, 512)], y),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def same_function(module: Module, changed: Module, folder: Path) -> None:
    for sample in samples(module, 3, seed=5):
        wanted, got = run(module, sample, folder)[0], run(changed, sample, folder)[0]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * float(np.abs(wanted).max()))
        values = [run_graph(one.main, {"x": sample[0]}) for one in (module, changed)]
        known = {value.name: array for value, array in values[0].items()}
        for value, array in values[1].items():  # one that is scaled has another name: --verify compares by name
            if value.name in known:
                np.testing.assert_allclose(array, known[value.name], rtol=0, atol=2e-5 * float(np.abs(array).max()))
        assert {value.name for value in values[1]} - known.keys(), "nothing was scaled"


def test_equalization_keeps_the_function_and_equalizes(tmp_path: Path) -> None:
    module = unequal_network()
    changed = copy_module(module)
    assert "3 layers scaled" in equalize(changed)[0]
    same_function(module, changed, tmp_path)
    before, after = (np.abs(node_of(m, "first").inputs[1].array()).max(axis=(1, 2, 3)) for m in (module, changed))
    assert before.max() / before.min() > 100
    assert after.max() / after.min() < before.max() / before.min() / 10


def test_equalization_helps_scales_for_whole_weights(tmp_path: Path) -> None:
    module = unequal_network()
    plain = quality(module, full({}, per_channel="false"), tmp_path)
    better = quality(module, full({"equalize": "true"}, per_channel="false"), tmp_path)
    assert better > plain + 10
    assert better > 25


def test_equalization_costs_nothing_where_nothing_is_unequal(tmp_path: Path) -> None:
    module = unequal_network(spread=0.0)
    plain = quality(module, full({}, per_channel="false"), tmp_path)
    assert quality(module, full({"equalize": "true"}, per_channel="false"), tmp_path) > plain - 1


def test_relu6_and_shared_results_are_left_alone(tmp_path: Path) -> None:
    module = unequal_network(ActivationType.RELU6)
    weights = [item.inputs[1].data for item in module.main.nodes if layout_of(item)]
    notes = equalize(module)
    assert "because of ReLU6" in notes[1]
    assert node_of(module, "first").inputs[1].data is weights[0]
    assert node_of(module, "depthwise").inputs[1].data is weights[1]

    module = unequal_network()
    first = node_of(module, "first").output
    other = real("other", 1, 8, 8, 16)
    module.main.nodes.append(node(AddFusion(), "add", [first, constant("one", np.ones(16, np.float32))], other))
    module.main.outputs.append(other)
    before = node_of(module, "first").inputs[1].data
    equalize(module)
    assert node_of(module, "first").inputs[1].data is before


def normalized_network(outlier: float) -> Module:
    """Layer normalization whose channel 3 is large → three products → a fourth behind a ReLU."""
    draw = np.random.default_rng(4)
    x, n = real("x", 1, 12, 32), real("n", 1, 12, 32)
    gamma = np.ones(32, np.float32)
    gamma[[3, 17]] = outlier
    beta = draw.normal(0, 0.1, 32).astype(np.float32)
    q, k, h, y = real("q", 1, 12, 24), real("k", 1, 12, 24), real("h", 1, 12, 24), real("y", 1, 12, 8)
    relu = ActivationType.RELU
    nodes = [
        node(LayerNormFusion(begin_norm_axis=-1, begin_params_axis=-1, elementwise_affine=True), "norm",
             [x, constant("gamma", gamma), constant("beta", beta)], n),
        node(MatMulFusion(activation_type=relu), "query",
             [n, constant("wq", draw.normal(0, 0.2, (32, 24)).astype(np.float32)),
              constant("bq", draw.normal(0, 0.2, 24).astype(np.float32))], q),
        node(MatMulFusion(transpose_b=True), "key",
             [n, constant("wk", draw.normal(0, 0.2, (24, 32)).astype(np.float32))], k),
        node(AddFusion(), "sum", [q, k], h),
        node(MatMulFusion(), "result", [h, constant("wr", draw.normal(0, 0.2, (24, 8)).astype(np.float32))], y),
    ]  # fmt: skip
    return Module([Graph("main", [x], [y], nodes)])


def test_smoothing_keeps_the_function(tmp_path: Path) -> None:
    module = normalized_network(60.0)
    changed = copy_module(module)
    data = PythonData(samples(module, 4), module.main.inputs)
    assert "outliers of 1 of 1 activations" in smooth(changed, data, full({}))[0]
    same_function(module, changed, tmp_path)
    assert node_of(changed, "norm").inputs[1].array()[3] < 0.5 * node_of(module, "norm").inputs[1].array()[3]


def test_smoothing_helps_outliers_and_costs_little_elsewhere(tmp_path: Path) -> None:
    module = normalized_network(60.0)
    weights = [node_of(module, name).inputs[1] for name in ("query", "key")]
    for value, axis in zip(weights, (0, 1), strict=True):  # what trained models have: outliers matter little
        array = np.moveaxis(np.array(value.array()), axis, 0)
        array[[3, 17]] /= 60
        value.data = np.ascontiguousarray(np.moveaxis(array, 0, axis))
    assert quality(module, full({"smooth": "true"}), tmp_path) > quality(module, full({}), tmp_path) + 6
    even = normalized_network(1.0)
    assert quality(even, full({"smooth": "true"}), tmp_path) > quality(even, full({}), tmp_path) - 0.3


def test_normalizations_may_share_their_constants(tmp_path: Path) -> None:
    """As untrained ones do, whose equal constants were merged."""
    module = normalized_network(60.0)
    norm, result = node_of(module, "norm"), node_of(module, "result")
    again, end = real("again", 1, 12, 32), real("end", 1, 12, 32)
    op = LayerNormFusion(begin_norm_axis=-1, begin_params_axis=-1, elementwise_affine=True)
    module.main.nodes.append(node(op, "second", [norm.inputs[0], *norm.inputs[1:]], again))
    module.main.nodes.append(node(AddFusion(), "end", [again, constant("half", np.float32([0.5]))], end))
    module.main.outputs = [end, result.output]
    changed = copy_module(module)
    smooth(changed, PythonData(samples(module, 4), module.main.inputs), full({}))
    assert node_of(changed, "norm").inputs[1] is not node_of(changed, "second").inputs[1]
    for sample in samples(module, 2, seed=5):
        for wanted, got in zip(run(module, sample, tmp_path), run(changed, sample, tmp_path), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * float(np.abs(wanted).max()))


def test_models_without_a_layer_to_smooth(tmp_path: Path) -> None:
    module = matrix_network()
    assert "no activation" in smooth(module, PythonData(samples(module, 2), module.main.inputs), full({}))[0]


def test_second_moments_are_those_of_what_the_weights_multiply() -> None:
    module = image_network()
    data = PythonData(samples(module, 3), module.main.inputs)
    found = {item.name: gram for item, gram in grams(module, [node_of(module, "conv")], data)}
    item = node_of(module, "conv")
    layout = layout_of(item)
    assert layout is not None
    op = item.op
    assert isinstance(op, Conv2DFusion)
    every = np.concatenate([part for sample in data for part in rows(item, layout, sample[0])], axis=1)
    assert every.shape == (1, 3 * 64, 27)
    np.testing.assert_allclose(found["conv"].moments[0], every[0].T @ every[0] / every.shape[1], rtol=1e-4, atol=1e-5)
    wanted = every[0] @ blocks_of(item, layout).reshape(16, 27).T + item.inputs[2].array()
    from mslite.converter.mindir.reference import REFERENCES

    got = REFERENCES["Conv2DFusion"](op, [next(iter(data))[0], item.inputs[1].array(), item.inputs[2].array()])[0]
    np.testing.assert_allclose(np.maximum(wanted[:64], 0), got.reshape(64, 16), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_descent_lowers_the_error_and_stays_beside_each_weight(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x = draw.normal(0, 1, (2, 200, 12)) @ draw.normal(0, 1, (2, 12, 12)) + 1
    h = damped((np.matmul(x.transpose(0, 2, 1), x) / 200).astype(np.float32))
    steps = draw.normal(0, 3, (2, 5, 12))
    start = np.clip(np.rint(steps), -7, 7)
    found = coordinate_descent(steps, start, h, (-7, 7), 300)

    def error(integers: Array) -> Array:
        e = integers - steps
        return np.einsum("grk,gkl,grl->gr", e, h.astype(np.float64), e)

    assert (error(found) <= error(start) * 1.0001).all()
    assert error(found).sum() < 0.7 * error(start).sum()
    inside = np.abs(steps) < 7
    assert (np.abs(found - steps)[inside] < 1).all()
    assert (np.abs(found) <= 7).all()
    assert np.array_equal(found, coordinate_descent(steps, start, h, (-7, 7), 300))


@pytest.mark.parametrize("bits", [4, 8])
def test_learned_rounding_helps(bits: int, tmp_path: Path) -> None:
    module = unequal_network(spread=1.0)
    plain = quality(module, full({}, bits), tmp_path, 32)
    learned = quality(module, full({"learned_rounding": "true", "rounding_iterations": "1000"}, bits), tmp_path, 32)
    assert learned > plain + (1.5 if bits == 4 else -0.3)
