"""LSTM in a FULL_QUANT: TensorFlow Lite's integer cell."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Value, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.recurrent import LSTM, LSTMSequence
from mslite.converter.mindir.quantized import dequantized_array
from mslite.converter.mindir.verifier import verify
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.transforms.prepare import prepare
from tests.quantizer.networks import Array, node, node_of, real, run, samples, sqnr

TIME, BATCH, INPUT, HIDDEN = 7, 2, 10, 12


def network(bias: bool = True, states: bool = False, **attributes: object) -> Module:
    draw = np.random.default_rng(3)

    def stored(name: str, *shape: int) -> Value:
        return constant(name, draw.normal(0, 0.4, shape).astype(np.float32))

    x = real("x", TIME, BATCH, INPUT)
    inputs = [x, stored("w", 1, 4 * HIDDEN, INPUT), stored("r", 1, 4 * HIDDEN, HIDDEN)]
    if bias:
        inputs.append(stored("b", 1, 8 * HIDDEN))
    if states:
        inputs += [stored("h0", 1, BATCH, HIDDEN), stored("c0", 1, BATCH, HIDDEN)]
    outputs = (real("y", TIME, 1, BATCH, HIDDEN), real("h", 1, BATCH, HIDDEN), real("c", 1, BATCH, HIDDEN))
    op = LSTMSequence(has_bias=bias, has_initial_hidden=states, has_initial_cell=states, **attributes)  # type: ignore[arg-type]
    lstm = node(op, "lstm", inputs, outputs[0])
    lstm.outputs = outputs
    for value in outputs:
        value.producer = lstm
    return Module([Graph("main", [x], list(outputs), [lstm])])


def quantized(module: Module, per_channel: str = "true") -> tuple[Module, float]:
    copy = copy_module(module)
    settings = quantizer_settings(
        {"common_quant_param": {"quant_type": "FULL_QUANT"}, "full_quant_param": {"per_channel": per_channel}}
    )
    report = quantize(copy, settings, samples(module, 24))
    verify(copy)
    return copy, report.integer_share


def compare(module: Module, result: Module, folder: Path) -> list[float]:
    found: list[list[float]] = []
    for sample in samples(module, 4, seed=8):
        wanted: list[Array] = run(module, sample, folder)
        found.append([sqnr(a, b) for a, b in zip(wanted, run(result, sample, folder), strict=True)])
    return [min(column) for column in zip(*found, strict=True)]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("states", [True, False])
def test_close_to_float(bias: bool, states: bool, tmp_path: Path) -> None:
    module = network(bias, states)
    result, share = quantized(module)
    assert share == 1.0
    lstm = node_of(result, "lstm")
    assert lstm.quant_type is QuantType.QUANT_ALL
    assert [value.dtype for value in lstm.outputs] == [DataType.INT8, DataType.INT8, DataType.INT16]
    assert lstm.outputs[0].quant == lstm.outputs[1].quant
    assert lstm.outputs[1].quant[0].zeroPoint == 0
    assert np.log2(lstm.outputs[2].quant[0].scale) % 1 == 0
    assert lstm.inputs[3].shape == (1, 8 * HIDDEN)
    assert min(compare(module, result, tmp_path)) > 25


@pytest.mark.parametrize("per_channel", ["true", "false"])
def test_units_have_scales_of_their_own(per_channel: str) -> None:
    """Small units keep their precision next to large ones, unless all of a gate share a scale."""
    module = network()
    lstm = node_of(module, "lstm")
    for value in lstm.inputs[1:3]:
        value.data = (value.array() * np.tile(np.geomspace(0.02, 1, HIDDEN), 4)[:, None]).astype(np.float32)
    result, _ = quantized(module, per_channel)
    for before, after in zip(lstm.inputs[1:3], node_of(result, "lstm").inputs[1:3], strict=True):
        scales = np.array([item.scale for item in after.quant]).reshape(4, HIDDEN)
        assert (scales == scales[:, :1]).all() == (per_channel == "false")
        wanted, found = before.array()[0], dequantized_array(after.array(), after.quant, 1)[0]
        errors = np.abs(found - wanted).max(axis=1) / np.abs(wanted).max(axis=1)
        assert (errors < 0.501 / 127).all() == (per_channel == "true")


def test_biases_of_units_without_weights_are_kept(tmp_path: Path) -> None:
    """Steps of a bias are those of its row's weights, which may be zeros or next to nothing."""
    module = network()
    lstm = node_of(module, "lstm")
    for value in lstm.inputs[1:3]:
        data = value.array().copy()
        data[:, ::5] = 0
        data[:, 1::5] *= 1e-12
        value.data = data
    result, _ = quantized(module)
    assert min(compare(module, result, tmp_path)) > 25


