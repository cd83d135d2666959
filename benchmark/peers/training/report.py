"""Writes the results of a training comparison as JSON and as Markdown tables."""

from __future__ import annotations

import json
from pathlib import Path

from ..report import geometric_mean
from .measure import REFERENCE, Row
from .runtimes import OURS, TRAINERS

_Key = tuple[str, int, int]


def _table(rows: list[Row]) -> dict[_Key, dict[str, Row]]:
    """Returns (network, batch, threads) -> name of the trainer -> its row."""
    table: dict[_Key, dict[str, Row]] = {}
    for row in rows:
        table.setdefault((row.network, row.batch, row.threads), {})[row.runtime] = row
    return table


def ratio(mine: float | None, theirs: float | None) -> float | None:
    return mine / theirs if mine and theirs else None


def time_ratios(rows: list[Row], threads: int, beside: str = REFERENCE) -> dict[tuple[str, int], float]:
    """Returns (network, batch) -> step time of mslite divided by that of `beside`, if both ran."""
    found = {}
    for (network, batch, count), kinds in _table(rows).items():
        one = ratio(kinds["mslite"].median_ms, kinds[beside].median_ms)
        if count == threads and one is not None:
            found[network, batch] = one
    return found


def write_json(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """Writes the machine, the versions, and a list of all measurements."""
    measured = [
        {
            "network": row.network, "batch": row.batch, "threads": row.threads, "runtime": row.runtime,
            "median_ms": row.median_ms, "rounds_ms": row.rounds_ms, "peak_mb": row.peak_mb, "losses": row.losses,
            "error": row.error,
        }
        for row in rows
    ]  # fmt: skip
    path.write_text(json.dumps({"machine": machine, "versions": versions, "rows": measured}, indent=1) + "\n")


def _shown(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def write_markdown(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """Writes the tables of docs/performance.md: one of times for each thread count, and one of memory."""
    names = list(TRAINERS)
    table = _table(rows)
    lines = [
        f"Machine: {machine}. Versions: {', '.join(f'{name} {version}' for name, version in versions.items())}.",
        "",
    ]
    ways, peers = " | ".join(names), [name for name in names if name not in OURS]
    for threads in sorted({row.threads for row in rows}):
        lines += [f"**{threads} thread{'s' if threads > 1 else ''}**, median ms of a training step:", ""]
        compared = " | ".join(f"mslite / {peer}" for peer in peers)
        lines += [f"| network | batch | {ways} | {compared} |", "|---|" + "---:|" * (1 + len(names) + len(peers))]
        for (network, batch, count), kinds in table.items():
            if count != threads:
                continue
            times = {name: kinds[name].median_ms for name in names}
            ratios = [ratio(times["mslite"], times[peer]) for peer in peers]
            cells = [*map(_shown, times.values()), *map(_shown, ratios)]
            lines.append(f"| {network} | {batch} | {' | '.join(cells)} |")
        means = [list(time_ratios(rows, threads, peer).values()) for peer in peers]
        cells = [_shown(geometric_mean(found) if found else None) for found in means]
        lines += [f"| geometric mean | |{' |' * len(names)} {' | '.join(cells)} |", ""]
    lines += ["**Memory**, peak MB of the first steps, without that of the interpreter and the library:", ""]
    compared = " | ".join(f"{name} / {REFERENCE}" for name in OURS)
    lines += [f"| network | batch | {ways} | {compared} |", "|---|" + "---:|" * (1 + len(names) + len(OURS))]
    least = min(row.threads for row in rows)
    for (network, batch, count), kinds in table.items():
        if count == least:
            peaks = {name: kinds[name].peak_mb for name in names}
            ratios = [ratio(peaks[name], peaks[REFERENCE]) for name in OURS]
            cells = [*(_shown(peak, 0) for peak in peaks.values()), *map(_shown, ratios)]
            lines.append(f"| {network} | {batch} | {' | '.join(cells)} |")
    failed = sorted({f"- {row.runtime} with {row.network}: {row.error}" for row in rows if row.error})
    if failed:
        lines += ["", "Did not run:", *failed]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
