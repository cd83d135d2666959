"""The figure that FULL_QUANT ends with: on which samples, of what, and what is said where it is low."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.summary import agreement_lines
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.results import OutputAccuracy
from mslite.quantizer.rewrite.graph import Boundary
from mslite.quantizer.settings import quantizer_settings
from tests.quantizer.networks import image_network, samples


def measured(module: Module, given: list[list[Array]], size: int, **rest: Boundary) -> tuple[Module, OutputAccuracy]:
    sections = {
        "common_quant_param": {"quant_type": "FULL_QUANT"},
        "data_preprocess_param": {"calibrate_size": str(size)},
    }
    result = copy_module(module)
    found = quantize(result, quantizer_settings(sections), given, **rest).agreement  # type: ignore[arg-type]
    assert found is not None
    return result, found


def test_it_is_measured_on_samples_that_the_calibration_did_not_see() -> None:
    module = image_network()
    given = samples(module, 12)
    result, found = measured(module, given, 8)
    assert (found.samples, found.are_unseen, found.is_good) == (4, True, True)
    float_model, integers = (Runner(one, one.main.outputs) for one in (module, result))
    expected, actual = ([[a for _, a in runner.run(s)] for s in given[8:]] for runner in (float_model, integers))
    assert found.cosine == cosine(expected, actual)
    assert found.sqnr == sqnr(expected, actual)
    (line,) = agreement_lines(found)
    assert line.endswith(
        f"SQNR {found.sqnr:.1f} dB compared with the float model, on 4 samples not used for calibration"
    )


def test_without_others_on_those_of_the_calibration() -> None:
    module = image_network()
    found = measured(module, samples(module, 5), 5)[1]
    assert (found.samples, found.are_unseen) == (5, False)
    assert agreement_lines(found)[0].endswith("on 5 samples that were also used for calibration")


def test_integers_at_the_boundary_are_compared_as_the_real_numbers_that_they_mean() -> None:
    module = image_network()
    found = measured(module, samples(module, 12), 8, boundary=Boundary(integer_inputs=True, integer_outputs=True))[1]
    assert found.is_good


def test_a_low_figure_names_layers_and_remedies() -> None:
    """One sample a thousand times as large as the others leaves these few steps."""
    module = image_network()
    given = samples(module, 12)
    given[0] = [array * np.float32(1000) for array in given[0]]
    found = measured(module, given, 8)[1]
    assert not found.is_good
    assert found.worst[0][1] >= found.worst[1][1] >= found.worst[2][1]
    names = {node.name for node in module.main.nodes}
    assert {name for name, _ in found.worst} <= names
    _, second, third = agreement_lines(found)
    assert second.startswith("warning     the cosine is below 0.99; most noise enters at '")
    assert third.strip().startswith("try more calibration samples than 8; --accuracyBudget=cosine:0.99")


@pytest.mark.parametrize(("value", "good"), [(0.99, True), (0.9899, False)])
def test_the_limit(value: float, good: bool) -> None:
    assert dataclasses.replace(OutputAccuracy(1, 60, 1, True), cosine=value).is_good is good
