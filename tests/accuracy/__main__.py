"""`python -m tests.accuracy`: measures every task with every tool and writes docs/quantization_accuracy.md.

Arguments: names of tasks (all when left out); `--again` measures what is in the results file already; `--results FILE`;
`--tools mslite,onnxruntime,TFLite`. TFLite's converter runs in the Python that MSLITE_TF_PYTHON names.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.models.trained.dataset import DataMissing

from .measure import TOOLS, Result, measure
from .open_models import MODELS, RECIPES, open_task
from .table import write_markdown
from .tasks import TRAINED_TASKS, Task

ROOT = Path(__file__).resolve().parents[2]


def tasks() -> dict[str, Callable[[], Task]]:
    """Every task by name: the trained models of the repository, and those of the open set where it is there."""
    found = dict(TRAINED_TASKS)
    if MODELS.is_dir():
        found |= {path: (lambda path=path: open_task(path)) for path in RECIPES}
    return found


def read(path: Path) -> dict[str, Result]:
    """Results of earlier runs."""
    if not path.is_file():
        return {}
    return {key: Result(**entry) for key, entry in json.loads(path.read_text(encoding="utf-8")).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "accuracy.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "quantization_accuracy.md")
    given = parser.parse_args()
    results = read(given.results)
    known = tasks()
    if unknown := set(given.names) - set(known):
        print(f"no task is named {', '.join(sorted(unknown))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name in given.names or known:
        open_tools = [tool for tool in given.tools.split(",") if given.again or f"{name} {tool}" not in results]
        if not open_tools:
            continue
        try:
            task = known[name]()
        except DataMissing as error:
            print(f"{name}: left out: {error}", flush=True)
            continue
        for tool in open_tools:
            result = measure(task, tool)
            results[f"{name} {tool}"] = result
            print(f"{name:44} {tool:12} {summary(result)}", flush=True)
            given.results.parent.mkdir(parents=True, exist_ok=True)
            entries = {key: dataclasses.asdict(entry) for key, entry in results.items()}
            given.results.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    measured = [results[f"{name} {tool}"] for name in known for tool in TOOLS if f"{name} {tool}" in results]
    write_markdown(measured, given.out, [name for name in known if f"{name} mslite" not in results])
    return 0


def summary(result: Result) -> str:
    if result.error:
        return result.error
    text = f"cosine {result.cosine:.5f}  {result.sqnr:5.1f} dB  {result.changed:5.2f} % changed"
    if result.right >= 0:
        text += f"  top-1 {result.right_float:.2f} -> {result.right:.2f}"
    return text + (f"  {result.integers:.1f} % integer" if result.integers >= 0 else "")


if __name__ == "__main__":
    sys.exit(main())
