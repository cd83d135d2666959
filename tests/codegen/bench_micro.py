"""`make bench-micro`: the networks of MLPerf Tiny on Cortex-M, and whether they grew beside the recorded figures.

    python -m tests.codegen.bench_micro [--quick] [--out FILE] [--record]

Networks that `../shared/models` lacks are taken from `networks.py`: the same layers, random weights. --quick measures the
small ones of mslite only, at the chosen level, and fails when a figure is more than 2 % above `bench_baseline.json`; --record
writes that file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from mslite.codegen.bench import LEVELS, Result, measure, table
from mslite.codegen.targets import target_named

from .networks import autoencoder, keywords, resnet8

BASELINE = Path(__file__).with_name("bench_baseline.json")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models" / "mlperf_tiny"
OPEN = {"kws": "kws_ref_int8", "vww": "vww_96_int8"}
OURS = {"keywords-like": keywords, "resnet8-like": resnet8, "ad-like": autoencoder}
TOLERANCE = 1.02
FIGURES = ("instructions", "code_bytes", "const_bytes", "ram_bytes", "ram_bytes_adapter", "activation_bytes")


def _files(folder: Path, quick: bool) -> dict[str, Path]:
    files = {} if quick else {name: SHARED / path / "model.tflite" for name, path in OPEN.items()}
    files = {name: path for name, path in files.items() if path.exists()}
    for name, make in OURS.items():
        files[name] = folder / f"{name}.tflite"
        files[name].write_bytes(make())
    return files


def _all(folder: Path, quick: bool) -> list[Result]:
    results = []
    for name, path in _files(folder, quick).items():
        for target in map(target_named, ("cortex-m4", "cortex-m55")):
            results += measure(name, path, target, [target.optimization] if quick else LEVELS)
            if not quick:
                results += measure(name, path, target, [target.optimization], least_memory=True)
        if not quick:
            for target in map(target_named, ("cortex-m0+", "cortex-m3", "cortex-m7")):
                results += measure(name, path, target, [target.optimization])
    return results


def growth(results: list[Result], baseline: list[dict[str, object]]) -> list[str]:
    """What is more than 2 % above its recorded figure, or not exact."""
    known = {(entry["network"], entry["target"], entry["opt"], entry["memory"]): entry for entry in baseline}
    found = []
    for result in results:
        place = f"{result.network} on {result.target} {result.opt}"
        entry = known.get((result.network, result.target, result.opt, result.memory))
        if not result.exact:
            found.append(f"{place}: outputs are not as recorded")
        if entry is None:
            found.append(f"{place}: no recorded figures; make them with --record")
            continue
        for name in FIGURES:
            now, before = getattr(result, name), int(str(entry[name]))
            if now > before * TOLERANCE + 8:
                found.append(f"{place}: {name} {now}, was {before}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = _all(Path(folder), given.quick or given.record)
    print(table(results))
    text = json.dumps([asdict(result) for result in results], indent=1) + "\n"
    if given.out is not None:
        given.out.write_text(text)
    if given.record:
        BASELINE.write_text(text)
        return 0
    problems = growth(results, json.loads(BASELINE.read_text())) if given.quick else []
    problems += [] if given.quick else [f"{one.network} on {one.target}: not exact" for one in results if not one.exact]
    print("\n".join(problems), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
