"""`python -m mslite.benchmark.peers MODELS --out build`: compares mslite with other runtimes on every ONNX file in a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from .measure import Row, is_wanted, measure_all, processor
from .report import geometric_mean, ratios, time_of, write_html, write_json, write_markdown


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mslite.benchmark.peers", description=__doc__)
    parser.add_argument("models", type=Path, help="folder of ONNX files with fixed shapes")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for the results")
    parser.add_argument(
        "--name",
        default="bench_peers",
        help="name of the result files: NAME.json, NAME_cpu.json, NAME_memory.json, NAME.md, NAME.html (bench_peers)",
    )
    parser.add_argument(
        "--float-models",
        type=Path,
        help="folder of the same networks in float32; mslite runs them too, for comparison with int8",
    )
    parser.add_argument("--threads", default="1,2", help="thread counts, separated by commas (1,2)")
    parser.add_argument(
        "--networks", default="", help="networks to run, separated by commas, with or without the input size (all)"
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds of measurement for each runtime (7)")
    parser.add_argument("--seconds", type=float, default=0.7, help="duration of one round in seconds (0.7)")
    options = parser.parse_args()
    models = [path for path in sorted(options.models.glob("*.onnx")) if is_wanted(path.stem, options.networks)]
    if not models:
        print(
            f"{options.models} contains no ONNX file{' with one of these names' if options.networks else ''}.",
            file=sys.stderr,
        )
        return 1
    console = Console()

    def show(row: Row) -> None:
        found = f"{row.median_ms:9.2f} ms" if row.median_ms is not None else f"  {row.error}"
        found += f"  {row.cpu_ms:9.2f} ms CPU time" if row.cpu_ms is not None else ""
        doubt = (
            f"  [red]output differs: cosine {row.cosine:.4f}[/red]"
            if row.cosine is not None and row.cosine < 0.999
            else ""
        )
        peak = f"  {row.peak_mb:6.0f} MB" if row.peak_mb is not None else ""
        console.print(
            f"{row.network:28} {row.threads} thread(s)  {row.runtime:14} {found}{peak}{doubt}",
            highlight=False,
            soft_wrap=True,
        )

    threads = [int(count) for count in options.threads.split(",")]
    rows, versions = measure_all(models, threads, options.rounds, options.seconds, show, options.float_models)
    options.out.mkdir(parents=True, exist_ok=True)
    machine = processor()
    write_json(rows, "median_ms", options.out / f"{options.name}.json")
    write_json(rows, "cpu_ms", options.out / f"{options.name}_cpu.json")
    write_json(rows, "peak_mb", options.out / f"{options.name}_memory.json")
    write_markdown(rows, versions, machine, options.out / f"{options.name}.md")
    write_html(rows, versions, machine, options.out / f"{options.name}.html")
    for count in threads:
        quantity = time_of(count)
        found = ratios(rows, "mslite", count, quantity)
        if found:
            worst = max(found, key=lambda network: found[network])
            mean = geometric_mean(list(found.values()))
            kind = "CPU time" if quantity == "cpu_ms" else "time"
            console.print(
                f"{count} thread(s), {kind} of mslite / onnxruntime: geometric mean {mean:.2f}, highest {found[worst]:.2f} ({worst})"
            )
    console.print(f"Wrote {options.out / options.name}.json, .md and .html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
