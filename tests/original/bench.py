"""`make bench-original`: compares mslite with MindSpore Lite 2.0.0 on the networks of `make bench-peers`.

The results are in docs/developers/migrating.md. Each network is converted by the original's converter and by mslite, and each runtime runs
its own file; 2.0.0 also runs the file of `--targetVersion=2.0`. The three alternate, round by round; the result is the median over the
rounds of the median of five runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from mslite.benchmark.peers.measure import is_wanted

from .networks import PYTHON, bench_networks, converted, predicted, save_operands

_WORKER = Path(__file__).with_name("bench_worker.py")
_CONVERT = (
    "import sys, mindspore_lite as lite\n"
    "converter = lite.Converter()\n"
    "converter.save_type = lite.ModelType.MINDIR_LITE\n"
    "converter.convert(lite.FmkType.ONNX, sys.argv[1], sys.argv[2])\n"
)
ROUNDS = 7


@dataclass
class Turn:
    """A runtime with a file, in a separate process."""

    library: str
    file: Path
    rounds: list[float] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None
    loaded: dict[str, float] = field(default_factory=dict)

    def start(self, inputs: Path, threads: int) -> None:
        python = str(PYTHON) if self.library == "mindspore_lite" else sys.executable
        command = [python, str(_WORKER), self.library, str(self.file), str(inputs), str(threads)]
        self.rounds.clear()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.loaded = self.answer()

    def answer(self) -> dict[str, float]:
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        raise RuntimeError(f"{self.library} does not run {self.file}")

    def round(self) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.rounds.append(self.answer()["median_ms"])

    def stop(self) -> None:
        assert self.process is not None
        self.process.communicate()

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


def turns_of(model: Path, folder: Path) -> list[Turn]:
    """Measures the original with its own file (if its converter writes one), the original with mslite's file, and mslite."""
    ours, for_2_0, theirs = (folder / name for name in ("ours", "for_2_0", "theirs"))
    for each in (ours, for_2_0, theirs):
        each.mkdir(exist_ok=True)
    assert not converted(model, ours)
    assert not converted(model, for_2_0, "--targetVersion=2.0")
    own = theirs / model.stem
    subprocess.run([str(PYTHON), "-c", _CONVERT, str(model), str(own)], capture_output=True, check=False)
    found = [
        Turn("mindspore_lite", own.with_suffix(".ms")),
        Turn("mindspore_lite", for_2_0 / f"{model.stem}.ms"),
        Turn("mslite", ours / f"{model.stem}.ms"),
    ]
    return found if own.with_suffix(".ms").exists() else found[1:]


def measure(model: Path, folder: Path, threads: int) -> list[Turn]:
    turns = turns_of(model, folder)
    operands, _ = predicted(turns[-1].file)
    save_operands(folder, model.stem, operands)
    for turn in list(turns):
        try:
            turn.start(folder / f"{model.stem}.npz", threads)
        except RuntimeError:
            if turn is not turns[0] or len(turns) < 3:
                raise
            turns.remove(turn)  # the original's own file does not run
    for _ in range(ROUNDS):
        for turn in turns:
            turn.round()
    for turn in turns:
        turn.stop()
    return turns


def row(model: Path, figures: dict[int, list[Turn]]) -> str:
    """Returns a row of the table: for each quantity 2.0.0, 2.0.0 with mslite's file, mslite."""

    def three(texts: list[str]) -> str:
        return " / ".join(["-"] * (3 - len(texts)) + texts)

    speeds = [three([f"{turn.median:.1f}" for turn in turns]) for turns in figures.values()]
    single = figures[min(figures)]
    size = three([f"{turn.file.stat().st_size / 1e6:.1f}" for turn in single])
    load = three([f"{turn.loaded['load_ms']:.0f}" for turn in single])
    memory = three([f"{turn.loaded['megabytes']:.0f}" for turn in single])
    return f"| {' | '.join([model.stem, *speeds, load, memory, size])} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--networks", default=os.environ.get("MSLITE_NETWORKS", ""))
    options = parser.parse_args()
    counts = [int(count) for count in options.threads.split(",")]
    models = [path for path in bench_networks() if is_wanted(path.stem, options.networks)]
    if PYTHON is None or not models:
        print("Skipped by name: bench-original needs the original's Python and build/bench-models.")
        return 0
    print(f"load average at the beginning: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"| | {' | '.join(f'ms, {count} threads' for count in counts)} | load, ms | memory, MB | file, MB |")
    print(f"|---|{'---|' * (len(counts) + 3)}")
    ratios: dict[int, list[float]] = {count: [] for count in counts}
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            figures = {count: measure(model, Path(folder), count) for count in counts}
            print(row(model, figures), flush=True)
            for count, turns in figures.items():
                ratios[count].append(turns[0].median / turns[-1].median)
    means = ", ".join(f"{statistics.geometric_mean(found):.2f} with {count}" for count, found in ratios.items())
    print(f"time of 2.0.0 over mslite's, geometric mean: {means} threads; load average {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
