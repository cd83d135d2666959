"""method=QAT: the quantized form comes closer to its float model on samples that nobody showed it, and the same way again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import FullConnection
from mslite.converter.mindir.ops.normalization import LpNormalization
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.unary import Floor
from mslite.converter.verify.interpreter import run_graph
from mslite.quantizer.accuracy.budget import with_raised
from mslite.quantizer.calibration.calibrate import calibrate
from mslite.quantizer.calibration.sources import PythonData
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import Precision, default_choices
from mslite.quantizer.results import QuantizeReport, Tuning
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from mslite.quantizer.stages import Stages
from mslite.quantizer.tuning.student import student_of
from mslite.quantizer.tuning.tune import tune
from tests.quantizer.networks import convolution, node, real, run, samples, sqnr, weight

_COUNT = 256


def settings(
    method: str = "QAT", bits: int = 8, budget: str = "", report: Path | None = None, **full: str
) -> QuantizerSettings:
    sections = {
        "common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": str(bits)},
        "full_quant_param": {"method": method, "qat_steps": "300", **full},
    }
    accuracy = {"budget": budget, "report": str(report or "")}
    return quantizer_settings(sections | ({"accuracy_param": accuracy} if budget else {}))


def chain(last: ActivationType = ActivationType.NO_ACTIVATION) -> Module:
    """8x8x3 → three convolutions, the second depthwise and without bias → dense."""
    draw = np.random.default_rng(3)
    x, a, b, c = real("x", 1, 8, 8, 3), *(real(name, 1, 8, 8, 16) for name in "abc")
    f, y = real("f", 1, 1024), real("y", 1, 10)
    biases = [constant(f"b{i}", draw.normal(0, 0.1, 16).astype(np.float32)) for i in range(2)]
    nodes = [
        node(convolution((3, 16)), "first", [x, weight(draw, "w1", 16, 3, 3, 3), biases[0]], a),
        node(convolution((16, 16), 16), "depthwise", [a, weight(draw, "w2", 16, 3, 3, 1)], b),
        node(convolution((16, 16), 1, last), "third", [b, weight(draw, "w3", 16, 3, 3, 16), biases[1]], c),
        node(Reshape(), "flatten", [c, constant("shape", np.array([1, 1024], np.int32))], f),
        node(FullConnection(has_bias=False), "dense", [f, weight(draw, "w4", 10, 1024)], y),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def quantized(module: Module, chosen: QuantizerSettings) -> tuple[Module, QuantizeReport]:
    copy = copy_module(module)
    return copy, quantize(copy, chosen, samples(module, _COUNT))


def quality(module: Module, result: Module, folder: Path) -> float:
    """SQNR in dB on samples that nobody has seen."""
    unseen = samples(module, 12, seed=99)
    wanted, got = ([run(one, sample, folder)[0] for sample in unseen] for one in (module, result))
    return sqnr(np.stack(wanted), np.stack(got))


@pytest.mark.parametrize(("bits", "rate", "gain"), [(8, "0.003", 0.5), (4, "0.1", 2.0)])
def test_the_error_falls(bits: int, rate: str, gain: float, tmp_path: Path) -> None:
    """With one scale for a tensor, where rounding loses much."""
    module = chain()
    plain, _ = quantized(module, settings("", bits, per_channel="false"))
    chosen = settings("QAT", bits, per_channel="false", qat_learning_rate=rate, qat_steps="1500")
    tuned, report = quantized(module, chosen)
    assert report.tuning is not None
    assert report.tuning.is_kept
    assert report.tuning.after > report.tuning.before
    assert np.mean(report.tuning.losses[-100:]) < np.mean(report.tuning.losses[:100])
    assert quality(module, tuned, tmp_path) > quality(module, plain, tmp_path) + gain


def test_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        module, report = quantized(chain(), settings("QAT", 4, per_channel="false", qat_learning_rate="0.1"))
        assert report.tuning is not None
        assert report.tuning.is_kept
        save(module, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "raised", [{}, {"third": Precision.INT16}, {"first": Precision.INT16, "depthwise": Precision.FLOAT}]
)
def test_the_student_computes_what_the_integers_do(raised: dict[str, Precision], tmp_path: Path) -> None:
    """Before it learns it differs by a step of the result at most, where a sum lies between two integers."""
    module, chosen = chain(), settings("", bias_correction="false")
    data = samples(module, 4)
    choices = with_raised(module, default_choices(module, chosen), raised)
    calibration = calibrate(module, PythonData(data, module.main.inputs), chosen)
    student = student_of(module, calibration, choices, chosen, data[0]).module
    copy = copy_module(module)
    quantize(copy, chosen, data, stages=Stages(choose=lambda *_: choices))
    (step,) = [value.quant[0].scale for value in copy.main.values() if value.name == "y_stored"]
    for sample in data:
        given = dict(zip((value.name for value in student.main.inputs), [*sample, np.ones(1, np.float32)], strict=True))
        result = np.asarray(run_graph(student.main, given)[student.main.outputs[0]], np.float64)
        integers = run(copy, sample, tmp_path)[0].ravel()
        assert np.abs(result - integers).max() < 1.01 * step


def test_layers_without_a_gradient_are_named_and_stay() -> None:
    """LpNormalization has no gradient: what comes before it stays, what comes after it learns."""
    draw = np.random.default_rng(5)
    x, a, s, y = real("x", 1, 32), real("a", 1, 32), real("s", 1, 32), real("y", 1, 8)
    nodes = [
        node(FullConnection(has_bias=False), "before", [x, weight(draw, "w1", 32, 32)], a),
        node(LpNormalization(axis=1, p=2), "wave", [a], s),
        node(FullConnection(has_bias=False), "after", [s, weight(draw, "w2", 8, 32)], y),
    ]
    module = Module([Graph("main", [x], [y], nodes)])
    chosen = settings("QAT", 4)
    source = PythonData(samples(module, _COUNT), module.main.inputs)
    copy = copy_module(module)
    result = tune(copy, calibrate(copy, source, chosen), source, chosen, default_choices(copy, chosen))
    assert result.tuning is not None
    assert result.tuning.stopped == ("wave",)
    assert any("no gradient for wave" in note for note in result.notes)
    tuned = result.calibration.tuned
    assert tuned is not None
    assert set(tuned.weights) == {"w1", "w2"}


def test_what_cannot_learn_at_all_says_why() -> None:
    draw = np.random.default_rng(5)
    x, a, y = real("x", 1, 32), real("a", 1, 32), real("y", 1, 32)
    dense = node(FullConnection(has_bias=False), "dense", [x, weight(draw, "w1", 32, 32)], a)
    module = Module([Graph("main", [x], [y], [dense, node(Floor(), "wave", [a], y)])])
    plain, _ = quantized(module, settings(""))
    tuned, report = quantized(module, settings())
    assert report.tuning is None
    assert any("the model is not tuned" in note and "nothing can be trained" in note for note in report.notes)
    assert [value.data.tobytes() for value in tuned.main.values() if value.data is not None] == [
        value.data.tobytes() for value in plain.main.values() if value.data is not None
    ]


def test_a_rate_that_ruins_the_model_leaves_it(tmp_path: Path) -> None:
    module = chain()
    plain, _ = quantized(module, settings(""))
    tuned, report = quantized(module, settings(qat_learning_rate="9.9"))
    assert any("the tuned weights are discarded" in note for note in report.notes)
    sample = samples(module, 1, seed=7)[0]
    assert np.array_equal(run(plain, sample, tmp_path)[0], run(tuned, sample, tmp_path)[0])


def test_a_budget_raises_fewer_layers_and_the_page_shows_the_losses(tmp_path: Path) -> None:
    module = chain()
    keys = {"per_channel": "false", "qat_learning_rate": "0.1", "qat_steps": "1000"}
    _, plain = quantized(module, settings("", 4, "sqnr:11.5", **keys))
    _, tuned = quantized(module, settings("QAT", 4, "sqnr:11.5", tmp_path / "page.html", **keys))
    raised = [sum(": int16" in note or ": float" in note for note in one.notes) for one in (plain, tuned)]
    assert raised[1] < raised[0]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h2>Tuning</h2>" in page
    assert 'aria-label="loss by step"' in page


def test_notes_say_what_happened() -> None:
    notes = Tuning((0.2, 0.1), (0.9, 10.0), (0.8, 9.0), 4, False, ("a", "b")).notes()
    assert "cosine 0.90000 to 0.80000" in notes[0]
    assert "the tuned weights are discarded" in notes[1]
    assert "a, b" in notes[2]


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"common_quant_param": {"quant_type": "WEIGHT_QUANT"}}, "FULL_QUANT"),
        ({"common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": "16"}}, "at most 8"),
        ({"mslite_quant_param": {"learned_rounding": "true"}}, "both decide"),
        ({"mslite_prune_param": {"method": "MAGNITUDE"}}, "weights that are zero"),
        ({"full_quant_param": {"method": "QUAT"}}, "must be QAT"),
        ({"full_quant_param": {"method": "QAT", "qat_steps": "0"}}, "qat_steps"),
        ({"full_quant_param": {"method": "QAT", "qat_learning_rate": "-1"}}, "qat_learning_rate"),
    ],
)
def test_what_does_not_go_together_is_refused(sections: dict[str, dict[str, str]], told: str) -> None:
    given = {"common_quant_param": {"quant_type": "FULL_QUANT"}, "full_quant_param": {"method": "QAT"}} | sections
    with pytest.raises(UsageError, match=told):
        quantizer_settings(given)


def test_it_needs_calibration_data() -> None:
    with pytest.raises(UsageError, match="calibration data"):
        quantize(chain(), settings())
