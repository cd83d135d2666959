"""`python -m tests.random_graphs`: runs random graphs through converter and runtime, and compares with onnxruntime.

Every graph has its own seed (`--seed` and its number), so that it can be made again. A graph with different results is reduced, printed in
ONNX's text form, and saved with its inputs in the folder of `--out`.
"""

from __future__ import annotations

import argparse
import faulthandler
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from rich.progress import track

from .chance import Seeded
from .compare import problem
from .evaluate import Rejected
from .graphs import REJECTIONS, RandomGraph, grown
from .operators import OPERATORS
from .reduce import reduced
from .report import FOLDER, kind_of, load, save, text_of

_LIMIT = 60


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="number of graphs")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first graph; further graphs have the following seeds"
    )
    parser.add_argument("--steps", type=int, default=12, help="maximum number of operators in a graph")
    parser.add_argument("--only", nargs="+", default=[], help="operators and patterns to use")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for graphs that differ")
    parser.add_argument("--rejected", action="store_true", help="list why operators were rejected")
    parser.add_argument("--replay", type=Path, help="folder of a saved graph to run")
    chosen = parser.parse_args()
    if chosen.replay:
        text = replayed(chosen.replay)
        print(text or "as it should be")
        return 1 if text else 0
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _too_long)
    seen: Counter[str] = Counter()
    used: Counter[str] = Counter()
    running = chosen.out / "running"  # keeps the graph for analysis after a crash
    running.mkdir(parents=True, exist_ok=True)
    for seed in track(range(chosen.seed, chosen.seed + chosen.count), "graphs", disable=not sys.stderr.isatty()):
        (running / "seed").write_text(f"{seed}\n", encoding="utf-8")
        try:
            graph = grown(Seeded(seed), chosen.steps, chosen.only)
        except Rejected:
            continue
        used.update(graph.operators)
        save(graph, running)
        if text := checked(graph):
            small = reduced(graph, lambda candidate: bool(checked(candidate)))
            text = checked(small) or text
            seen[kind := kind_of(small, text)] += 1
            if seen[kind] == 1:
                folder = save(small, chosen.out / f"seed{seed}")
                print(f"\nseed {seed}: {text}\n{text_of(small.model)}\nsaved in {folder}", flush=True)
    print(f"{chosen.count} graphs, {sum(seen.values())} differ; {len(used)} of {len(OPERATORS)} table entries")
    for kind, count in seen.most_common():
        print(f"{count:5} {kind}")
    if unused := sorted(set(chosen.only or OPERATORS) - set(used)):
        print("never used:", ", ".join(unused))
    if chosen.rejected:
        for reason, count in REJECTIONS.most_common(100):
            print(f"{count:5} {reason}")
    return 1 if seen else 0


def replayed(folder: Path) -> str:
    """Returns the problem of a saved graph."""
    graph = load(folder)
    print(text_of(graph.model))
    return checked(graph)


def checked(graph: RandomGraph) -> str:
    """Returns the problem of a graph, which includes a timeout."""
    signal.alarm(_LIMIT)
    try:
        return problem(graph)
    except TimeoutError:
        return f"takes more than {_LIMIT} s"
    finally:
        signal.alarm(0)


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError


if __name__ == "__main__":
    sys.exit(main())
