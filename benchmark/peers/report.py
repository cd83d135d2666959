"""The views of a comparison: JSON, a Markdown table, an HTML page with bars."""

from __future__ import annotations

import json
import math
from pathlib import Path

from mslite.benchmark.page import render_page, write_page

from .measure import OWN_FLOAT, REFERENCE, Row
from .runtimes import RUNTIMES


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def ratios(rows: list[Row], runtime: str, threads: int) -> dict[str, float]:
    """Latency of `runtime` over the reference's, per network where both ran."""
    found: dict[str, float] = {}
    times = {(row.network, row.runtime): row.median_ms for row in rows if row.threads == threads}
    for network in dict.fromkeys(row.network for row in rows):
        mine, theirs = times.get((network, runtime)), times.get((network, REFERENCE))
        if mine and theirs:
            found[network] = mine / theirs
    return found


def write_json(rows: list[Row], path: Path) -> None:
    """network -> threads -> runtime -> median milliseconds (null where it did not run)."""
    table: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in rows:
        times = table.setdefault(row.network, {}).setdefault(str(row.threads), {})
        times[row.runtime] = None if row.median_ms is None else round(row.median_ms, 4)
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


def write_peaks(rows: list[Row], path: Path) -> None:
    """network -> threads -> runtime -> megabytes that loading and one run took (null where nobody knows)."""
    table: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in rows:
        peaks = table.setdefault(row.network, {}).setdefault(str(row.threads), {})
        peaks[row.runtime] = None if row.peak_mb is None else round(row.peak_mb, 1)
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


def _peak_lines(rows: list[Row], names: list[str]) -> list[str]:
    """The table of memory: of the least number of threads, which changes little in it."""
    threads = min(row.threads for row in rows)
    peaks = {(row.network, row.runtime): row.peak_mb for row in rows if row.threads == threads and row.peak_mb}
    if not peaks:
        return []
    lines = ["**Memory**, MB that loading and one run take at most beyond the interpreter's own:", ""]
    lines += [f"| network | {' | '.join(names)} | mslite / best |", "|---|" + "---:|" * (len(names) + 1)]
    for network in dict.fromkeys(row.network for row in rows):
        cells = [f"{peaks[network, name]:.0f}" if (network, name) in peaks else "-" for name in names]
        mine = peaks.get((network, "mslite"))
        others = [
            peaks[network, name] for name in names if name not in ("mslite", OWN_FLOAT) and (network, name) in peaks
        ]
        cells.append(f"{mine / min(others):.2f}" if mine and others else "-")
        lines.append(f"| {network} | {' | '.join(cells)} |")
    return [*lines, ""]


def best_ratios(rows: list[Row], threads: int) -> dict[str, float]:
    """Latency of mslite over that of the fastest peer, per network."""
    found: dict[str, float] = {}
    for network in dict.fromkeys(row.network for row in rows):
        times = {row.runtime: row.median_ms for row in rows if row.network == network and row.threads == threads}
        mine, _ = times.pop("mslite", None), times.pop(OWN_FLOAT, None)
        peers = [time for time in times.values() if time]
        if mine and peers:
            found[network] = mine / min(peers)
    return found


def float_ratios(rows: list[Row], threads: int) -> dict[str, float]:
    """Latency of mslite over its own on the float network, per network where both ran."""
    times = {(row.network, row.runtime): row.median_ms for row in rows if row.threads == threads}
    found: dict[str, float] = {}
    for network in dict.fromkeys(row.network for row in rows):
        mine, own = times.get((network, "mslite")), times.get((network, OWN_FLOAT))
        if mine and own:
            found[network] = mine / own
    return found


def _names(rows: list[Row]) -> list[str]:
    """What ran at all, in order."""
    return [name for name in (*RUNTIMES, OWN_FLOAT) if any(row.runtime == name and row.median_ms for row in rows)]


def write_markdown(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """The tables that docs/performance.md shows."""
    names = _names(rows)
    lines = [
        f"Machine: {machine}. Versions: {', '.join(f'{name} {versions[name]}' for name in names if name != OWN_FLOAT)}.",
        "",
    ]
    for threads in sorted({row.threads for row in rows}):
        lines += [f"**{threads} thread{'s' if threads > 1 else ''}**, median ms:", ""]
        columns = {f"mslite / {REFERENCE}": ratios(rows, "mslite", threads)}
        if OWN_FLOAT in names:
            columns["mslite / best"] = best_ratios(rows, threads)
            columns["mslite / its float32"] = float_ratios(rows, threads)
        lines.append(f"| network | {' | '.join(names)} | {' | '.join(columns)} |")
        lines.append("|---|" + "---:|" * (len(names) + len(columns)))
        times = {(row.network, row.runtime): row for row in rows if row.threads == threads}
        for network in dict.fromkeys(row.network for row in rows):
            cells = []
            for name in names:
                row = times.get((network, name))
                cells.append(f"{row.median_ms:.2f}" if row and row.median_ms else "-")
            cells += [f"{column[network]:.2f}" if network in column else "-" for column in columns.values()]
            lines.append(f"| {network} | {' | '.join(cells)} |")
        means = [*(ratios(rows, name, threads) for name in names), *list(columns.values())[1:]]
        cells = [f"{geometric_mean(list(mean.values())):.2f}" if mean else "-" for mean in means]
        cells.insert(len(names), "")
        lines.append(f"| geometric mean over {REFERENCE} | {' | '.join(cells)} |")
        lines.append("")
    lines += _peak_lines(rows, names)
    failed = [row for row in rows if row.error]
    if failed:
        lines.append("Did not run:")
        lines += sorted({f"- {row.runtime} on {row.network}: {row.error}" for row in failed})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_html(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """One self-contained page: a bar per runtime, network by network."""
    names = _names(rows)
    groups = []
    for threads in sorted({row.threads for row in rows}):
        networks = []
        for network in dict.fromkeys(row.network for row in rows):
            bars = [row for row in rows if row.network == network and row.threads == threads and row.median_ms]
            longest = max((row.median_ms or 0 for row in bars), default=1)
            networks.append({"name": network, "bars": [
                {"runtime": row.runtime, "ms": row.median_ms, "share": 100 * (row.median_ms or 0) / longest,
                 "cosine": row.cosine} for row in bars]})  # fmt: skip
        means = {name: geometric_mean(list(found.values()))
                 for name in names if (found := ratios(rows, name, threads))}  # fmt: skip
        groups.append({"threads": threads, "networks": networks, "means": means})
    failed = sorted({f"{row.runtime} on {row.network}: {row.error}" for row in rows if row.error})
    shown = {name: versions[name] for name in names}
    page = render_page(__package__, "report.html.j2", groups=groups, versions=shown, machine=machine, failed=failed)
    write_page(path, page)
