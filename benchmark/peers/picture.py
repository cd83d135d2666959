"""`python -m mslite.benchmark.peers.picture docs/performance.md docs/speed.svg`: the picture of README.md.

The picture shows the first table of `docs/performance.md`, float32 with one thread: a row per network and a point per runtime
at its time relative to onnxruntime's. Values, date and machine are read from the page, so that picture and page agree.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from mslite.benchmark.page import render_page

from .measure import REFERENCE

_TABLE = re.compile(r"^\*\*1 thread\*\*, median ms:\n\n((?:\|.*\n)+)", re.MULTILINE)
_DAY = re.compile(r"^`make bench-peers`, (\d+ \w+ \d{4})", re.MULTILINE)
_MACHINE = re.compile(r"^Machine: (.*?)\. Versions: (.*)\.$", re.MULTILINE)
_MEAN = "geometric mean over"
_COLORS = ("#c0392b", "#34495e", "#2980b9", "#27ae60", "#8e44ad", "#e08e0b")


@dataclass(frozen=True)
class Measured:
    """The content of the picture. `ratios`: network -> runtime -> time relative to that of the reference runtime."""

    day: str
    machine: str
    runtimes: tuple[str, ...]
    ratios: dict[str, dict[str, float]]


def measured(page: str) -> Measured:
    """Reads the values from the text of `docs/performance.md`.

    Raises:
        ValueError: the page has no table for one thread with date and machine above it.
    """
    table, day, machine = _TABLE.search(page), _DAY.search(page), _MACHINE.search(page)
    if table is None or day is None or machine is None:
        raise ValueError("the page has no table for one thread with the date and the machine above it")
    head, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table[1].splitlines()]
    runtimes = tuple(name for name in head[1:] if name and "/" not in name)
    ratios: dict[str, dict[str, float]] = {}
    for name, *cells in rows:
        times = {runtime: float(cell) for runtime, cell in zip(runtimes, cells, strict=False) if cell not in ("", "-")}
        label = "geometric mean" if name.startswith(_MEAN) else name
        ratios[label] = {runtime: time / times[REFERENCE] for runtime, time in times.items()}
    return Measured(day[1], machine[1], runtimes, ratios)


def picture(found: Measured) -> str:
    """Returns the picture as an SVG, 760 pixels wide."""
    left, right, top, step = 190, 740, 92, 22
    low = min(value for ratios in found.ratios.values() for value in ratios.values())
    high = max(value for ratios in found.ratios.values() for value in ratios.values())
    first, last = int(low * 10) / 10, (int(high * 10) + 1) / 10

    def x(value: float) -> float:
        return round(left + (right - left) * (value - first) / (last - first), 1)

    ticks = [round(first + 0.1 * i, 1) for i in range(round((last - first) * 10) + 1)]
    rows = [
        {
            "name": name,
            "y": top + step * i,
            "points": [(x(ratios[r]), r) for r in reversed(found.runtimes) if r in ratios],
        }
        for i, (name, ratios) in enumerate(found.ratios.items())
    ]
    return render_page(
        "mslite.benchmark.peers",
        "speed.svg.j2",
        found=found,
        rows=rows,
        ticks=[(x(tick), f"{tick:.1f}") for tick in ticks],
        colors=dict(zip(found.runtimes, _COLORS, strict=True)),
        reference=REFERENCE,
        left=left,
        right=right,
        bottom=top + step * len(rows),
        step=step,
    )


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m mslite.benchmark.peers.picture PERFORMANCE.md OUT.svg", file=sys.stderr)
        return 2
    page, out = map(Path, arguments)
    out.write_text(picture(measured(page.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
