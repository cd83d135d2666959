"""method=QAT of FULL_QUANT: trains weights, biases and scales, and uses them if the accuracy improves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.accuracy.budget import RaisedLayer, SearchResult, with_raised
from mslite.quantizer.accuracy.evaluation import Evaluation, FixedRangeObserver, outputs_of
from mslite.quantizer.calibration.observers import Observer
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration, Tuned
from mslite.quantizer.metrics import COSINE, cosine, sqnr
from mslite.quantizer.precision.choices import Choices, Precision, default_choices, effective_precision
from mslite.quantizer.precision.devices import activation_scheme, weight_scheme
from mslite.quantizer.precision.schemes import stored
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.results import Tuning
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.tuning.result import Result
from mslite.quantizer.tuning.student import SCALE_UNIT, Floats, Student, add_own_biases, student_of
from mslite.quantizer.tuning.training import TrainedValues, train_student

_ENOUGH = 10
_EVERY = 5
"""With _ENOUGH samples or more, every fifth one is held out to measure the accuracy."""
_NAMED = 8
_HALVINGS = 4
"""Largest number of further tunings that try to raise fewer layers."""
_STILL_RAISED = (
    "QAT: the accuracy budget needs as many raised layers as without tuning; the tuned weights are discarded"
)
_NO_LONGER_HOLDS = "QAT: the accuracy budget does not hold with the tuned weights; they are discarded"
SAMPLE_BYTES = 256 << 20
"""Largest size of the samples that are kept in memory."""


@dataclass(frozen=True)
class _Samples:
    """Samples for training and for measuring the accuracy, with the outputs of the float model."""

    learned: list[Sample]
    expected: list[list[Array]]
    judged: list[Sample]
    wanted: list[list[Array]]
    unseen: list[Sample]
    """The samples in `judged` that are not in `learned`."""


def tune(
    module: Module,
    calibration: Calibration,
    data: CalibrationData,
    settings: QuantizerSettings,
    choices: Choices,
    outcome: SearchResult | None = None,
    progress: Progress = silent,
) -> Result:
    """Trains the constants of the float `module` in place and returns the matching calibration.

    If training is not possible or does not improve the accuracy, nothing changes. `outcome` is the result of the search
    for the accuracy budget, which selected `choices`. If it raised layers, tuning tries to raise fewer. Raises
    ConversionError if the model does not run.
    """
    as_it_was = Result(calibration, choices, outcome)
    start = default_choices(module, settings)
    if not start:
        return replace(as_it_was, notes=("QAT: no node of this model can be quantized",))
    course = _TuningRun(module, calibration, settings, _samples(module, data), progress)
    raised = () if outcome is None else outcome.decisions
    try:
        found = course.fewest(start, raised) if raised else _Raised(course.attempt(start), ())
    except ConversionError as error:
        return replace(as_it_was, notes=(f"QAT: the model is not tuned: {_reasons(error)}",))
    except ArithmeticError as error:
        remedy = "try a smaller qat_learning_rate in [full_quant_param]"
        return replace(as_it_was, notes=(f"QAT: the model is not tuned: {error}; {remedy}",))
    attempt = found.attempt
    tuning = attempt.tuning(len(course.samples.judged))
    notes = tuning.notes()
    if not attempt.is_better:
        return replace(as_it_was, tuning=tuning, notes=tuple(notes))
    if not attempt.holds:  # raised layers would compute with weights that were tuned for int8
        return replace(as_it_was, tuning=tuning, notes=(*notes[:1], _STILL_RAISED if raised else _NO_LONGER_HOLDS))
    module.graphs, module.outputs = attempt.module.graphs, attempt.module.outputs
    if outcome is not None:
        if raised:
            notes.append(f"QAT: the accuracy budget holds with {_counted(found.layers)}, instead of {_counted(raised)}")
        outcome = replace(outcome, choices=attempt.choices, after=attempt.after, holds=True, decisions=found.layers)
    return Result(attempt.calibration, attempt.choices, outcome, tuning, tuple(notes))


def _counted(raised: Sequence[RaisedLayer]) -> str:
    in_float = sum(one.precision is Precision.FLOAT for one in raised)
    return f"{len(raised)} raised layers" + (f", {in_float} of them in float" if in_float else "")


@dataclass(frozen=True)
class _Attempt:
    """A model tuned for given precisions, with its accuracy before and after tuning on the same samples."""

    module: Module
    calibration: Calibration
    choices: Choices
    lesson: TrainedValues
    before: Evaluation
    after: Evaluation
    holds: bool
    """Whether the accuracy budget holds; True without one."""

    @property
    def is_better(self) -> bool:
        return (self.after.cosine, self.after.sqnr) > (self.before.cosine, self.before.sqnr)

    @property
    def is_kept(self) -> bool:
        return self.is_better and self.holds

    def tuning(self, samples: int) -> Tuning:
        before, after = ((one.cosine, one.sqnr) for one in (self.before, self.after))
        return Tuning(self.lesson.losses, before, after, samples, self.is_kept, self.lesson.stopped)


@dataclass(frozen=True)
class _Raised:
    """An attempt, and the layers that are raised in it."""

    attempt: _Attempt
    layers: tuple[RaisedLayer, ...]


class _TuningRun:
    """Attempts with one model and one set of samples."""

    def __init__(
        self,
        module: Module,
        calibration: Calibration,
        settings: QuantizerSettings,
        samples: _Samples,
        progress: Progress,
    ) -> None:
        self._module, self._calibration, self._settings = module, calibration, settings
        self.samples = samples
        self._progress = progress

    def fewest(self, start: Choices, raised: Sequence[RaisedLayer]) -> _Raised:
        """Returns the attempt with the fewest raised layers for which the budget holds.

        Tries no raised layers, then int16 instead of float, then fewer of the raised layers with a binary search, those
        with the largest loss first. Raises the errors of `attempt` if the first one fails.
        """
        first = self._with(start, ())
        if first.attempt.is_kept:
            return first
        nodes = {node.name: node for node in self._module.main.nodes}
        wide = [replace(one, precision=effective_precision(nodes[one.name], Precision.INT16)) for one in raised]
        ladder, found, high = list(raised), first, len(raised)
        if [one.precision for one in wide] != [one.precision for one in raised]:
            widest = self._tried(start, wide)
            if widest is not None and widest.attempt.is_kept:
                ladder, found = wide, widest
        low = 1
        for _ in range(_HALVINGS):
            if low >= high:
                break
            middle = (low + high) // 2
            tried = self._tried(start, ladder[:middle])
            if tried is not None and tried.attempt.is_kept:
                found, high = tried, middle
            else:
                low = middle + 1
        return found

    def _with(self, start: Choices, raised: Sequence[RaisedLayer]) -> _Raised:
        choices = with_raised(self._module, start, {one.name: one.precision for one in raised})
        return _Raised(self.attempt(choices), tuple(raised))

    def _tried(self, start: Choices, raised: Sequence[RaisedLayer]) -> _Raised | None:
        """Returns an attempt with these layers raised; None if it fails."""
        try:
            return self._with(start, raised)
        except (ConversionError, ArithmeticError):
            return None

    def attempt(self, choices: Choices) -> _Attempt:
        """Tunes a copy of the model for these precisions.

        Raises:
            ConversionError: if nothing can be trained.
            ArithmeticError: if the loss or a weight becomes NaN or infinite.
        """
        full, samples = self._settings.full, self.samples
        tuned = copy_module(self._module)
        add_own_biases(tuned, choices)
        student = student_of(tuned, self._calibration, choices, self._settings, samples.learned[0])
        lesson = train_student(
            student, samples.learned, samples.expected, full.qat_steps, full.qat_learning_rate, self._progress
        )
        teacher = copy_module(self._module)
        found = _applied(tuned, self._calibration, student, lesson, self._settings, teacher, samples.unseen)
        before = _judged(self._module, self._calibration, choices, self._settings, samples)
        after = _judged(tuned, found, choices, self._settings, samples)
        budget = self._settings.accuracy.budget
        holds = budget is None or budget.holds(after.value, after.error)
        return _Attempt(tuned, found, choices, lesson, before, after, holds)


def _reasons(error: ConversionError) -> str:
    lines = [str(blocker) for blocker in error.blockers[:_NAMED]]
    more = len(error.blockers) - len(lines)
    return "; ".join([error.message, *lines, *([f"and {more} more"] if more else [])])


def _samples(module: Module, data: CalibrationData) -> _Samples:
    """Returns the samples with the shapes of the first one, up to SAMPLE_BYTES."""
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
) -> Evaluation:
    """Quantizes a copy and measures its accuracy, with the metric of the budget if there is one."""
    quantized = copy_module(module)
    quantize_graph(quantized, calibration, choices, settings)
    runner = Runner(quantized, quantized.main.outputs)
    actual: Sequence[Sequence[Array]] = [
        [np.array(array) for array in outputs_of(runner, quantized, sample)] for sample in samples.judged
    ]
    budget = settings.accuracy.budget
    metric = COSINE if budget is None else budget.metric
    value, error = metric.estimate(samples.wanted, actual)
    return Evaluation(value, cosine(samples.wanted, actual), sqnr(samples.wanted, actual), error)


def _applied(
    module: Module,
    calibration: Calibration,
    student: Student,
    lesson: TrainedValues,
    settings: QuantizerSettings,
    teacher: Module,
    unseen: Sequence[Sample],
) -> Calibration:
    """Writes the trained values into the constants of `module`; returns a calibration with the trained ranges and
    weights."""
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
            observers[name] = FixedRangeObserver(ranges)
    return replace(calibration, observers=observers, tuned=Tuned(weights, copy_module(module), teacher, unseen))


def _weight(first: StoredWeight, real: Array, learned: Floats, settings: QuantizerSettings) -> StoredWeight:
    """Quantizes a weight with the trained scales. A channel whose trained scale is not positive keeps its initial
    one."""
    factors = learned.ravel().astype(np.float64) * SCALE_UNIT
    records = tuple(
        replace(record, scale=record.scale * float(factor) if factor > 0 else record.scale)
        for record, factor in zip(first.records, factors, strict=True)
    )
    return StoredWeight(stored(real, records, first.axis, weight_scheme(settings)), records, first.axis)
