"""Measures the accuracy of the quantized model compared with the float model, at the end of every FULL_QUANT."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from mslite.converter.mindir.graph import Array, Module
from mslite.quantizer.accuracy.evaluation import chosen_samples, evaluation_samples, outputs_of
from mslite.quantizer.accuracy.sensitivity import errors_accumulated
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.results import OutputAccuracy
from mslite.quantizer.settings import ActivationMethod, QuantizerSettings

_SAMPLES = 32
_WATCHED_SAMPLES = 4
_WORST = 3
_CLEAN = 60.0
"""The SQNR in dB that counts for model inputs and for results in float."""

_ENOUGH_SAMPLES = 100
_BYTE = 8


def compared_samples(data: CalibrationData, calibration: Calibration) -> tuple[list[list[Array]], bool]:
    """Returns the samples for the comparison, and whether the calibration did not use them.

    They are the samples that follow those of the calibration. If the data has no more, calibration samples are used.
    Raises ConversionError for samples that cannot be read.
    """
    samples = chosen_samples(itertools.islice(data.beyond(), _SAMPLES))
    return (samples, True) if samples else (evaluation_samples(data, calibration)[:_SAMPLES], False)


def agreement(
    before: Module,
    after: Module,
    calibration: Calibration,
    data: CalibrationData,
    choices: Choices,
    settings: QuantizerSettings,
) -> OutputAccuracy:
    """Compares the quantized model `after` with the float model `before` on `compared_samples`.

    Raises:
        ConversionError: for samples that cannot be read.
        RuntimeError: if a model does not run.
    """
    samples, are_unseen = compared_samples(data, calibration)
    reference, quantized = Runner(before, before.main.outputs), Runner(after, after.main.outputs)
    expected = [outputs_of(reference, before, sample) for sample in samples]
    actual = [outputs_of(quantized, after, sample) for sample in samples]
    found = OutputAccuracy(cosine(expected, actual), sqnr(expected, actual), len(samples), are_unseen)
    if found.is_good:
        return found
    worst = _worst(before, after, choices, samples[:_WATCHED_SAMPLES])
    return replace(found, worst=worst, remedies=_remedies(settings, calibration.samples))


def _worst(before: Module, after: Module, choices: Choices, samples: Sequence[Sample]) -> tuple[tuple[str, float], ...]:
    """Returns the quantized layers with the largest drop of SQNR from inputs to output, and the drop in dB."""
    names = [node.name for node in before.main.nodes]
    quality = {error.name: error.sqnr for error in errors_accumulated(before, after, names, samples, 0)}
    drops = []
    for node in before.main.nodes:
        if node.name not in quality or choices.get(node.name, Precision.FLOAT) is Precision.FLOAT:
            continue
        givers = [value.producer.name for value in node.inputs if value.producer is not None]
        given = min((quality[name] for name in givers if name in quality), default=_CLEAN)
        drops.append((node.name, min(given, _CLEAN) - quality[node.name]))
    return tuple(sorted(drops, key=lambda drop: -drop[1])[:_WORST])


def _remedies(settings: QuantizerSettings, samples: int) -> tuple[str, ...]:
    """Returns settings that may improve the accuracy and are not in use. Those that help most often come first."""
    full, methods = settings.full, settings.methods
    tried = {
        f"more calibration samples than {samples}": samples >= _ENOUGH_SAMPLES,
        "--accuracyBudget=cosine:0.99, which keeps sensitive layers in int16 or float": settings.accuracy.budget
        is not None,
        "activation_quant_method=AUTO in [full_quant_param]": settings.range_method is ActivationMethod.AUTO,
        "per_channel=true in [full_quant_param]": full.per_channel,
        "equalize=true in [mslite_quant_param]": methods.equalize,
        "bit_num=16 (int16 activations) in [common_quant_param]": settings.common.bit_num > _BYTE,
    }
    return tuple(text for text, is_tried in tried.items() if not is_tried)
