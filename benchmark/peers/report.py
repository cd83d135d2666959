"""The views of a comparison: JSON, a Markdown table, an HTML page with bars."""

from __future__ import annotations

import json
import math
from pathlib import Path

from mslite.benchmark.page import render_page, write_page

from .measure import REFERENCE, Row
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


def best_ratios(rows: list[Row], threads: int) -> dict[str, float]:
    """Latency of mslite over that of the fastest peer, per network."""
    found: dict[str, float] = {}
    for network in dict.fromkeys(row.network for row in rows):
        times = {row.runtime: row.median_ms for row in rows if row.network == network and row.threads == threads}
        mine = times.pop("mslite", None)
        peers = [time for time in times.values() if time]
        if mine and peers:
            found[network] = mine / min(peers)
    return found


def float_ratios(rows: list[Row], threads: int, table: Path) -> dict[str, float]:
    """Latency of mslite over its own in `table`, the JSON of another comparison, per network that both have."""
    before = json.loads(table.read_text(encoding="utf-8"))
    found: dict[str, float] = {}
    for row in rows:
        time = before.get(row.network, {}).get(str(threads), {}).get("mslite")
        if row.runtime == "mslite" and row.threads == threads and row.median_ms and time:
            found[row.network] = row.median_ms / time
    return found


def write_markdown(
    rows: list[Row], versions: dict[str, str], machine: str, path: Path, floats: Path | None = None
) -> None:
    """The tables that docs/performance.md shows. `floats`: the JSON of the comparison in float32, for quantised networks."""
    names = [name for name in RUNTIMES if any(row.runtime == name and row.median_ms for row in rows)]
    lines = [f"Machine: {machine}. Versions: {', '.join(f'{name} {versions[name]}' for name in names)}.", ""]
    for threads in sorted({row.threads for row in rows}):
        lines += [f"**{threads} thread{'s' if threads > 1 else ''}**, median ms:", ""]
        columns = {f"mslite / {REFERENCE}": ratios(rows, "mslite", threads)}
        if floats is not None:
            columns["mslite / best"] = best_ratios(rows, threads)
            columns["mslite / its float32"] = float_ratios(rows, threads, floats)
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
    failed = [row for row in rows if row.error]
    if failed:
        lines.append("Did not run:")
        lines += sorted({f"- {row.runtime} on {row.network}: {row.error}" for row in failed})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_html(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """One self-contained page: a bar per runtime, network by network."""
    names = [name for name in RUNTIMES if any(row.runtime == name and row.median_ms for row in rows)]
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
