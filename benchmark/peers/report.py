"""The views of a comparison: JSON, a Markdown table, an HTML page with bars."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path

import jinja2

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


def write_markdown(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """The table that docs/performance.md shows."""
    names = [name for name in RUNTIMES if any(row.runtime == name and row.median_ms for row in rows)]
    lines = [f"Machine: {machine}. Versions: {', '.join(f'{name} {versions[name]}' for name in names)}.", ""]
    for threads in sorted({row.threads for row in rows}):
        lines += [f"**{threads} thread{'s' if threads > 1 else ''}**, median ms:", ""]
        lines += [f"| network | {' | '.join(names)} | mslite / {REFERENCE} |", "|---|" + "---:|" * (len(names) + 1)]
        times = {(row.network, row.runtime): row for row in rows if row.threads == threads}
        mine = ratios(rows, "mslite", threads)
        for network in dict.fromkeys(row.network for row in rows):
            cells = []
            for name in names:
                row = times.get((network, name))
                cells.append(f"{row.median_ms:.2f}" if row and row.median_ms else "-")
            lines.append(f"| {network} | {' | '.join(cells)} | {mine[network]:.2f} |" if network in mine else
                         f"| {network} | {' | '.join(cells)} | - |")  # fmt: skip
        means = [ratios(rows, name, threads) for name in names]
        lines.append("| geometric mean over onnxruntime | " + " | ".join(
            f"{geometric_mean(list(mean.values())):.2f}" if mean else "-" for mean in means) + " | |")  # fmt: skip
        lines.append("")
    failed = [row for row in rows if row.error]
    if failed:
        lines.append("Did not run:")
        lines += sorted({f"- {row.runtime} on {row.network}: {row.error}" for row in failed})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_html(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """One self-contained page: a bar per runtime, network by network."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    template = environment.from_string(files(__package__).joinpath("report.html.j2").read_text(encoding="utf-8"))
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
    style = files("mslite.benchmark").joinpath("style.css").read_text(encoding="utf-8")
    page = template.render(
        style=style, groups=groups, versions={name: versions[name] for name in names}, machine=machine, failed=failed
    )
    path.write_text(page, encoding="utf-8")
