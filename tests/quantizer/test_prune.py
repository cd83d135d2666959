"""Pruning: zeros that the file packs, channels that are gone, and a report whose numbers are measured again here."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import UsageError
from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import ActivationType, WeightQuantCompressType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.verifier import verify
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.prune.channel_groups import groups_of, importance
from mslite.quantizer.prune.prune import outputs
from mslite.quantizer.prune.report import HEADER
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.transforms.blocks import layout_of
from mslite.quantizer.transforms.equalize import equalize
from tests.quantizer.networks import (
    convolution,
    image_network,
    matrix_network,
    node,
    node_of,
    real,
    run,
    samples,
    weight,
)


def pruning(method: str, quant: dict[str, str] | None = None, **keys: str) -> QuantizerSettings:
    sections = {"mslite_prune_param": {"method": method, **keys}}
    if quant:
        sections["common_quant_param"] = quant
    return quantizer_settings(sections)


def pruned(module: Module, settings: QuantizerSettings, count: int = 4) -> tuple[Module, QuantizeReport]:
    copy = copy_module(module)
    report = quantize(copy, settings, samples(module, count))
    verify(copy)
    return copy, report


def residual_network() -> Module:
    """stem → (convolution → sigmoid → depthwise → convolution) + stem → flatten → dense, and a product at the end."""
    draw = np.random.default_rng(8)
    x, s, a, g, b = (real(name, 1, 6, 6, size) for name, size in (("x", 3), ("s", 12), ("a", 20), ("g", 20), ("b", 20)))
    c, t, f = real("c", 1, 6, 6, 12), real("t", 1, 6, 6, 12), real("f", 1, 432)
    h, y = real("h", 1, 9), real("y", 1, 4)
    none = ActivationType.NO_ACTIVATION
    bias = constant("bias", draw.normal(0, 0.3, 20).astype(np.float32))
    nodes = [
        node(convolution((3, 12)), "stem", [x, weight(draw, "w1", 12, 3, 3, 3)], s),
        node(convolution((12, 20), activation=none), "expand", [s, weight(draw, "w2", 20, 3, 3, 12), bias], a),
        node(Activation(activation_type=ActivationType.SIGMOID), "gate", [a], g),
        node(convolution((20, 20), 20), "depthwise", [g, weight(draw, "w3", 20, 3, 3, 1)], b),
        node(convolution((20, 12), activation=none), "project", [b, weight(draw, "w4", 12, 3, 3, 20)], c),
        node(AddFusion(), "sum", [c, s], t),
        node(Reshape(), "flatten", [t, constant("shape", np.array([1, 432], np.int32))], f),
        node(FullConnection(has_bias=False, activation_type=ActivationType.RELU), "dense",
             [f, weight(draw, "w5", 9, 432)], h),
        node(MatMulFusion(), "last", [h, weight(draw, "w6", 9, 4)], y),
    ]  # fmt: skip
    return Module([Graph("main", [x], [y], nodes)])


def test_the_smallest_weights_become_zero() -> None:
    module = residual_network()
    result, report = pruned(module, pruning("MAGNITUDE", sparsity="0.6"))
    for name in ("stem", "depthwise", "last"):
        before, after = (node_of(m, name).inputs[1].array() for m in (module, result))
        assert (after == 0).mean() == pytest.approx(0.6, abs=1 / after.size)
        assert np.array_equal(after[after != 0], before[after != 0])
        assert np.abs(before[after == 0]).max() <= np.abs(before[after != 0]).min()
    assert report.pruning is not None
    assert "60." in report.notes[0] or "59." in report.notes[0]
    assert np.isnan(report.pruning.layers[0].cosine)


def test_a_share_of_the_whole_model_takes_more_where_there_is_less_to_lose() -> None:
    module = residual_network()
    value = node_of(module, "dense").inputs[1]
    value.data = (value.array() ** 3).astype(np.float32)  # a few large weights
    result, _ = pruned(module, pruning("MAGNITUDE", sparsity="0.5", scope="MODEL"))
    weights = [item.inputs[1].array() for item in result.main.nodes if layout_of(item)]
    shares = [float((array == 0).mean()) for array in weights]
    assert sum((array == 0).sum() for array in weights) == int(sum(array.size for array in weights) * 0.5)
    assert shares[4] == max(shares)
    assert max(shares) > min(shares) + 0.1


@pytest.mark.parametrize("quant", ["WEIGHT_QUANT", "FULL_QUANT"])
def test_zeros_are_packed(quant: str, tmp_path: Path) -> None:
    module = residual_network()
    common = {"quant_type": quant, "min_quant_weight_channel": "0"}
    plain = copy_module(module)
    quantize(plain, quantizer_settings({"common_quant_param": common}), samples(module, 4))
    result, report = pruned(module, pruning("MAGNITUDE", common, sparsity="0.8"))
    stored = node_of(result, "dense").inputs[1]
    assert stored.encoding is not None
    assert stored.encoding.compression is WeightQuantCompressType.SPARSE
    assert len(stored.raw or b"") < 0.5 * stored_bytes(plain, "dense")
    assert report.pruning is not None
    layer = next(item for item in report.pruning.layers if item.name == "dense")
    assert layer.bytes_before == stored_bytes(plain, "dense")
    assert layer.bytes_after == pytest.approx(len(stored.raw or b""), rel=0.1)
    save(result, tmp_path / "packed.ms")
    again = node_of(load(tmp_path / "packed.ms"), "dense").inputs[1]
    assert len(again.raw or b"") == len(stored.raw or b"")
    # The same integers as without packing.
    floats, _ = pruned(module, pruning("MAGNITUDE", sparsity="0.8"))
    unpacked = {"common_quant_param": common, "weight_quant_param": {"bias_correction": "false"}}
    quantize(floats, quantizer_settings(unpacked), samples(module, 4))
    assert node_of(floats, "dense").inputs[1].raw is None or quant == "WEIGHT_QUANT"
    for sample in samples(module, 3, seed=40):
        wanted, got = run(floats, sample, tmp_path)[0], run(result, sample, tmp_path)[0]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=0 if quant == "FULL_QUANT" else 1e-6)


def stored_bytes(module: Module, name: str) -> int:
    value = node_of(module, name).inputs[1]
    return len(value.raw) if value.raw is not None else value.array().nbytes


def test_groups_join_what_belongs_together() -> None:
    groups = {group.name: group for group in groups_of(residual_network().main)}
    assert list(groups) == ["stem", "expand", "dense"]
    assert [item.name for item in groups["stem"].producers] == ["stem", "project"]
    assert sorted(reader.node.name for reader in groups["stem"].readers) == ["dense", "expand"]
    assert [item.name for item in groups["expand"].depthwise] == ["depthwise"]
    # What leaves the graph, or is concatenated, stays whole.
    assert [group.name for group in groups_of(image_network().main)] == []
    assert [group.name for group in groups_of(matrix_network().main)] == []


def test_importance_does_not_depend_on_scales_between_layers() -> None:
    module = residual_network()
    node_of(module, "gate").op = Activation(activation_type=ActivationType.RELU)
    before = importance(groups_of(module.main)[1])
    equalize(module)
    np.testing.assert_allclose(importance(groups_of(module.main)[1]), before, rtol=1e-5)


@pytest.mark.parametrize("sparsity", ["0.25", "0.5", "0.9"])
@pytest.mark.parametrize("scope", ["LAYER", "MODEL"])
def test_removed_channels_are_as_if_nobody_read_them(sparsity: str, scope: str, tmp_path: Path) -> None:
    module = residual_network()
    result, report = pruned(module, pruning("STRUCTURED", sparsity=sparsity, scope=scope))
    assert report.pruning is not None
    masked = copy_module(module)
    for group, record in zip(groups_of(masked.main), report.pruning.layers, strict=True):
        assert group.name == record.name
        scores = importance(groups_of(module.main)[[g.name for g in groups_of(module.main)].index(group.name)])
        lost = np.argsort(-scores, kind="stable")[record.channels - record.removed_channels :]
        for reader in group.readers:
            value = reader.node.inputs[1]
            layout = layout_of(reader.node)
            assert layout is not None
            blocks = np.array(layout.blocks(value.array()))
            places = (np.arange(reader.repeats)[:, None] * group.channels + lost).reshape(-1)
            blocks[..., places] = 0
            reader.node.replace_input(value, constant(value.name, layout.stored(blocks), value.format))
    for sample in samples(module, 3, seed=30):
        wanted, got = run(masked, sample, tmp_path)[0], run(result, sample, tmp_path)[0]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * float(np.abs(wanted).max()) + 1e-7)
    if scope == "LAYER":
        kept = 12 - int(12 * float(sparsity))
        assert node_of(result, "stem").inputs[1].shape == (kept, 3, 3, 3)
        assert node_of(result, "sum").output.shape == (1, 6, 6, kept)
        assert node_of(result, "flatten").output.shape == (1, 36 * kept)
    total = report.pruning.total
    weights = [item.inputs[1].array() for item in result.main.nodes if layout_of(item)]
    assert total.elements - total.removed == sum(array.size for array in weights) == total.bytes_after // 4
    assert total.macs_after < total.macs_before
    assert total.macs_after == sum(macs(item) for item in result.main.nodes)
    for layer, name in zip(report.pruning.layers, ("stem", "expand", "dense"), strict=True):
        others = ",".join({"stem", "expand", "dense"} - {name})
        alone = pruned(module, pruning("STRUCTURED", sparsity=sparsity, skip_node=others))[1].pruning
        if scope == "LAYER":
            assert alone is not None
            assert alone.total.removed == layer.removed
            assert alone.total.bytes_before - alone.total.bytes_after == layer.bytes_before - layer.bytes_after
            assert alone.total.macs_before - alone.total.macs_after == layer.macs_before - layer.macs_after


def test_pruned_channels_quantize(tmp_path: Path) -> None:
    module = residual_network()
    common = {"quant_type": "FULL_QUANT"}
    result, report = pruned(module, pruning("STRUCTURED", common, sparsity="0.3"))
    assert report.integer_share > 0.9
    assert node_of(result, "stem").inputs[1].shape == (9, 3, 3, 3)
    run(result, samples(module, 1)[0], tmp_path)


@pytest.mark.parametrize("method", ["MAGNITUDE", "STRUCTURED"])
def test_report(method: str, tmp_path: Path) -> None:
    module = residual_network()
    file = tmp_path / "folder" / "pruned.csv"
    result, report = pruned(module, pruning(method, sparsity="0.4", report=str(file), skip_node="dense"))
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert tuple(rows[0]) == HEADER
    assert report.pruning is not None
    assert [row["name"] for row in rows[:-1]] == [layer.name for layer in report.pruning.layers]
    assert "dense" not in [row["name"] for row in rows]
    given = samples(module, 4)
    wanted, got = outputs(module, given), outputs(result, given)
    assert float(rows[-1]["cosine"]) == pytest.approx(cosine(wanted, got), abs=1e-5)
    assert float(rows[-1]["sqnr_db"]) == pytest.approx(sqnr(wanted, got), abs=0.02)
    first = next(row for row in rows if row["name"] == "expand")
    others = ",".join(layer.name for layer in report.pruning.layers if layer.name != "expand")
    alone, _ = pruned(module, pruning(method, sparsity="0.4", skip_node=f"dense,{others}"))
    assert float(first["sqnr_db"]) == pytest.approx(sqnr(wanted, outputs(alone, given)), abs=0.02)


def test_what_does_not_go_together() -> None:
    with pytest.raises(UsageError, match="cannot be combined with quant_strategy=GPTQ"):
        quantizer_settings(
            {
                "common_quant_param": {"quant_type": "WEIGHT_QUANT"},
                "weight_quant_param": {"quant_strategy": "GPTQ"},
                "mslite_prune_param": {"method": "MAGNITUDE"},
            }
        )
    with pytest.raises(UsageError, match="sparsity"):
        pruning("MAGNITUDE", sparsity="1.5")
