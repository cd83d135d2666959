"""WEIGHT_QUANT: error by bits, corrections, packed forms that the runtime reads back, mixed bits; DYNAMIC_QUANT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Value, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.enums import WeightQuantCompressType as Compression
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.verifier import verify
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.weights.mixed_bits import coarsest_scale
from tests.quantizer.networks import Array, image_network, matrix_network, node, node_of, run, samples, sqnr


def weights(bits: int, common: dict[str, str] | None = None, **rest: dict[str, str]) -> QuantizerSettings:
    keys = {"quant_type": "WEIGHT_QUANT", "bit_num": str(bits), "min_quant_weight_channel": "0", **(common or {})}
    return quantizer_settings({"common_quant_param": keys, **rest})


def quantized(module: Module, settings: QuantizerSettings) -> tuple[Module, QuantizeReport]:
    copy = copy_module(module)
    report = quantize(copy, settings)
    verify(copy)
    return copy, report


def product(weight: Array) -> tuple[Module, Array]:
    """x · weight; with the identity as x the runtime gives the weight as it decodes it."""
    rows = weight.shape[0]
    x, y = Value("x", DataType.FLOAT32, (rows, rows)), Value("y", DataType.FLOAT32, weight.shape)
    module = Module([Graph("main", [x], [y], [node(MatMulFusion(), "product", [x, constant("w", weight)], y)])])
    return module, np.eye(rows, dtype=np.float32)


@pytest.mark.parametrize("bits", range(1, 17))
def test_the_runtime_reads_every_number_of_bits(bits: int, tmp_path: Path) -> None:
    data = np.random.default_rng(bits).normal(0.1, 1, (24, 40)).astype(np.float32)
    module, x = product(data)
    result, report = quantized(module, weights(bits, weight_quant_param={"bias_correction": "false"}))
    got = run(result, [x], tmp_path)[0]
    steps = (np.maximum(data.max(axis=0), 0) - np.minimum(data.min(axis=0), 0)) / (2**bits - 1)
    assert (np.abs(got - data) <= steps * 1.001 + 1e-6).all()
    assert report.layers[0].weight_error == pytest.approx(
        float(np.linalg.norm(got - data) / np.linalg.norm(data)), rel=1e-3
    )
    stored = node_of(result, "product").inputs[1]
    if bits not in (8, 16):
        assert stored.encoding is not None
        assert len(stored.raw or b"") <= data.size * bits // 8 + 2


def stored_form(data: Array, bits: int, tmp_path: Path, **weight: str) -> tuple[Value, Array]:
    """The constant as it is in the file, and what the runtime makes of it."""
    module, x = product(data)
    result, _ = quantized(module, weights(bits, weight_quant_param={"bias_correction": "false", **weight}))
    got = run(result, [x], tmp_path)[0]
    save(result, tmp_path / "again.ms")
    return node_of(load(tmp_path / "again.ms"), "product").inputs[1], got


def test_the_smallest_form_is_taken(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    dense = draw.uniform(-1, 1, (64, 64)).astype(np.float32)
    mostly_zero = np.where(draw.random((64, 64)) < 0.95, 0, dense).astype(np.float32)
    few = draw.choice(np.array([-1.0, 0.0, 0.25, 1.0], np.float32), (64, 64))
    for data, form in ((dense, Compression.BITPACKING), (mostly_zero, Compression.SPARSE), (few, Compression.INDEXING)):
        stored, got = stored_form(data, 7, tmp_path, per_channel="false")
        assert stored.encoding is not None
        assert stored.encoding.compression is form
        assert np.abs(got - data).max() <= 2 / 127
        assert len(stored.raw or b"") <= data.size * 7 // 8 + 16
    stored, got = stored_form(dense, 8, tmp_path, per_channel="false")
    assert stored.encoding is None
    assert stored.array().dtype == np.int8


def test_huffman(tmp_path: Path) -> None:
    data = np.random.default_rng(5).laplace(0, 0.1, (256, 256)).astype(np.float32)
    stored, got = stored_form(data, 8, tmp_path, per_channel="false", compression="huffman")
    plain = stored_form(data, 8, tmp_path, per_channel="false")[1]
    assert stored.encoding is not None
    assert stored.encoding.huffman
    assert np.array_equal(got, plain)
    assert len(stored.raw or b"") < data.size


def test_on_the_fly(tmp_path: Path) -> None:
    data = np.random.default_rng(5).normal(0.2, 1, (64, 64)).astype(np.float32)
    stored, got = stored_form(data, 4, tmp_path, dequant_strategy="ON_THE_FLY")
    assert stored.encoding is not None
    assert stored.encoding.compression is Compression.FSE_INFER
    assert stored.dtype is DataType.FLOAT32
    assert len(np.unique(got)) <= 16
    assert np.abs(got - data).max() <= (data.max() - data.min()) / 15


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_corrections_bring_mean_and_variance_back(bits: int, tmp_path: Path) -> None:
    data = np.random.default_rng(6).normal(0.3, 1, (400, 6)).astype(np.float32)
    module, x = product(data)
    plain = run(quantized(module, weights(bits, weight_quant_param={"bias_correction": "false"}))[0], [x], tmp_path)[0]
    result, report = quantized(module, weights(bits))
    records = node_of(result, "product").inputs[1].quant
    assert any(record.varCorr != 1 for record in records)
    got = run(result, [x], tmp_path)[0]
    error = float(np.linalg.norm(got - data) / np.linalg.norm(data))
    assert report.layers[0].weight_error == pytest.approx(error, rel=1e-3)
    assert np.allclose(got.mean(axis=0), data.mean(axis=0), atol=1e-3)
    assert np.allclose(got.std(axis=0), data.std(axis=0), rtol=1e-3)
    assert not np.allclose(plain.std(axis=0), data.std(axis=0), rtol=1e-3)


def test_which_weights() -> None:
    module = image_network()
    names = lambda report: [layer.name for layer in report.layers]  # noqa: E731
    assert names(quantized(module, weights(8))[1]) == ["conv", "depthwise", "dense"]
    assert names(quantized(module, weights(8, {"min_quant_weight_channel": "16"}))[1]) == ["dense"]
    assert names(quantized(module, weights(8, {"min_quant_weight_size": "1000"}))[1]) == ["dense"]
    assert names(quantized(module, weights(8, {"skip_quant_node": "dense"}))[1]) == ["conv", "depthwise"]
    result, _ = quantized(module, weights(8))
    assert node_of(result, "conv").quant_type is QuantType.QUANT_WEIGHT
    assert node_of(result, "pool").quant_type is QuantType.QUANT_NONE
    assert node_of(result, "add").inputs[1].dtype is DataType.FLOAT32


@pytest.mark.parametrize("share", [0.005, 0.02, 0.1])
def test_mixed_bits_keep_their_relative_error(share: float, tmp_path: Path) -> None:
    data = np.random.default_rng(7).normal(0, 1, (96, 96)).astype(np.float32)
    found = coarsest_scale(data, share)
    assert found is not None
    error = np.linalg.norm(found[0] * found[1] - data) / np.linalg.norm(data)
    assert 0.98 * share < error <= share
    module, x = product(data)
    result, report = quantized(module, weights(0, mixed_bit_weight_quant_param={"init_scale": str(share)}))
    stored = node_of(result, "product").inputs[1]
    assert report.layers[0].weight_error <= max(share, 0.01)
    if stored.encoding is not None:
        assert stored.encoding.compression is Compression.FSE
        assert len(stored.raw or b"") < data.size
    got = run(result, [x], tmp_path)[0]
    assert np.linalg.norm(got - data) / np.linalg.norm(data) <= max(share, 0.01) * 1.001


def test_auto_tune_finds_a_coarser_scale(tmp_path: Path) -> None:
    module = image_network()
    fine, _ = quantized(module, weights(0))
    coarse, report = quantized(module, weights(0, mixed_bit_weight_quant_param={"auto_tune": "true"}))
    assert "auto_tune selected" in report.notes[0]
    sizes = []
    for result in (fine, coarse):
        (tmp_path / "size.ms").unlink(missing_ok=True)
        save(result, tmp_path / "size.ms")
        sizes.append((tmp_path / "size.ms").stat().st_size)
    assert sizes[1] < sizes[0]
    sample = samples(module, 1)[0]
    wanted, got = run(module, sample, tmp_path)[0], run(coarse, sample, tmp_path)[0]
    assert (wanted * got).sum() > 0.99 * np.linalg.norm(wanted) * np.linalg.norm(got)


def dynamic(strategy: str, **common: str) -> QuantizerSettings:
    return quantizer_settings(
        {
            "common_quant_param": {"quant_type": "DYNAMIC_QUANT", **common},
            "dynamic_quant_param": {"quant_strategy": strategy},
        }
    )


@pytest.mark.parametrize("strategy", ["ALWC", "ACWL"])
def test_dynamic(strategy: str, tmp_path: Path) -> None:
    module = matrix_network()
    result, report = quantized(module, dynamic(strategy))
    assert [layer.name for layer in report.layers if layer.precision is Precision.INT8] == ["query", "key"]
    assert 0 < report.integer_share < 1  # the product of two activations stays in float
    query = node_of(result, "query")
    assert query.quant_type is QuantType.QUANT_DYNAMIC
    assert len(query.inputs[1].quant) == (32 if strategy == "ALWC" else 1)
    cast = query.inputs[0].producer
    assert cast is not None
    assert cast.name == "query_dynamic_cast_node_0"
    sample = samples(module, 1)[0]
    assert sqnr(run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]) > 30


def test_dynamic_tables_and_skipped_nodes(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(0, 1, (50, 16)).astype(np.float32)
    ids, rows = Value("ids", DataType.INT32, (4,)), Value("rows", DataType.FLOAT32, (4, 16))
    y = Value("y", DataType.FLOAT32, (4, 8))
    weight = constant("w", np.random.default_rng(1).normal(0, 1, (16, 8)).astype(np.float32))
    nodes = [
        node(Gather(), "table", [constant("t", table), ids, constant("axis", np.array([0], np.int32))], rows),
        node(MatMulFusion(), "product", [rows, weight], y),
    ]
    module = Module([Graph("main", [ids], [y], nodes)])
    result, report = quantized(module, dynamic("ALWC", skip_quant_node="product"))
    assert [layer.name for layer in report.layers if layer.precision is Precision.INT8] == ["table"]
    assert node_of(result, "table").inputs[0].dtype is DataType.INT8
    indices = np.array([3, 49, 0, 7], np.int32)
    assert sqnr(run(module, [indices], tmp_path)[0], run(result, [indices], tmp_path)[0]) > 35


@pytest.mark.parametrize(("rule", "records"), [("", 16), ("CHANNEL", 16), ("TENSOR", 1)])
def test_channels_of_depthwise_layers_have_scales_of_their_own(rule: str, records: int) -> None:
    """Nine elements each. TENSOR: MindSpore Lite's rule, with `bias_correction`."""
    module = image_network()
    depthwise = node_of(module, "depthwise").inputs[1]
    assert depthwise.data is not None
    depthwise.data = depthwise.data * np.geomspace(0.01, 10, 16).reshape(-1, 1, 1, 1).astype(np.float32)
    ours = {"mslite_quant_param": {"small_channels": rule}} if rule else {}
    result, report = quantized(module, weights(8, **ours))
    assert len(node_of(result, "depthwise").inputs[1].quant) == records
    smallest = next(layer for layer in report.layers if layer.name == "depthwise").weight_scales[0]
    assert smallest < 1e-3 if records > 1 else smallest > 1e-2
