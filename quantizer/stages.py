"""The optional steps of FULL_QUANT: transforms, the choice of precisions, tuning, rounding of weights, the report.

`Accuracy` has the steps for the accuracy budget and the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Module
from mslite.quantizer.accuracy.budget import Search, SearchResult, explain
from mslite.quantizer.accuracy.evaluation import evaluation_samples, fingerprint, pack
from mslite.quantizer.accuracy.journal import Journal
from mslite.quantizer.accuracy.output_accuracy import compared_samples
from mslite.quantizer.accuracy.sensitivity import errors_alone, searched_layers
from mslite.quantizer.accuracy.workers import Workers, workers
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision, default_choices
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.settings import AccuracyParam, QuantizerSettings
from mslite.quantizer.tuning.result import Result as TuningResult

_ANY_BUDGET = "sqnr:0"
"""The metric that ranks layers in a report without a budget."""

FloatTransform = Callable[[Module, CalibrationData, QuantizerSettings], list[str]]
"""Changes the float graph without changing its function; returns notes."""
Chooser = Callable[[Module, Calibration, CalibrationData, QuantizerSettings], Choices]
"""Returns the precision of each node."""
Tuner = Callable[[Module, Calibration, CalibrationData, QuantizerSettings, Choices], TuningResult]
"""Fine-tunes the constants of the float graph for the chosen precisions. It may change the precisions, too."""
Rounder = Callable[[Module, Calibration, CalibrationData, QuantizerSettings, Choices], Mapping[str, StoredWeight]]
"""Returns name of the constant -> the integers of the weight."""
Finisher = Callable[[Module, Module, Calibration, CalibrationData, QuantizerSettings, QuantizeReport], list[str]]
"""Compares the float module with the quantized one, and returns notes."""


@dataclass(frozen=True)
class Stages:
    """The optional steps of FULL_QUANT, in the order in which they run."""

    float_transforms: Sequence[FloatTransform] = ()
    choose: Chooser | None = None
    tune: Tuner | None = None
    round_weights: Sequence[Rounder] = ()
    finish: Sequence[Finisher] = ()


def stages_of(settings: QuantizerSettings, progress: Progress = silent, workspace: Path | None = None) -> Stages:
    """Returns the steps that the configuration enables. `workspace` is the folder for results of an interrupted
    search."""
    accuracy = Accuracy(settings.accuracy, progress, workspace)
    stages = Stages(
        tuple(_transforms(settings)),
        tune=accuracy.tune if settings.full.method == "QAT" else None,
        round_weights=tuple(_rounders(settings, progress)),
    )
    if settings.accuracy.budget is None and settings.accuracy.report is None:
        return stages
    return replace(stages, choose=accuracy.choose, finish=(accuracy.finish,))


def _transforms(settings: QuantizerSettings) -> Iterator[FloatTransform]:
    if settings.methods.equalize:
        from mslite.quantizer.transforms.equalize import equalize

        yield lambda module, data, settings: equalize(module)
    if settings.methods.smooth:
        from mslite.quantizer.transforms.smooth import smooth

        yield smooth


def _rounders(settings: QuantizerSettings, progress: Progress) -> Iterator[Rounder]:
    if settings.methods.learned_rounding:
        from mslite.quantizer.weights.rounding import LearnedRounding

        yield LearnedRounding(progress)


class Accuracy:
    """Implements the accuracy budget and the report for one model."""

    def __init__(self, asked: AccuracyParam, progress: Progress, workspace: Path | None) -> None:
        self._asked = asked
        self._progress = progress
        self._workspace = asked.workspace or workspace
        self._outcome: SearchResult | None = None

    def choose(
        self, module: Module, calibration: Calibration, data: CalibrationData, settings: QuantizerSettings
    ) -> Choices:
        """Returns the precisions that keep the budget, or the configured ones without a budget. Raises
        ConversionError."""
        choices = default_choices(module, settings)
        if self._asked.budget is None or not choices:
            return choices
        payload = pack(module, calibration, settings, evaluation_samples(data, calibration))
        with self._tools(payload) as (executor, journal):
            search = Search(module, payload, choices, self._asked.budget, executor, journal, self._progress)
            self._outcome = search.run()
        return self._outcome.choices

    def tune(
        self,
        module: Module,
        calibration: Calibration,
        data: CalibrationData,
        settings: QuantizerSettings,
        choices: Choices,
    ) -> TuningResult:
        """Fine-tunes the model. If the budget raised layers, fewer may remain raised. Raises ConversionError."""
        from mslite.quantizer.tuning.tune import tune

        result = tune(module, calibration, data, settings, choices, self._outcome, self._progress)
        self._outcome = result.outcome
        return result

    def finish(
        self,
        before: Module,
        after: Module,
        calibration: Calibration,
        data: CalibrationData,
        settings: QuantizerSettings,
        report: QuantizeReport,
    ) -> list[str]:
        """Returns notes about the search, and writes the report. Raises ConversionError."""
        notes = []
        if self._outcome is not None and self._asked.budget is not None:
            layers = searched_layers(before, default_choices(before, settings))
            notes += explain(self._outcome, self._asked.budget, len(layers), lambda choices: _share(before, choices))
        if self._asked.report is not None:
            from mslite.quantizer.report.page import write_page
            from mslite.quantizer.report.report_data import gather

            samples = evaluation_samples(data, calibration)
            choices = default_choices(before, settings)
            alone = dict(self._outcome.alone) if self._outcome is not None else {}
            if not alone and choices:
                model = before if calibration.tuned is None else calibration.tuned.model
                payload = pack(model, calibration, settings, samples)
                budget = _ANY_BUDGET if self._asked.budget is None else self._asked.budget.text
                with self._tools(payload) as (executor, journal):
                    layers = searched_layers(before, choices)
                    alone = errors_alone(executor, payload, budget, layers, choices, journal, self._progress)
            name = before.name or self._asked.report.stem
            compared = compared_samples(data, calibration)
            page = gather(
                before, after, calibration, settings, report, compared, alone, tuple(notes), self._progress, name
            )
            complete = partial(write_page, page, self._asked.report)
            complete()  # without hashes of the files; a conversion writes the page again with them
            report.pages.append(complete)
            notes.append(f"report: {self._asked.report}")
        return notes

    @contextmanager
    def _tools(self, payload: bytes) -> Iterator[tuple[Workers, Journal]]:
        journal = Journal(self._workspace, "mslite-search", fingerprint(payload))
        finished = False
        try:
            with workers(self._asked.cluster, self._processes()) as executor:
                yield executor, journal
            finished = True
        except KeyboardInterrupt:
            if journal.path is None or journal.is_empty:
                raise
            raise KeyboardInterrupt(f"run the same command to continue the search: {journal.path}") from None
        finally:
            journal.close()
            if finished and self._asked.workspace is None and journal.path is not None:
                journal.path.unlink(missing_ok=True)  # only an interrupted search needs it

    def _processes(self) -> int:
        """Returns the number of processes; 0 means one per usable core.

        A metric in `__main__` needs this process, because other processes cannot import it.
        """
        budget = self._asked.budget
        return 1 if budget is not None and budget.text.startswith("__main__:") else self._asked.processes


def _share(module: Module, choices: Choices) -> float:
    """Returns the share of the multiply-accumulates that are computed in integers, 0 to 1."""
    counts = {node.name: macs(node) for node in module.main.nodes}
    inside = sum(count for name, count in counts.items() if choices.get(name, Precision.FLOAT) is not Precision.FLOAT)
    return inside / sum(counts.values()) if any(counts.values()) else 1.0
