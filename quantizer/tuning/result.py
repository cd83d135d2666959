"""The result of tuning."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.quantizer.accuracy.budget import SearchResult
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices
from mslite.quantizer.results import Tuning


@dataclass(frozen=True)
class Result:
    """Calibration, precisions and outcome of the budget search: tuned, or unchanged if tuning did not improve the
    model."""

    calibration: Calibration
    choices: Choices
    outcome: SearchResult | None
    """Result of the search for an accuracy budget, if there is one."""
    tuning: Tuning | None = None
    notes: tuple[str, ...] = ()
    """Lines for the summary of the conversion."""
