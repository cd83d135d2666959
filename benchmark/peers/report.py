"""Writes the results of a comparison as JSON, as Markdown tables and as an HTML page with bars."""

from __future__ import annotations

import contextlib
import json
import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from mslite.benchmark.page import render_page, write_page

from .measure import OWN_FLOAT, REFERENCE, Row
from .runtimes import RUNTIMES


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


Quantity = Literal["median_ms", "cpu_ms", "peak_mb"]
_DIGITS: dict[Quantity, int] = {"median_ms": 4, "cpu_ms": 4, "peak_mb": 1}
_MAKERS = ("torch", "torchvision", "timm", "onnx", "litert-torch", "ai-edge-quantizer")
"""Packages that write the files of the networks."""


def time_of(threads: int) -> Quantity:
    """Returns the time that is compared: CPU time with one thread, because other programs affect it little."""
    return "cpu_ms" if threads == 1 else "median_ms"


def _values(rows: list[Row], threads: int, quantity: Quantity) -> dict[tuple[str, str], float]:
    """Returns (network, runtime) -> measured value, without missing values."""
    found = {(row.network, row.runtime): getattr(row, quantity) for row in rows if row.threads == threads}
    return {key: value for key, value in found.items() if value}


def ratios(
    rows: list[Row], runtime: str, threads: int, quantity: Quantity = "median_ms", over: str = REFERENCE
) -> dict[str, float]:
    """Returns network -> time of `runtime` divided by the time of `over`, for the networks that both ran."""
    times = _values(rows, threads, quantity)
    networks = dict.fromkeys(row.network for row in rows)
    return {
        network: times[network, runtime] / times[network, over]
        for network in networks
        if (network, runtime) in times and (network, over) in times
    }


def write_json(rows: list[Row], quantity: Quantity, path: Path) -> None:
    """Writes network -> threads -> runtime -> milliseconds or megabytes (null if the runtime did not run)."""
    table: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in rows:
        value = getattr(row, quantity)
        found = table.setdefault(row.network, {}).setdefault(str(row.threads), {})
        found[row.runtime] = None if value is None else round(value, _DIGITS[quantity])
    path.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


def _peak_lines(rows: list[Row], names: list[str]) -> list[str]:
    """Returns the table of peak memory, for the smallest thread count: memory hardly depends on the number of threads."""
    threads = min(row.threads for row in rows)
    peaks = {(row.network, row.runtime): row.peak_mb for row in rows if row.threads == threads and row.peak_mb}
    if not peaks:
        return []
    lines = ["**Memory**, peak MB of loading and one run, without that of the Python interpreter:", ""]
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


def best_ratios(rows: list[Row], threads: int, quantity: Quantity) -> dict[str, float]:
    """Returns network -> time of mslite divided by the time of the fastest other runtime."""
    times = _values(rows, threads, quantity)
    found: dict[str, float] = {}
    for network in dict.fromkeys(row.network for row in rows):
        peers = [times[network, name] for name in RUNTIMES if name != "mslite" and (network, name) in times]
        if peers and (network, "mslite") in times:
            found[network] = times[network, "mslite"] / min(peers)
    return found


def _names(rows: list[Row]) -> list[str]:
    """Returns the runtimes that ran at least one network, in the order of the tables."""
    return [name for name in (*RUNTIMES, OWN_FLOAT) if any(row.runtime == name and row.median_ms for row in rows)]


def _time_lines(rows: list[Row], names: list[str], threads: int, quantity: Quantity) -> list[str]:
    """Returns a table of times, with the ratios of mslite to the reference, the fastest peer and its own float32 time."""
    kind = "CPU time, median ms" if quantity == "cpu_ms" else "median ms"
    lines = [f"**{threads} thread{'s' if threads > 1 else ''}**, {kind}:", ""]
    columns = {
        f"mslite / {REFERENCE}": ratios(rows, "mslite", threads, quantity),
        "mslite / best peer": best_ratios(rows, threads, quantity),
    }
    if OWN_FLOAT in names:
        columns["mslite / its float32"] = ratios(rows, "mslite", threads, quantity, OWN_FLOAT)
    lines.append(f"| network | {' | '.join(names)} | {' | '.join(columns)} |")
    lines.append("|---|" + "---:|" * (len(names) + len(columns)))
    times = _values(rows, threads, quantity)
    for network in dict.fromkeys(row.network for row in rows):
        cells = [f"{times[network, name]:.2f}" if (network, name) in times else "-" for name in names]
        cells += [f"{column[network]:.2f}" if network in column else "-" for column in columns.values()]
        lines.append(f"| {network} | {' | '.join(cells)} |")
    means = [*(ratios(rows, name, threads, quantity) for name in names), *list(columns.values())[1:]]
    cells = [f"{geometric_mean(list(mean.values())):.2f}" if mean else "-" for mean in means]
    cells.insert(len(names), "")
    return [*lines, f"| geometric mean over {REFERENCE} | {' | '.join(cells)} |", ""]


def _makers() -> str:
    """Returns names and versions of the packages that wrote the networks, as far as they are installed here."""
    found = []
    for package in _MAKERS:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join(found)


def write_markdown(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """Writes the tables of docs/performance.md."""
    names = _names(rows)
    lines = [
        f"Machine: {machine}. Versions: {', '.join(f'{name} {versions[name]}' for name in names if name != OWN_FLOAT)}.",
        *([f"Networks: {made}."] if (made := _makers()) else []),
        "",
    ]
    for threads in sorted({row.threads for row in rows}):
        lines += _time_lines(rows, names, threads, "median_ms")
        if any(row.cpu_ms for row in rows if row.threads == threads):
            lines += _time_lines(rows, names, threads, "cpu_ms")
    lines += _peak_lines(rows, names)
    if failed := _failed(rows):
        lines += ["Did not run:", *(f"- {line}" for line in failed)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _failed(rows: list[Row]) -> list[str]:
    """Returns a sorted line `RUNTIME on NETWORK: REASON` for each failure."""
    return sorted({f"{row.runtime} on {row.network}: {row.error}" for row in rows if row.error})


def write_html(rows: list[Row], versions: dict[str, str], machine: str, path: Path) -> None:
    """Writes a self-contained HTML page with a bar per runtime for each network."""
    names = _names(rows)
    groups = []
    for threads in sorted({row.threads for row in rows}):
        quantity = time_of(threads)
        times = _values(rows, threads, quantity)
        networks = []
        for network in dict.fromkeys(row.network for row in rows):
            shown = [
                row
                for row in rows
                if row.threads == threads and (network, row.runtime) in times and row.network == network
            ]
            longest = max((times[network, row.runtime] for row in shown), default=1)
            bars = [
                {
                    "runtime": row.runtime,
                    "ms": times[network, row.runtime],
                    "share": 100 * times[network, row.runtime] / longest,
                    "cosine": row.cosine,
                }
                for row in shown
            ]
            networks.append({"name": network, "bars": bars})
        means = {name: geometric_mean(list(found.values()))
                 for name in names if (found := ratios(rows, name, threads, quantity))}  # fmt: skip
        groups.append({"threads": threads, "is_cpu": quantity == "cpu_ms", "networks": networks, "means": means})
    page = render_page(
        __package__,
        "report.html.j2",
        groups=groups,
        versions={name: versions[name] for name in names},
        makers=_makers(),
        machine=machine,
        failed=_failed(rows),
        is_int8=OWN_FLOAT in names,
    )
    write_page(path, page)
