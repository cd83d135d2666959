"""FULL_QUANT: numbers close to float, records as TensorFlow Lite's int8 scheme asks, what is left in float."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.quantized import dequantized_array, same_quant_params
from mslite.converter.mindir.verifier import verify
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.rewrite.graph import Boundary
from mslite.quantizer.settings import ActivationMethod, QuantizerSettings, quantizer_settings
from mslite.quantizer.stages import Stages
from tests.quantizer.networks import (
    convolution,
    image_network,
    matrix_network,
    node,
    node_of,
    real,
    run,
    samples,
    sqnr,
)

NETWORKS = {"image": image_network, "matrix": matrix_network}


def full(**keys: str) -> QuantizerSettings:
    common = {"quant_type": "FULL_QUANT"}
    rest: dict[str, str] = {}
    for key, value in keys.items():
        (common if key in ("bit_num", "skip_quant_node", "debug_info_save_path", "min_quant_weight_size") else rest)[
            key
        ] = value
    return quantizer_settings({"common_quant_param": common, "full_quant_param": rest})


def to_the_end(settings: QuantizerSettings) -> QuantizerSettings:
    """Settings that also quantize the last Softmax, which else stays in float before real outputs."""
    return dataclasses.replace(settings, integer_outputs=True)


def quantized(module: Module, settings: QuantizerSettings, **rest: Any) -> tuple[Module, QuantizeReport]:
    copy = copy_module(module)
    report = quantize(copy, settings, samples(module, 16), **rest)
    verify(copy)
    return copy, report


@pytest.mark.parametrize("method", list(ActivationMethod))
@pytest.mark.parametrize("name", list(NETWORKS))
def test_close_to_float_on_unseen_samples(name: str, method: ActivationMethod, tmp_path: Path) -> None:
    module = NETWORKS[name]()
    result, report = quantized(module, full(activation_quant_method=method.value))
    assert report.integer_share == 1.0
    assert report.samples == 16
    for sample in samples(module, 3, seed=9):
        wanted, got = run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]
        assert got.dtype == np.float32
        assert sqnr(wanted, got) > (20 if method in (ActivationMethod.KL, ActivationMethod.ENTROPY) else 25)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_more_bits_are_closer(name: str, tmp_path: Path) -> None:
    module = NETWORKS[name]()
    sample = samples(module, 1, seed=9)[0]
    wanted = run(module, sample, tmp_path)[0]
    found = [
        sqnr(wanted, run(quantized(module, to_the_end(full(bit_num=bits)))[0], sample, tmp_path)[0]) for bits in "248"
    ]
    found.append(sqnr(wanted, run(quantized(module, to_the_end(full(bit_num="16")))[0], sample, tmp_path)[0]))
    assert found == sorted(found)
    assert found[3] > found[2] + 3


@pytest.mark.parametrize("per_channel", ["true", "false"])
@pytest.mark.parametrize("operator", ["Conv2DFusion", "FullConnection"])
@pytest.mark.parametrize("share", [0.0, 1e-4, 1e-7, 1e-8, 1e-30])
@pytest.mark.parametrize("bits", ["8", "16"])
def test_nearly_dead_channels_keep_their_biases(
    bits: str, share: float, operator: str, per_channel: str, tmp_path: Path
) -> None:
    """Weight decay leaves channels whose weights are this share of the others, or all are: their sums get multipliers that are
    next to 0, and their biases make up the result."""
    draw = np.random.default_rng(20)
    is_conv = operator == "Conv2DFusion"
    shape = (6, 3, 3, 6) if is_conv else (6, 24)
    weights = (draw.standard_normal(shape) * 0.2).astype(np.float32)
    weights[slice(None) if per_channel == "false" else 1] *= np.float32(share)
    bias = np.array([0.5, 1.0, -2.0, 3.0, 0.1, -1.0], np.float32)
    x, y = (real("x", 1, 7, 7, 6), real("y", 1, 7, 7, 6)) if is_conv else (real("x", 4, 24), real("y", 4, 6))
    op = convolution((6, 6), activation=ActivationType.NO_ACTIVATION) if is_conv else FullConnection(has_bias=True)
    layer = node(op, "layer", [x, constant("w", weights, Format.NHWC), constant("b", bias)], y)
    module = Module([Graph("main", [x], [y], [layer])])
    result, _ = quantized(module, full(bit_num=bits, per_channel=per_channel, min_quant_weight_size="0"))
    sample = samples(module, 1, seed=9)[0]
    wanted, got = run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]
    step = float(np.abs(wanted).max()) / (100 if bits == "8" else 10000)
    np.testing.assert_allclose(got[..., 1], wanted[..., 1], atol=2 * step)
    assert sqnr(wanted, got) > (35 if bits == "8" else 45)


def test_records_of_the_image_network() -> None:
    module, report = quantized(image_network(), to_the_end(full()))
    float_module = image_network()
    conv, concat, pool = (node_of(module, name) for name in ("conv", "concat", "pool"))
    assert {layer.name for layer in report.layers if layer.precision is Precision.INT8} == {
        node.name for node in float_module.main.nodes
    }
    for made in module.main.nodes:
        if made.op.name in ("QuantDTypeCast", "Reshape", "Concat"):
            assert made.quant_type is QuantType.QUANT_NONE
        else:
            assert made.quant_type is QuantType.QUANT_ALL
    # weights: symmetric per output channel, -127 ... 127; bias in the scale of the products
    weight, bias = conv.inputs[1], conv.inputs[2]
    assert weight.dtype is DataType.INT8
    assert len(weight.quant) == 16
    assert all(record.zeroPoint == 0 for record in weight.quant)
    assert (np.abs(weight.array().astype(int)).reshape(16, -1).max(axis=1) == 127).all()
    assert bias.dtype is DataType.INT32
    x = conv.inputs[0].quant[0]
    assert [record.scale for record in bias.quant] == pytest.approx([x.scale * record.scale for record in weight.quant])
    # one record around pool and concatenation; softmax has its own
    records = [*(value.quant for value in (*concat.inputs, concat.output, pool.inputs[0], pool.output))]
    assert all(same_quant_params(record, records[0]) for record in records)
    softmax = node_of(module, "softmax").output
    assert (softmax.quant[0].scale, softmax.quant[0].zeroPoint) == (1 / 256, -128)
    # rectified results start at zero
    assert records[0][0].zeroPoint == -128
    assert [value.dtype for value in (*module.main.inputs, *module.main.outputs)] == [DataType.FLOAT32] * 2
    assert [value.name for value in module.main.outputs] == ["y"]


def test_matmuls_of_two_activations_and_float_nodes_between() -> None:
    module, report = quantized(matrix_network(), full())
    scores = node_of(module, "scores")
    assert all(value.dtype is DataType.INT8 and len(value.quant) == 1 for value in (*scores.inputs, scores.output))
    assert node_of(module, "erf").inputs[0].dtype is DataType.FLOAT32
    key = node_of(module, "key")
    assert len(key.inputs[1].quant) == 32  # rows of the transposed weight
    query = node_of(module, "query")
    assert len(query.inputs[1].quant) == 32
    assert len(query.inputs) == 3  # the correction of the bias
    # the sigmoid stands alone behind a float operator
    assert {layer.name for layer in report.layers if layer.precision is Precision.FLOAT} == {"erf", "sigmoid"}


def test_integers_inside_when_all_is_wide() -> None:
    module, _ = quantized(image_network(), to_the_end(full(bit_num="16")))
    conv = node_of(module, "conv")
    assert conv.inputs[0].dtype is DataType.INT16
    assert conv.inputs[0].quant[0].zeroPoint == 0
    assert conv.inputs[1].dtype is DataType.INT8
    assert conv.inputs[2].dtype is DataType.INT64
    assert node_of(module, "softmax").output.quant[0].scale == 1 / 32768


def test_nodes_can_be_left_in_float(tmp_path: Path) -> None:
    module = image_network()
    result, report = quantized(module, full(skip_quant_node="depthwise,softmax"))
    assert {layer.name for layer in report.layers if layer.precision is Precision.FLOAT} == {"depthwise", "softmax"}
    assert node_of(result, "depthwise").inputs[1].dtype is DataType.FLOAT32
    assert 0 < report.integer_share < 1
    sample = samples(module, 1, seed=3)[0]
    assert sqnr(run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]) > 25


def test_small_weights_are_left_in_float() -> None:
    _, report = quantized(image_network(), full(min_quant_weight_size="500"))
    left = {layer.name for layer in report.layers if layer.precision is Precision.FLOAT and layer.macs}
    assert left == {"conv", "depthwise"}


def test_integers_at_the_boundary(tmp_path: Path) -> None:
    module = image_network()
    result, _ = quantized(module, full(), boundary=Boundary(integer_inputs=True, integer_outputs=True))
    x, y = result.main.inputs[0], result.main.outputs[0]
    assert (x.dtype, y.dtype) == (DataType.INT8, DataType.INT8)
    assert not any(node.op.name == "QuantDTypeCast" for node in result.main.nodes)
    sample = samples(module, 1, seed=3)[0]
    record = x.quant[0]
    q = np.clip(np.rint(sample[0] / record.scale) + record.zeroPoint, -128, 127).astype(np.int8)
    got = dequantized_array(run(result, [q], tmp_path)[0], y.quant, 0)
    assert sqnr(run(module, sample, tmp_path)[0], got) > 25


def test_bias_correction_brings_the_mean_back(tmp_path: Path) -> None:
    """With two bits the rounded weights move the mean of a product; the corrected bias takes that back."""
    module = matrix_network()
    module.main.outputs = [node_of(module, "key").output]
    module.main.nodes = [node_of(module, "key")]
    data = [[array + np.float32(2) for array in sample] for sample in samples(module, 40)]
    errors = {}
    for correct in ("true", "false"):
        copy = copy_module(module)
        quantize(copy, full(bit_num="2", bias_correction=correct), data)
        differences = [run(copy, sample, tmp_path)[0] - run(module, sample, tmp_path)[0] for sample in data[:20]]
        errors[correct] = np.abs(np.mean(differences, axis=(0, 1, 2))).mean()
    assert errors["true"] < errors["false"] / 3


def test_a_mixture_of_precisions(tmp_path: Path) -> None:
    module = image_network()
    chosen = {
        "conv": Precision.INT16, "depthwise": Precision.INT8, "pool": Precision.INT16, "concat": Precision.INT8,
        "dense": Precision.INT16,
    }  # fmt: skip
    result, _ = quantized(module, full(), stages=Stages(choose=lambda *_: chosen))
    assert node_of(result, "depthwise").inputs[0].dtype is DataType.INT8
    assert node_of(result, "pool").inputs[0].dtype is DataType.INT16
    assert node_of(result, "softmax").inputs[0].dtype is DataType.FLOAT32
    sample = samples(module, 1, seed=3)[0]
    assert sqnr(run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]) > 25


@pytest.mark.parametrize("device", ["KIRIN", "DSP", "NVGPU"])
def test_other_devices(device: str, tmp_path: Path) -> None:
    module = image_network()
    result, report = quantized(module, full(target_device=device))
    # MindSpore Lite quantizes no dense layer for NVGPU.
    assert report.integer_share == 1.0 if device != "NVGPU" else 0.6 < report.integer_share < 0.7
    conv = node_of(result, "conv")
    assert conv.inputs[0].dtype is (DataType.UINT8 if device == "KIRIN" else DataType.INT8)
    assert (conv.inputs[0].quant[0].zeroPoint == 0) == (device == "NVGPU")
    assert (conv.inputs[0].quant[0].max > 0) == (device == "NVGPU")
    sample = samples(module, 1, seed=3)[0]
    assert sqnr(run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]) > 22


def test_a_shared_weight_is_stored_once() -> None:
    module = matrix_network()
    query, key = node_of(module, "query"), node_of(module, "key")
    query.set_inputs([query.inputs[0], key.inputs[1]])
    query.op = MatMulFusion(transpose_b=True)
    result, _ = quantized(module, full())
    assert node_of(result, "query").inputs[1] is node_of(result, "key").inputs[1]


def test_ascend_is_refused() -> None:
    with pytest.raises(ConversionError, match="Ascend is unsupported"):
        quantized(image_network(), full(target_device="ASCEND"))


def test_no_sample_is_refused() -> None:
    with pytest.raises(ConversionError, match="no calibration sample"):
        quantize(image_network(), full(), [])


def test_debug_information(tmp_path: Path) -> None:
    quantized(image_network(), full(debug_info_save_path=str(tmp_path / "debug")))
    layers = json.loads((tmp_path / "debug" / "layers.json").read_text())
    conv = next(layer for layer in layers if layer["name"] == "conv")
    assert conv["macs"] == 8 * 8 * 16 * 27
    assert 0 < conv["weight_error"] < 0.02
    with (tmp_path / "debug" / "quant_param.csv").open() as file:
        rows = list(csv.DictReader(file))
    weight = [row for row in rows if row["TensorName"] == "w1"]
    assert len(weight) == 16
    assert (weight[0]["NodeName"], weight[0]["Dims"], weight[0]["ElementsNum"]) == ("conv", "16 3 3 3", "432")
    with (tmp_path / "debug" / "round_0.csv").open() as file:
        tensors = {(row["TensorName"], row["DataTypeFlag"]): row for row in csv.DictReader(file)}
    for name in "abpstfgy":
        wanted, got = tensors[name, "Origin"], tensors[name, "Dequant"]
        assert float(got["CosineSimilarity"]) > 0.99
        spread = float(wanted["MAX"]) - float(wanted["Min"])
        assert abs(float(got["Median"]) - float(wanted["Median"])) < 0.05 * spread
    with (tmp_path / "debug" / "output_summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    assert [row["Round"] for row in summary] == [str(number) for number in range(8)]
    assert all(row["TensorName"] == "y" and float(row["CosineSimilarity"]) > 0.99 for row in summary)
