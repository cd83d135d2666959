"""`activation_quant_method=AUTO`: selects the most accurate range method for a model, with four-fold cross-validation.

For each method, three quarters of the calibration samples give the ranges. The quantized model is compared with the
float model on the other quarter, so that clipping of unseen values counts. The best method, or the first of several
equal ones, then computes the ranges from all samples. The selection is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.accuracy.evaluation import chosen_samples, outputs_of, step_between
from mslite.quantizer.calibration.activation_bounds import bounds_of
from mslite.quantizer.calibration.observers import FOLDS, AutoRangeObserver
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.metrics import SQNR
from mslite.quantizer.precision.choices import default_choices
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import ActivationMethod, QuantizerSettings


@dataclass(frozen=True)
class Candidate:
    """A range method, and a factor that widens its ranges, because unseen values may be outside."""

    method: ActivationMethod
    room: float = 1.0

    def __str__(self) -> str:
        return self.method.value + ("" if self.room == 1 else f" x {self.room:g}")


CANDIDATES = (
    Candidate(ActivationMethod.MAX_MIN),
    Candidate(ActivationMethod.MAX_MIN, 1.1),
    Candidate(ActivationMethod.MSE),
    Candidate(ActivationMethod.MSE, 1.1),
    Candidate(ActivationMethod.PERCENTILE),
)


def choose_ranges(
    module: Module,
    calibration: Calibration,
    data: CalibrationData,
    settings: QuantizerSettings,
    progress: Progress = silent,
) -> list[str]:
    """Sets the range method of every observer of `calibration`, and returns notes. Raises ConversionError."""
    bounds = bounds_of(module)
    observers = []
    for name, observer in calibration.observers.items():
        if isinstance(observer, AutoRangeObserver):
            observers.append(observer)
            if name in bounds:
                observer.bound(bounds[name])
    choices = default_choices(module, settings)
    if not observers or not choices:
        return []
    samples = chosen_samples(data, calibration.samples)
    step = step_between(calibration.samples, samples[0])
    runner = Runner(module, module.main.outputs)
    expected = [outputs_of(runner, module, sample) for sample in samples]
    actual: dict[Candidate, dict[int, list[Array]]] = {candidate: {} for candidate in CANDIDATES}
    for fold in range(FOLDS):
        mine = [place for place in range(len(samples)) if place * step % FOLDS == fold]
        if not mine:
            continue
        for number, candidate in enumerate(CANDIDATES):
            progress(fold * len(CANDIDATES) + number, len(CANDIDATES) * FOLDS, "ranges")
            for observer in observers:
                observer.decide(candidate.method, candidate.room, fold if calibration.samples > FOLDS else None)
            quantized = copy_module(module)
            quantize_graph(quantized, calibration, choices, settings)
            runner = Runner(quantized, quantized.main.outputs)
            actual[candidate] |= {place: outputs_of(runner, quantized, samples[place]) for place in mine}
    found = {
        candidate: SQNR.measure(expected, [outputs[place] for place in range(len(samples))])
        for candidate, outputs in actual.items()
    }
    best = min(CANDIDATES, key=lambda candidate: -found[candidate])
    for observer in observers:
        observer.decide(best.method, best.room)
    numbers = ", ".join(f"{candidate} {number:.1f} dB" for candidate, number in found.items())
    return [f"range method {best}: highest SQNR in cross-validation on the calibration samples ({numbers})"]
