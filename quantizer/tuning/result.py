"""What tuning gives to what comes after it."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.quantizer.accuracy.budget import Outcome
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices
from mslite.quantizer.results import Tuning


@dataclass(frozen=True)
class Result:
    """All as it was given, or as it was found."""

    calibration: Calibration
    choices: Choices
    outcome: Outcome | None
    """Of the search for a budget."""
    tuning: Tuning | None = None
    notes: tuple[str, ...] = ()
    """What the user is told."""
