"""The method QAT of FULL_QUANT: tunes weights, biases and scales, and keeps what it found where the outputs come closer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.accuracy.evaluation import KnownRange, outputs_of
from mslite.quantizer.calibration.observers import Observer
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration, Tuned
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.precision.choices import Choices, Precision, default_choices
from mslite.quantizer.precision.devices import activation_scheme, weight_scheme
from mslite.quantizer.precision.schemes import stored
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.results import Tuning
from mslite.quantizer.rewrite.graph import quantise_graph
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.tuning.student import SCALE_UNIT, Floats, Student, give_biases, student_of
from mslite.quantizer.tuning.training import Lesson, teach

_ENOUGH = 10
_EVERY = 5
"""Of ENOUGH samples or more every fifth one is kept back: on these the result is judged."""
_NAMED = 8
_STILL_RAISED = "QAT: the accuracy budget would raise layers all the same; the model stays as it was"
SAMPLE_BYTES = 256 << 20
"""Samples are kept in memory up to this size."""


@dataclass(frozen=True)
class _Samples:
    """What the student learns from, and what it is judged on, with the teacher's outputs."""

    learned: list[Sample]
    expected: list[list[Array]]
    judged: list[Sample]
    wanted: list[list[Array]]
    unseen: list[Sample]
    """What the student is judged on and does not learn from."""


def tune(
    module: Module,
    calibration: Calibration,
    data: CalibrationData,
    settings: QuantizerSettings,
    progress: Progress = silent,
) -> tuple[Calibration, Tuning | None, list[str]]:
    """Changes the constants of the float `module`, and returns the calibration that goes with them; or leaves all as it was where
    that is not better or cannot be done. Also what is told to the user. Raises ConversionError where the model does not run."""
    choices = default_choices(module, settings)
    if not choices:
        return calibration, None, ["QAT: there is nothing to tune, as no node of this model can be quantised"]
    samples = _samples(module, data)
    tuned = copy_module(module)
    give_biases(tuned, choices)
    full = settings.full
    try:
        student = student_of(tuned, calibration, choices, settings, samples.learned[0])
        lesson = teach(student, samples.learned, samples.expected, full.qat_steps, full.qat_learning_rate, progress)
    except ConversionError as error:
        return calibration, None, [f"QAT: the model stays as it was: {_reasons(error)}"]
    except ArithmeticError as error:
        remedy = "try a smaller qat_learning_rate in [full_quant_param]"
        return calibration, None, [f"QAT: the model stays as it was: {error}; {remedy}"]
    found = _applied(tuned, calibration, student, lesson, settings, copy_module(module), samples.unseen)
    before = _judged(module, calibration, choices, settings, samples)
    after = _judged(tuned, found, choices, settings, samples)
    is_better = after[:2] > before[:2]
    tuning = Tuning(lesson.losses, before[:2], after[:2], len(samples.judged), is_better and after[2], lesson.stopped)
    if is_better and not after[2]:  # raised layers would compute with tuned weights what the float model does not
        return calibration, tuning, [*tuning.notes()[:1], _STILL_RAISED]
    if not is_better:
        return calibration, tuning, tuning.notes()
    module.graphs, module.outputs = tuned.graphs, tuned.outputs
    return found, tuning, tuning.notes()


def _reasons(error: ConversionError) -> str:
    lines = [str(blocker) for blocker in error.blockers[:_NAMED]]
    more = len(error.blockers) - len(lines)
    return "; ".join([error.message, *lines, *([f"and {more} more"] if more else [])])


def _samples(module: Module, data: CalibrationData) -> _Samples:
    """The first samples of one size, that of the first one, as many as memory is given for."""
    alike: list[Sample] = []
    size = 0
    for sample in data:
        if alike and [array.shape for array in sample] != [array.shape for array in alike[0]]:
            continue
        alike.append([np.array(array) for array in sample])
        size += sum(array.nbytes for array in sample)
        if size > SAMPLE_BYTES:
            break
    runner = Runner(module, module.main.outputs)
    outputs = [[np.array(array) for array in outputs_of(runner, module, sample)] for sample in alike]
    places = range(len(alike))
    kept_back = [place for place in places if len(alike) >= _ENOUGH and place % _EVERY == _EVERY - 1]
    learned = [place for place in places if place not in kept_back]
    judged = kept_back or learned
    return _Samples(
        [alike[place] for place in learned],
        [outputs[place] for place in learned],
        [alike[place] for place in judged],
        [outputs[place] for place in judged],
        [alike[place] for place in kept_back],
    )


def _judged(
    module: Module, calibration: Calibration, choices: Choices, settings: QuantizerSettings, samples: _Samples
) -> tuple[float, float, bool]:
    """Cosine and SQNR of the quantised form, and whether the budget holds, where there is one."""
    quantised = copy_module(module)
    quantise_graph(quantised, calibration, choices, settings)
    runner = Runner(quantised, quantised.main.outputs)
    actual: Sequence[Sequence[Array]] = [
        [np.array(array) for array in outputs_of(runner, quantised, sample)] for sample in samples.judged
    ]
    budget = settings.accuracy.budget
    holds = budget is None or budget.holds(*budget.metric.estimate(samples.wanted, actual))
    return cosine(samples.wanted, actual), sqnr(samples.wanted, actual), holds


def _applied(
    module: Module,
    calibration: Calibration,
    student: Student,
    lesson: Lesson,
    settings: QuantizerSettings,
    teacher: Module,
    unseen: Sequence[Sample],
) -> Calibration:
    """Writes what was learned into the constants of `module`; the ranges and integers that go with them."""
    learned = {**student.first, **lesson.values}
    constants = {value.name: value for value in module.main.values() if value.is_constant}
    weights: dict[str, StoredWeight] = {}
    for weight in student.weights:
        value = constants[weight.value.name]
        made = _weight(weight.first, learned[weight.numbers] * weight.unit, learned[weight.scales], settings)
        weights[value.name] = made
        value.data = made.real()
    for bias in student.biases:
        value = constants[bias.name]
        value.data = (learned[bias.numbers].astype(np.float64) * bias.unit).astype(np.float32)
    observers: dict[str, Observer] = dict(calibration.observers)
    narrow = activation_scheme(settings, Precision.INT8.value)
    wide = activation_scheme(settings, Precision.INT16.value)
    for name, grid in student.grids.items():
        if grid not in student.scales or name not in observers:
            continue
        scale = grid[0] * SCALE_UNIT * float(learned[student.scales[grid]][0])
        if scale > 0:
            ranges = {narrow: student.range_of(grid, scale, settings), wide: observers[name].range(wide)}
            observers[name] = KnownRange(ranges)
    return dataclasses.replace(
        calibration, observers=observers, tuned=Tuned(weights, copy_module(module), teacher, unseen)
    )


def _weight(first: StoredWeight, real: Array, learned: Floats, settings: QuantizerSettings) -> StoredWeight:
    """The weight with the scales that were learned; a channel whose scale went to nothing keeps its first one."""
    factors = learned.ravel().astype(np.float64) * SCALE_UNIT
    records = tuple(
        dataclasses.replace(record, scale=record.scale * float(factor) if factor > 0 else record.scale)
        for record, factor in zip(first.records, factors, strict=True)
    )
    return StoredWeight(stored(real, records, first.axis, weight_scheme(settings)), records, first.axis)
