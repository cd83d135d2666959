"""One self-contained page about a quantization: what each layer lost, the ranges, and what the choices cost."""

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
"""Of the curve of losses, at most."""


@dataclass(frozen=True)
class Picture:
    """A histogram as bars of height 0 to 1, from `low` to `high`, and the range that integers hold."""

    low: float
    high: float
    bars: tuple[float, ...]
    range_low: float
    range_high: float

    def place(self, value: float) -> float:
        """Where a value lies between `low` and `high`, 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True)
class Row:
    """One layer. Errors are |difference| / |value| in the 2-norm; `alone` is that of the model's outputs."""

    name: str
    operator: str
    precision: str
    share: float
    accumulated: float | None
    alone: float | None
    clipped: float
    weight_error: float
    picture: Picture | None
    costs: Mapping[str, Cost]


@dataclass(frozen=True)
class Choice:
    """A way to quantize the whole model."""

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
    choices: Sequence[Choice]
    notes: Sequence[str]
    are_unseen: bool = False
    """The calibration has not seen the samples that are compared."""
    batch_note: str = ""
    """What batch the times are for, where the model leaves it open."""
    untimed: Sequence[str] = ()
    """The layers whose times are not known, and why."""
    layers: int = 0
    """How many there are, timed or not."""
    tuning: Tuning | None = None

    @property
    def slower(self) -> float | None:
        """How many times longer the result is predicted to take than the float model, where it is longer."""
        times = [self.choices[place].cost.milliseconds for place in (0, -1)]
        float_time, own = times
        return own / float_time if own is not None and float_time and own > 1.05 * float_time else None

    @property
    def curve(self) -> list[float]:
        """The losses of tuning, means of neighbors where there are many; the largest is 1."""
        losses = self.tuning.losses if self.tuning is not None else ()
        length = -(-len(losses) // _POINTS)
        means = [sum(losses[i : i + length]) / len(losses[i : i + length]) for i in range(0, len(losses), length or 1)]
        return [mean / (max(means) or 1.0) for mean in means]


def write_page(page: Page, path: Path, sources: Sequence[Path] = (), results: Sequence[Path] = ()) -> None:
    """Renders the page, of these files as far as they are there. Raises ConversionError when it cannot be written, OSError
    for files that cannot be read."""
    worst = max((row.accumulated or 0.0 for row in page.rows), default=0)
    origin = origin_of(sources, results)
    model = sources[0].name if sources else page.model
    write_text(path, render_page(__package__, "report.html.j2", page=page, model=model, worst=worst, origin=origin))
