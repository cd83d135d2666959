"""Writes the report page: contribution and memory of each layer, and the steps of the search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

from mslite.benchmark.origin import origin_of
from mslite.benchmark.page import grouped, render_page
from mslite.codegen.sparse.candidates import SHARES, UpdateCandidate, name_of
from mslite.codegen.sparse.select_updates import Result
from mslite.converter.training import as_text

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 1060, 230, 76, 12, 26
_SHADES = ("#a9c7f7", "#6ea0ff", "#2f6fde", "#1c4696")
_COLORS: dict[Fraction, str] = {Fraction(0): "#d98c2b", **dict(zip(SHARES, _SHADES, strict=True))}


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    color: str
    title: str
    is_chosen: bool


@dataclass(frozen=True)
class Bars:
    """Bar chart of the contributions by layer. `zero`: y of the base line, in pixels."""

    width: int
    height: int
    bars: list[Bar]
    zero: float
    lines: list[tuple[float, str]]
    layers: list[tuple[float, float, str]]


@dataclass(frozen=True)
class SearchPath:
    """Line chart of the search. x: bytes of the arena; y: sum of contributions."""

    width: int
    height: int
    points: list[tuple[float, float, str]]
    line: str
    lines: list[tuple[float, str]]
    columns: list[tuple[float, str]]
    budget_x: float


def _number(value: float, spread: float) -> str:
    """Formats a value with enough digits to distinguish the lines of an axis that spans `spread`."""
    digits = max(0, min(6, 2 - math.floor(math.log10(spread))))
    return f"{value:.{digits}f}" if round(value, digits) else "0"


def _bars(result: Result, chosen: Sequence[UpdateCandidate]) -> Bars:
    layers = list(dict.fromkeys(one.choice.layer for one in result.tried))
    values = [one.contribution for one in result.tried] or [0.0]
    low, high = min(0.0, *values), max(0.0, *values)
    spread = (high - low) or 1.0
    room = _HEIGHT - _TOP - _BOTTOM

    def y(value: float) -> float:
        return round(_TOP + room * (high - value) / spread, 2)

    step = (_WIDTH - _LEFT) / max(1, len(layers))
    width = step / (len(_COLORS) + 1)
    bars = []
    for one in result.tried:
        place = list(_COLORS).index(one.choice.share)
        top, foot = sorted((y(one.contribution), y(0)))
        title = f"{one.choice.text}\ncontribution {one.contribution:.4f}\n{grouped(one.bytes)} bytes in addition to the last layer"
        x = _LEFT + step * layers.index(one.choice.layer) + width * (place + 0.5)
        bars.append(
            Bar(round(x, 2), top, round(width, 2), max(0.5, round(foot - top, 2)), _COLORS[one.choice.share], title,
                one.choice in chosen)
        )  # fmt: skip
    lines = [(y(low + spread * share), _number(low + spread * share, spread)) for share in (0, 0.5, 1)]
    names = [(round(_LEFT + step * number, 2), round(step, 2), layer) for number, layer in enumerate(layers)]
    return Bars(_WIDTH, _HEIGHT, bars, y(0), lines, names)


def _path(result: Result) -> SearchPath:
    most = max(result.budget, *(one.bytes for one in result.added if one.bytes is not None), result.smallest.arena)
    sums = list(accumulate((one.contribution for one in result.added), initial=0.0))
    low, high = min(sums), max(sums)
    spread = (high - low) or 1.0

    def x(count: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - 8) * count / most, 2)

    def y(value: float) -> float:
        return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / spread, 2)

    points = [(x(result.smallest.arena), y(0), f"last layer only\n{grouped(result.smallest.arena)} bytes")]
    for one, value in zip(result.added, sums[1:], strict=True):
        if one.bytes is not None:
            points.append((x(one.bytes), y(value), f"{one.choice.text}\n{grouped(one.bytes)} bytes in total"))
    line = " ".join(f"{one[0]},{one[1]}" for one in points)
    lines = [(y(low + spread * share), _number(low + spread * share, spread)) for share in (0, 0.5, 1)]
    columns = [(x(most * share), f"{grouped(round(most * share))} B") for share in (0, 0.25, 0.5, 0.75, 1)]
    return SearchPath(_WIDTH, _HEIGHT, points, line, lines, columns, x(result.budget))


def report_page(result: Result, model: Path, data: Path, written: Path, target: str) -> str:
    """Returns the report as a self-contained HTML page. Raises OSError for files that cannot be read."""
    chosen = set(result.chosen.found.chosen if result.chosen.found else ())
    return render_page(
        __package__,
        "report.html.j2",
        None,
        result=result,
        before=result.candidates[0],
        alone=result.candidates[1],
        model=model.name,
        target=target,
        bars=_bars(result, list(chosen)),
        path=_path(result),
        legend=[(name_of(share), color) for share, color in _COLORS.items()],
        updates=[(name, as_text(update)) for name, update in result.updates],
        tried=[(one, name_of(one.choice.share)) for one in result.tried],
        chosen=chosen,
        origin=origin_of([model, data], [written]),
    )