def test_initial_states_larger_than_any_result(tmp_path: Path) -> None:
    module = network(states=True)
    lstm = node_of(module, "lstm")
    bias, hidden, cell = lstm.inputs[3:]
    bias.data = np.full_like(bias.array(), -1.0)  # gates that let little in
    hidden.data, cell.data = np.full_like(hidden.array(), 0.9), np.full_like(cell.array(), 60.0)
    result, _ = quantized(module)
    stored = node_of(result, "lstm").inputs[4:]
    for value, real_value in zip(stored, (0.9, 60.0), strict=True):
        found = dequantized_array(value.array(), value.quant, 0)
        assert np.abs(found - real_value).max() <= value.quant[0].scale / 2 + 1e-6
    assert compare(module, result, tmp_path)[0] > 30


def test_a_budget_that_puts_the_cell_in_float_says_so() -> None:
    """There is no cell with int16 activations between: what is asked for so computes in float, and counts as that."""
    module = copy_module(network())
    settings = quantizer_settings(
        {"common_quant_param": {"quant_type": "FULL_QUANT"}, "accuracy_param": {"budget": "sqnr:70", "processes": "1"}}
    )
    report = quantize(module, settings, samples(network(), 8))
    assert report.integer_share == 0
    assert "lstm" not in report.choices
    assert any("(0.0 % of the multiply-accumulates in integers" in note for note in report.notes)
    assert any(note.startswith("lstm: float") for note in report.notes)


def test_the_report_tells_that_wide_activations_leave_the_cell_in_float(tmp_path: Path) -> None:
    settings = quantizer_settings(
        {
            "common_quant_param": {"quant_type": "FULL_QUANT"},
            "accuracy_param": {"report": str(tmp_path / "page.html"), "processes": "1"},
        }
    )
    quantize(copy_module(network()), settings, samples(network(), 8))
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", (tmp_path / "page.html").read_text(encoding="utf-8")))
    shares = dict(re.findall(r" (int8|int16 activations) [\d.]+ KiB [\d.]+ µs ([\d.]+) % ", text))
    assert {name: float(share) for name, share in shares.items()} == {"int8": 100, "int16 activations": 0}


def test_products_that_cancel(tmp_path: Path) -> None:
    """What x and the bias give is beyond what gates of 16 bits hold, until the hidden state takes it away again."""
    module = network(states=True)
    lstm = node_of(module, "lstm")
    r, bias, hidden = lstm.inputs[2:5]
    r.data = (r.array() - 1.5).astype(np.float32)
    hidden.data = np.full_like(hidden.array(), 0.9)
    bias.data = (bias.array() + 1.5 * 0.9 * HIDDEN / 2).astype(np.float32)
    lstm.set_inputs([real("x", 1, BATCH, INPUT), *lstm.inputs[1:]])
    module.main.inputs = [lstm.inputs[0]]
    lstm.outputs[0].shape = (1, 1, BATCH, HIDDEN)
    result, share = quantized(module)
    assert share == 1.0
    assert min(compare(module, result, tmp_path)) > 25


def in_directions(direction: str) -> Module:
    """The network with weights for every direction."""
    module = network(states=True, direction=direction)
    lstm = node_of(module, "lstm")
    if direction == "bidirectional":
        draw = np.random.default_rng(5)
        doubled = [
            constant(v.name, np.concatenate([v.array(), draw.normal(0, 0.4, v.array().shape).astype(np.float32)]))
            for v in lstm.inputs[1:]
        ]
        lstm.set_inputs([lstm.inputs[0], *doubled])
        for axis, value in zip((1, 0, 0), lstm.outputs, strict=True):
            assert value.shape is not None
            value.shape = tuple(2 if at == axis else size for at, size in enumerate(value.shape))
    return module


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
def test_directions(direction: str, tmp_path: Path) -> None:
    module = in_directions(direction)
    copy = copy_module(module)
    prepare(copy)
    verify(copy)
    assert [value.name for value in copy.main.outputs] == ["y", "h", "c"]
    assert min(compare(module, copy, tmp_path)) > 100
    result, share = quantized(module)
    assert share == 1.0
    assert min(compare(module, result, tmp_path)) > 22


@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_operator_of_mindspore(bidirectional: bool, tmp_path: Path) -> None:
    module = in_directions("bidirectional") if bidirectional else network(states=True)
    lstm = node_of(module, "lstm")
    lstm.op = LSTM(bidirectional=bidirectional, has_bias=True, input_size=INPUT, hidden_size=HIDDEN)
    result, share = quantized(module)
    assert share == 1.0
    assert min(compare(module, result, tmp_path)) > 22


