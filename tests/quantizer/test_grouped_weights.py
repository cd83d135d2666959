"""Groups of weights with scales of their own, GPTQ and AWQ: what the runtime reads, and by how much the results gain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import ActivationType, QuantType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.mindir.quantized import dequantized_array
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.weights.gptq import gptq
from mslite.quantizer.weights.per_block import grid_of, group_length
from mslite.quantizer.weights.rounding import damped
from tests.quantizer.networks import Array, image_network, node, node_of, real, run, samples, sqnr


def weights(bits: int, group: int = 0, keep: str = "false", **weight: str) -> QuantizerSettings:
    return quantizer_settings(
        {
            "common_quant_param": {
                "quant_type": "WEIGHT_QUANT",
                "bit_num": str(bits),
                "min_quant_weight_channel": "0",
            },
            "weight_quant_param": weight,
            "mslite_quant_param": {"group_size": str(group), "keep_integers": keep},
        }
    )


def transformer_block(seed: int = 0) -> Module:
    """Layer normalization → two products → ReLU → product; inputs are correlated, some channels large."""
    draw = np.random.default_rng(seed)
    x, n, h, g, y = (real(name, 1, 24, size) for name, size in (("x", 64), ("n", 64), ("h", 96), ("g", 96), ("y", 16)))
    gamma = np.exp(draw.normal(0, 1.2, 64)).astype(np.float32)
    beta = draw.normal(0, 0.3, 64).astype(np.float32)
    w = [draw.standard_t(4, shape).astype(np.float32) / 8 for shape in ((64, 96), (96, 96), (96, 16))]
    nodes = [
        node(
            LayerNormFusion(begin_norm_axis=-1, begin_params_axis=-1, elementwise_affine=True),
            "norm",
            [x, constant("gamma", gamma), constant("beta", beta)],
            n,
        ),
        node(MatMulFusion(activation_type=ActivationType.RELU), "up", [n, constant("w0", w[0])], h),
        node(MatMulFusion(activation_type=ActivationType.RELU), "middle", [h, constant("w1", w[1])], g),
        node(MatMulFusion(), "down", [g, constant("w2", w[2])], y),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def correlated(module: Module, count: int, seed: int = 1) -> list[list[Array]]:
    mixing = np.random.default_rng(77).normal(0, 1, (12, 64)).astype(np.float32)
    draw = np.random.default_rng(seed)
    shape = module.main.inputs[0].shape or ()
    return [
        [(draw.normal(0, 1, (*shape[:-1], 12)) @ mixing + draw.normal(0, 0.3, shape)).astype(np.float32)]
        for _ in range(count)
    ]


def quality(module: Module, settings: QuantizerSettings, folder: Path) -> float:
    """SQNR in dB on samples that the calibration did not see."""
    copy = copy_module(module)
    quantize(copy, settings, correlated(module, 16))
    unseen = correlated(module, 8, seed=99)
    wanted = [run(module, sample, folder)[0] for sample in unseen]
    got = [run(copy, sample, folder)[0] for sample in unseen]
    return sqnr(np.stack(wanted), np.stack(got))


@pytest.mark.parametrize(
    ("length", "wanted", "expected"),
    [(576, 128, 96), (64, 16, 16), (64, 0, 64), (64, 100, 64), (27, 16, 9), (101, 32, 101), (128, 128, 128)],
)
def test_length_of_groups(length: int, wanted: int, expected: int) -> None:
    assert group_length(length, wanted) == expected


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("keep", ["false", "true"])
def test_the_runtime_reads_groups(bits: int, keep: str, tmp_path: Path) -> None:
    """x is the identity, so that the result is the weight."""
    data = np.random.default_rng(bits).normal(0.1, 1, (64, 24)).astype(np.float32)
    data[16:32] *= 20
    x, y = real("x", 64, 64), real("y", 64, 24)
    module = Module([Graph("main", [x], [y], [node(MatMulFusion(), "product", [x, constant("w", data)], y)])])
    copy = copy_module(module)
    report = quantize(copy, weights(bits, 16, keep, bias_correction="false"))
    stored = node_of(copy, "product").inputs[1]
    assert stored.shape == (24, 64)
    assert len(stored.quant) == 24 * 4
    wanted = QuantType.QUANT_NONE if keep == "true" else QuantType.QUANT_WEIGHT
    assert node_of(copy, "product").quant_type is wanted
    got = run(copy, [np.eye(64, dtype=np.float32)], tmp_path)[0]
    runs = data.T.reshape(24, 4, 16)
    steps = (np.maximum(runs.max(axis=2), 0) - np.minimum(runs.min(axis=2), 0)) / (2**bits - 1)
    assert (np.abs(got.T.reshape(runs.shape) - runs) <= steps[..., None] * 0.51 + 1e-5).all()
    assert report.layers[0].weight_error == pytest.approx(np.linalg.norm(got - data) / np.linalg.norm(data), rel=1e-3)
    save(copy, tmp_path / "again.ms")
    again = node_of(load(tmp_path / "again.ms"), "product").inputs[1]
    assert len(again.quant) == 24 * 4


def test_each_run_gets_its_mean_back(tmp_path: Path) -> None:
    data = np.random.default_rng(1).normal(0.2, 1, (64, 24)).astype(np.float32)
    x, y = real("x", 64, 64), real("y", 64, 24)
    module = Module([Graph("main", [x], [y], [node(MatMulFusion(), "product", [x, constant("w", data)], y)])])
    report = quantize(module, weights(3, 16))
    got = run(module, [np.eye(64, dtype=np.float32)], tmp_path)[0]
    runs = [array.T.reshape(24, 4, 16) for array in (data, got)]
    assert np.allclose(runs[0].mean(axis=2), runs[1].mean(axis=2), atol=1e-5)
    assert report.layers[0].weight_error == pytest.approx(np.linalg.norm(got - data) / np.linalg.norm(data), rel=1e-3)


def test_groups_of_convolutions_and_dense_layers(tmp_path: Path) -> None:
    module = image_network()
    copy = copy_module(module)
    quantize(copy, weights(4, 32))
    assert len(node_of(copy, "dense").inputs[1].quant) == 10 * 64
    assert len(node_of(copy, "conv").inputs[1].quant) == 16
    sample = samples(module, 1)[0]
    coarse = copy_module(module)
    quantize(coarse, weights(4, bias_correction="false"))
    wanted = run(module, sample, tmp_path)[0]
    assert sqnr(wanted, run(copy, sample, tmp_path)[0]) > sqnr(wanted, run(coarse, sample, tmp_path)[0])


def test_records_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="do not match"):
        dequantized_array(np.zeros((4, 6), np.int8), grid_of(np.ones((4, 8)), 4, Scheme(4)).records()[:7], 0)
    module = image_network()
    quantize(module, weights(8, 32))
    value = node_of(module, "dense").inputs[1]
    for count in (10 * 64 - 1, 10 * 3):
        value.quant = value.quant[:count]
        with pytest.raises(RuntimeError, match="parameters do not match"):
            run(module, samples(module, 1)[0], tmp_path)


def test_small_groups_lose_less(tmp_path: Path) -> None:
    module = transformer_block()
    whole = quality(module, weights(4, bias_correction="false"), tmp_path)
    assert quality(module, weights(4, 16), tmp_path) > whole + 2


@pytest.mark.parametrize("length", [32, 8])
def test_gptq_lowers_the_error_of_the_results(length: int) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(0, 1, (2, 400, 32)) @ draw.normal(0, 1, (2, 32, 32))
    h = (np.matmul(x.transpose(0, 2, 1), x) / 400).astype(np.float32)
    matrix = draw.normal(0, 1, (10, 32))

    def error(changed: Array) -> float:
        e = (changed - matrix).reshape(2, 5, 32)
        return float(np.einsum("grk,gkl,grl->", e, damped(h).astype(np.float64), e))

    plain = grid_of(matrix, length, Scheme(4))
    grid, integers = gptq(matrix, h, Scheme(4), length)
    assert error(grid.real(integers)) < 0.6 * error(plain.real(plain.nearest(matrix)))
    assert integers.min() >= -8
    assert integers.max() <= 7
    again = gptq(matrix, h, Scheme(4), length)[1]
    assert np.array_equal(again, integers)


def test_gptq_goes_on_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(0, 1, (1, 400, 24)) @ draw.normal(0, 1, (1, 24, 24))
    h, matrix = (x.transpose(0, 2, 1) @ x / 400).astype(np.float32), draw.normal(0, 1, (6, 24))
    wanted = gptq(matrix, h, Scheme(3), 8)
    monkeypatch.setattr("mslite.quantizer.weights.gptq._BLOCK", 5)
    got = gptq(matrix, h, Scheme(3), 8)
    np.testing.assert_allclose(got[0].scales, wanted[0].scales, rtol=1e-9)
    assert np.array_equal(got[1], wanted[1])


@pytest.mark.parametrize("group", [0, 16])
@pytest.mark.parametrize(("strategy", "gain"), [("GPTQ", 3.0), ("AWQ", 0.7)])
def test_data_helps(strategy: str, gain: float, group: int, tmp_path: Path) -> None:
    module = transformer_block()
    plain = quality(module, weights(4, group, bias_correction="false"), tmp_path)
    assert quality(module, weights(4, group, quant_strategy=strategy), tmp_path) > plain + gain


def test_data_costs_nothing_at_eight_bits(tmp_path: Path) -> None:
    module = transformer_block()
    plain = quality(module, weights(8, bias_correction="false"), tmp_path)
    for strategy in ("GPTQ", "AWQ"):
        assert quality(module, weights(8, quant_strategy=strategy), tmp_path) > plain - 0.5


@pytest.mark.parametrize("strategy", ["GPTQ", "AWQ"])
def test_convolutions(strategy: str, tmp_path: Path) -> None:
    module = image_network()
    data, unseen = samples(module, 16), samples(module, 1, seed=50)[0]
    wanted = run(module, unseen, tmp_path)[0]
    copy, plain = copy_module(module), copy_module(module)
    report = quantize(copy, weights(4, quant_strategy=strategy), data)
    assert f"{strategy}: 3 of 3 weights" in report.notes[0]
    quantize(plain, weights(4, bias_correction="false"))
    assert sqnr(wanted, run(copy, unseen, tmp_path)[0]) > sqnr(wanted, run(plain, unseen, tmp_path)[0])


def test_strategies_ask_for_data() -> None:
    with pytest.raises(UsageError, match="calibration data is missing"):
        quantize(transformer_block(), weights(4, quant_strategy="GPTQ"))


def test_dense_layers_that_stay_integers(tmp_path: Path) -> None:
    x, y = real("x", 3, 40), real("y", 3, 8)
    data = np.random.default_rng(2).normal(0, 1, (8, 40)).astype(np.float32)
    dense = node(FullConnection(has_bias=False), "dense", [x, constant("w", data)], y)
    module = Module([Graph("main", [x], [y], [dense])])
    quantize(module, weights(4, 8, "true"))
    save(module, tmp_path / "dense.ms")
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "dense.ms"), mslite.ModelType.MINDIR_LITE)
    given = np.random.default_rng(3).normal(0, 1, (3, 40)).astype(np.float32)
    got = model.predict([given])[0].get_data_to_numpy()
    stored = node_of(module, "dense").inputs[1]
    assert len(stored.quant) == 8 * 5
    assert sqnr(given @ data.T, got) > 18
