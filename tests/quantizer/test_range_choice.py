"""AUTO: the ranges that serve the model best on samples that they have not seen."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.quantizer.accuracy.auto_range import CANDIDATES, choose_ranges
from mslite.quantizer.accuracy.evaluation import outputs_of
from mslite.quantizer.calibration.activation_bounds import bounds_of
from mslite.quantizer.calibration.calibrate import calibrate
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import calibration_data
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.metrics import sqnr
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import default_choices
from mslite.quantizer.precision.schemes import INT8_ACTIVATION, Range
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import ActivationMethod, quantizer_settings
from tests.quantizer.networks import Array, convolution, image_network, node_of, samples

MAX_MIN = quantizer_settings({"common_quant_param": {"quant_type": "FULL_QUANT"}})
AUTO = quantizer_settings({
    "common_quant_param": {"quant_type": "FULL_QUANT"},
    "full_quant_param": {"activation_quant_method": "AUTO"},
})  # fmt: skip


def calibrated(given: list[list[Array]]) -> tuple[Calibration, list[str]]:
    module = image_network()
    data = calibration_data(given, module.main.inputs, AUTO.data)
    calibration = calibrate(module, data, AUTO)
    return calibration, choose_ranges(module, calibration, data, AUTO)


def ranges(calibration: Calibration) -> dict[str, object]:
    return {name: observer.range(INT8_ACTIVATION) for name, observer in calibration.observers.items()}


def test_the_choice_is_said_and_always_the_same() -> None:
    given = samples(image_network(), 24)
    first, notes = calibrated(given)
    again, same = calibrated(given)
    assert notes == same
    assert notes[0].startswith("range method ")
    assert all(f"{candidate} " in notes[0] for candidate in CANDIDATES)
    assert ranges(first) == ranges(again)


def test_samples_that_are_all_alike_need_no_room() -> None:
    one = samples(image_network(), 1)[0]
    _, notes = calibrated([one] * 12)
    assert " x 1.1," not in notes[0].partition(":")[0] + ","


def test_rare_loud_samples_get_room() -> None:
    given = [[array * np.float32(1 + 0.6 * (number == 5)) for array in sample]
             for number, sample in enumerate(samples(image_network(), 24))]  # fmt: skip
    _, notes = calibrated(given)
    assert " x 1.1" in notes[0].partition(":")[0]


def test_what_is_chosen_is_no_worse_for_new_samples_than_the_least_of_the_candidates() -> None:
    module, drawn = image_network(), samples(image_network(), 48)
    calibration, _ = calibrated(drawn[:24])
    choices, unseen = default_choices(module, AUTO), drawn[24:]

    def measured(found: Calibration) -> float:
        quantized = copy_module(module)
        quantize_graph(quantized, found, choices, AUTO)
        outputs = []
        for graph in (module, quantized):
            runner = Runner(graph, graph.main.outputs)
            outputs.append([outputs_of(runner, graph, sample) for sample in unseen])
        return sqnr(*outputs)

    chosen = measured(calibration)
    others = []
    for candidate in CANDIDATES:
        for observer in calibration.observers.values():
            observer.decide(candidate.method, candidate.room)  # type: ignore[attr-defined]
        others.append(measured(calibration))
    assert chosen >= min(others)
    assert chosen >= max(others) - 1.0


def test_it_is_part_of_the_conversion() -> None:
    module = image_network()
    report = quantize(module, AUTO, samples(module, 8))
    assert report.notes[0].startswith("range method ")
    assert report.integer_share > 0.95


def test_few_samples_are_enough() -> None:
    for count in (1, 2, 5):
        calibration, notes = calibrated(samples(image_network(), count))
        assert notes
        assert calibration.samples == count


def test_room_ends_where_no_value_can_lie() -> None:
    """A ReLU6 is at most 6, and so is what only moves its values; without a bound ranges grow by a tenth."""
    module = image_network()
    node_of(module, "conv").op = convolution((3, 16), activation=ActivationType.RELU6)
    given = [[array * np.float32(40) for array in sample] for sample in samples(module, 12)]
    data = calibration_data(given, module.main.inputs, AUTO.data)
    calibration = calibrate(module, data, AUTO)
    choose_ranges(module, calibration, data, AUTO)
    for observer in calibration.observers.values():
        observer.decide(ActivationMethod.MAX_MIN, 1.1)  # type: ignore[attr-defined]
    found = {name: calibration.observers[name].range(INT8_ACTIVATION) for name in ("a", "p", "b")}
    assert found["a"] == found["p"] == Range(0.0, 6.0)
    seen = calibrate(module, data, MAX_MIN).observers["b"].range(INT8_ACTIVATION)
    assert found["b"].high == pytest.approx(1.1 * seen.high)
    assert bounds_of(module)["s"] == Range(0.0, np.inf)
    assert bounds_of(module)["y"] == Range(0.0, 1.0)
    assert "g" not in bounds_of(module)