def test_a_bounded_cell_state(tmp_path: Path) -> None:
    module = network(cell_clip=0.3)
    result, share = quantized(module)
    assert share == 1.0
    assert np.abs(run(module, samples(module, 1)[0], tmp_path)[2]).max() == np.float32(0.3)
    assert min(compare(module, result, tmp_path)) > 22


@pytest.mark.parametrize("attributes", [{"clip": 1.0}, {"input_forget": True}])
def test_other_forms_stay_in_float(attributes: dict[str, object], tmp_path: Path) -> None:
    module = network(**attributes)
    result, share = quantized(module)
    assert share == 0.0
    assert node_of(result, "lstm").quant_type is QuantType.QUANT_NONE
    assert min(compare(module, result, tmp_path)) > 100


def wide_settings(bits: str) -> QuantizerSettings:
    return quantizer_settings({"common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": bits}})


@pytest.mark.parametrize("bits", ["9", "16"])
def test_wide_activations_leave_it_in_float_and_it_is_named(bits: str) -> None:
    module = network()
    report = quantize(copy_module(module), wide_settings(bits), samples(module, 4))
    assert [layer.precision for layer in report.layers] == [Precision.FLOAT]
    note = (
        "lstm (LSTMSequence): float, because it has no implementation with activations of more than 8 bits"
        " (100.0 % of the multiply-accumulates); bit_num=8 quantizes it"
    )
    assert note in report.notes


def test_wide_activations_are_not_worth_casts_around_a_cell() -> None:
    """What follows a cell in float is no reason for integers."""
    module = network()
    y = module.main.outputs[0]
    result = real("z", *(y.shape or ()))
    after = node(AddFusion(), "after", [y, constant("offset", np.full(HIDDEN, 0.5, np.float32))], result)
    module.main.nodes.append(after)
    x, dense = real("x2", 4, HIDDEN), real("d", 4, 3)
    weight = constant("dense_w", np.random.default_rng(1).normal(0, 1, (HIDDEN, 3)).astype(np.float32))
    module.main.nodes.append(node(MatMulFusion(), "dense", [x, weight], dense))
    module.main.inputs.append(x)
    module.main.outputs += [result, dense]
    for bits, precisions in (("8", [Precision.INT8] * 3), ("16", [Precision.FLOAT] * 2 + [Precision.INT16])):
        report = quantize(copy_module(module), wide_settings(bits), samples(module, 4))
        assert [layer.precision for layer in report.layers] == precisions


def test_what_a_budget_raises_is_named_as_it_computes() -> None:
    """Raised to int16 activations, a cell is in float."""
    module = network()
    settings = quantizer_settings(
        {"common_quant_param": {"quant_type": "FULL_QUANT"}, "accuracy_param": {"budget": "sqnr:90"}}
    )
    report = quantize(copy_module(module), settings, samples(module, 4))
    assert [layer.precision for layer in report.layers] == [Precision.FLOAT]
    assert any(note.startswith("lstm: float (only this layer quantized") for note in report.notes)
    assert not any("int16 activations" in note for note in report.notes)


def test_what_has_no_form_on_integers_is_named() -> None:
    settings = quantizer_settings({"common_quant_param": {"quant_type": "FULL_QUANT"}})
    module = network(clip=1.0)
    notes = quantize(module, settings, samples(module, 4)).notes
    assert (
        "LSTMSequence: float, because it has no integer implementation (100.0 % of the multiply-accumulates)" in notes
    )
    module = network()
    assert not any("no integer implementation" in note for note in quantize(module, settings, samples(module, 4)).notes)


@pytest.mark.parametrize("per_channel", ["true", "false"])
@pytest.mark.parametrize("gate", range(4))
def test_nearly_dead_gates_keep_their_biases(gate: int, per_channel: str, tmp_path: Path) -> None:
    """Their weights are so small that the biases are beyond 32 bits in the scale of their sums."""
    module = network()
    (lstm,) = module.main.nodes
    rows = slice(gate * HIDDEN, (gate + 1) * HIDDEN)
    weights = lstm.inputs[1].array().copy()
    weights[:, rows] *= np.float32(1e-12)
    lstm.inputs[1].data = weights
    result, _ = quantized(module, per_channel)
    sample = samples(module, 1, seed=9)[0]
    assert sqnr(run(module, sample, tmp_path)[0], run(result, sample, tmp_path)[0]) > 15
