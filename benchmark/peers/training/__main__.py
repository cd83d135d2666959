"""`python -m mslite.benchmark.peers.training --out build`: compares a training step of mslite with PyTorch."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..measure import processor
from ..report import geometric_mean
from .measure import NETWORKS, Row, Turns, agrees, measure_all
from .report import time_ratios, write_json, write_markdown


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mslite.benchmark.peers.training", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for the results")
    parser.add_argument(
        "--name", default="bench_train", help="name of the result files: NAME.json, NAME.md (bench_train)"
    )
    parser.add_argument(
        "--networks", default=",".join(NETWORKS), help=f"networks, separated by commas ({','.join(NETWORKS)})"
    )
    parser.add_argument(
        "--batches", type=_numbers, default=[1, 8, 32], help="batch sizes, separated by commas (1,8,32)"
    )
    parser.add_argument("--threads", type=_numbers, default=[1, 2], help="thread counts, separated by commas (1,2)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of measurement (7)")
    parser.add_argument(
        "--seconds", type=float, default=0.7, help="duration of one round in seconds; at least one step runs (0.7)"
    )
    options = parser.parse_args()
    networks = options.networks.split(",")
    for network in networks:
        if network not in NETWORKS:
            print(f"Unknown network: '{network}'. Known networks: {', '.join(NETWORKS)}.", file=sys.stderr)
            return 1
    console = Console()
    if shutil.which("c++") is None and shutil.which("g++") is None:
        console.print("torch.compile will not run: it needs a C++ compiler, and neither c++ nor g++ was found.")

    def show(rows: list[Row]) -> None:
        for row in rows:
            found = f"{row.median_ms:9.2f} ms" if row.median_ms is not None else f"  {escape(row.error)}"
            peak = f"  {row.peak_mb:6.0f} MB" if row.peak_mb is not None else ""
            doubt = "" if agrees(row, rows) else "  [red]loss differs[/red]"
            what = f"{row.network:22} batch {row.batch:2}  {row.threads} thread(s)  {row.runtime:26}"
            console.print(f"{what} {found}{peak}{doubt}", highlight=False)

    work = options.out / "bench-train"
    work.mkdir(parents=True, exist_ok=True)
    turns = Turns(options.rounds, options.seconds)
    rows, versions = measure_all(networks, options.batches, options.threads, work.resolve(), turns, show)
    machine = processor()
    write_json(rows, versions, machine, options.out / f"{options.name}.json")
    write_markdown(rows, versions, machine, options.out / f"{options.name}.md")
    for count in options.threads:
        found = time_ratios(rows, count)
        if found:
            network, batch = max(found, key=lambda key: found[key])
            mean = geometric_mean(list(found.values()))
            worst = f"{found[network, batch]:.2f} ({network}, batch {batch})"
            console.print(f"{count} thread(s), time of mslite / PyTorch: geometric mean {mean:.2f}, highest {worst}")
    console.print(f"Wrote {options.out / options.name}.json and .md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
