"""The stages of a FULL_QUANT that look after accuracy: the budget before the rewriting, the report after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mslite.converter.mindir.graph import Module
from mslite.converter.work import macs
from mslite.quantizer.budget import Outcome, Search, explain
from mslite.quantizer.calibrate import Calibration
from mslite.quantizer.choices import Choices, Precision, default_choices
from mslite.quantizer.evaluation import chosen_samples, fingerprint, pack
from mslite.quantizer.journal import Journal
from mslite.quantizer.progress import Progress
from mslite.quantizer.report import QuantiseReport
from mslite.quantizer.sensitivity import damage_alone, searched_layers
from mslite.quantizer.settings import AccuracyParam, QuantizerSettings
from mslite.quantizer.sources import CalibrationData
from mslite.quantizer.workers import Workers, workers

_ANY_BUDGET = "sqnr:0"
"""What layers are judged by for a report without a budget."""


class Accuracy:
    """The budget and the report that a configuration asks for; one object for one model."""

    def __init__(self, asked: AccuracyParam, progress: Progress, workspace: Path | None) -> None:
        self._asked = asked
        self._progress = progress
        self._workspace = asked.workspace or workspace
        self._outcome: Outcome | None = None

    def choose(
        self, module: Module, calibration: Calibration, data: CalibrationData, settings: QuantizerSettings
    ) -> Choices:
        """The choices that keep the budget; as configured without one. Raises ConversionError."""
        choices = default_choices(module, settings)
        if self._asked.budget is None or not choices:
            return choices
        payload = pack(module, calibration, settings, chosen_samples(data, calibration.samples))
        with self._tools(payload) as (executor, journal):
            search = Search(module, payload, choices, self._asked.budget, executor, journal, self._progress)
            self._outcome = search.run()
        return self._outcome.choices

    def finish(
        self,
        before: Module,
        after: Module,
        calibration: Calibration,
        data: CalibrationData,
        settings: QuantizerSettings,
        report: QuantiseReport,
    ) -> list[str]:
        """Says what the search did, and writes the page. Raises ConversionError."""
        notes = []
        if self._outcome is not None and self._asked.budget is not None:
            layers = searched_layers(before, default_choices(before, settings))
            notes += explain(self._outcome, self._asked.budget, len(layers), lambda choices: _share(before, choices))
        if self._asked.report is not None:
            from mslite.quantizer.html_report import gather, write_page

            samples = chosen_samples(data, calibration.samples)
            choices = default_choices(before, settings)
            alone = dict(self._outcome.alone) if self._outcome is not None else {}
            if not alone and choices:
                payload = pack(before, calibration, settings, samples)
                budget = _ANY_BUDGET if self._asked.budget is None else self._asked.budget.text
                with self._tools(payload) as (executor, journal):
                    layers = searched_layers(before, choices)
                    alone = damage_alone(executor, payload, budget, layers, choices, journal, self._progress)
            name = before.name or self._asked.report.stem
            page = gather(
                before, after, calibration, settings, report, samples, alone, tuple(notes), self._progress, name
            )
            complete = partial(write_page, page, self._asked.report)
            complete()  # whoever quantises without a conversion has no more than this
            report.pages.append(complete)
            notes.append(f"report: {self._asked.report}")
        return notes

    @contextmanager
    def _tools(self, payload: bytes) -> Iterator[tuple[Workers, Journal]]:
        journal = Journal(self._workspace, "mslite-search", fingerprint(payload))
        finished = False
        try:
            with workers(self._asked.cluster, self._asked.processes) as executor:
                yield executor, journal
            finished = True
        except KeyboardInterrupt:
            if journal.path is None or journal.is_empty:
                raise
            raise KeyboardInterrupt(f"the same command goes on where the search was: {journal.path}") from None
        finally:
            journal.close()
            if finished and self._asked.workspace is None and journal.path is not None:
                journal.path.unlink(missing_ok=True)  # kept beside the output for the case of an interruption only


def _share(module: Module, choices: Choices) -> float:
    """The part of the multiply-accumulates that some choices compute in integers."""
    counts = {node.name: macs(node) for node in module.main.nodes}
    inside = sum(count for name, count in counts.items() if choices.get(name, Precision.FLOAT) is not Precision.FLOAT)
    return inside / sum(counts.values()) if any(counts.values()) else 1.0
