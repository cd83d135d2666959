"""Writes the report of a quantization as one HTML page: errors of each layer, ranges, cost of several
configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.benchmark.origin import origin_of
from mslite.benchmark.page import render_page
from mslite.benchmark.page import write_page as write_text
from mslite.quantizer.report.costs import Cost
from mslite.quantizer.results import Tuning

_POINTS = 200
"""Largest number of points of the loss curve."""


@dataclass(frozen=True)
class HistogramBars:
    """A histogram as bars of height 0 to 1, from `low` to `high`, and the range of the quantized values."""

    low: float
    high: float
    bars: tuple[float, ...]
    range_low: float
    range_high: float

    def place(self, value: float) -> float:
        """Returns the position of a value between `low` and `high`, 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True)
class Row:
    """One layer. Errors are |difference| / |value| in the 2-norm. `alone` is the error of the model's outputs if only
    this layer is quantized."""

    name: str
    operator: str
    precision: str
    share: float
    accumulated: float | None
    alone: float | None
    clipped: float
    weight_error: float
    picture: HistogramBars | None
    costs: Mapping[str, Cost]


@dataclass(frozen=True)
class Configuration:
    """Cost and accuracy of the model in one configuration."""

    name: str
    cost: Cost
    integers: float
    cosine: float
    sqnr: float
    changed: float


@dataclass(frozen=True)
class Page:
    """Everything that the page shows."""

    model: str
    method: str
    calibration_samples: int
    samples: int
    rows: Sequence[Row]
    choices: Sequence[Configuration]
    notes: Sequence[str]
    are_unseen: bool = False
    """Whether the calibration did not use the samples of the comparison."""
    batch_note: str = ""
    """The batch for which times were measured, if the model's batch is dynamic."""
    untimed: Sequence[str] = ()
    """The layers without a time, with the reason."""
    layers: int = 0
    """Number of layers, with and without a time."""
    tuning: Tuning | None = None

    @property
    def slower(self) -> float | None:
        """The predicted time of the result divided by that of the float model; None if it is not slower."""
        times = [self.choices[place].cost.milliseconds for place in (0, -1)]
        float_time, own = times
        return own / float_time if own is not None and float_time and own > 1.05 * float_time else None

    @property
    def curve(self) -> list[float]:
        """The loss curve of the tuning, averaged to at most `_POINTS` points and scaled to a maximum of 1."""
        losses = self.tuning.losses if self.tuning is not None else ()
        length = -(-len(losses) // _POINTS)
        means = [sum(losses[i : i + length]) / len(losses[i : i + length]) for i in range(0, len(losses), length or 1)]
        return [mean / (max(means) or 1.0) for mean in means]


def write_page(page: Page, path: Path, sources: Sequence[Path] = (), results: Sequence[Path] = ()) -> None:
    """Writes the page. `sources` and `results` are the model files, if they are known; the page shows their hashes.

    Raises:
        ConversionError: if the page cannot be written.
        OSError: if a file cannot be read.
    """
    worst = max((row.accumulated or 0.0 for row in page.rows), default=0)
    origin = origin_of(sources, results)
    model = sources[0].name if sources else page.model
    write_text(path, render_page(__package__, "report.html.j2", page=page, model=model, worst=worst, origin=origin))
