"""`python -m tests.accuracy`: measures every task with every tool and writes docs/developers/quantization_accuracy.md.

Arguments: names of tasks (default: all); `--results FOLDER`; `--tools "mslite;mslite, strict;onnxruntime;TFLite"`; `--write` only
writes the page from existing results; `--cluster tcp://host:8786` measures on a Dask cluster. A measurement is repeated if its model,
its samples, its tool or, for mslite, its sources have changed (`keys.py`), so an interrupted run can be continued. TFLite's converter
runs in the Python interpreter MSLITE_TF_PYTHON.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.models.trained.dataset import DataMissing

from .apart import measure_apart
from .keys import ROOT, key_of
from .measure import TOOLS, Result
from .open_models import MODELS, RECIPES, open_task
from .results import Results
from .spread import Measurement, measure_on_cluster
from .table import write_markdown
from .tasks import TRAINED_TASKS, Task


def tasks() -> dict[str, Callable[[], Task]]:
    """Returns all tasks by name: the trained models of the repository, and those of the open model set if it is available."""
    found = dict(TRAINED_TASKS)
    if MODELS.is_dir():
        found |= {path: (lambda path=path: open_task(path)) for path in RECIPES}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tools", default=";".join(TOOLS))
    parser.add_argument("--cluster", default="", help="address of a Dask scheduler")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "accuracy")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "developers" / "quantization_accuracy.md")
    given = parser.parse_args()
    results, known = Results(given.results), tasks()
    if unknown := set(given.names) - set(known):
        print(f"no task is named {', '.join(sorted(unknown))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if not given.write:
        _measure({name: known[name] for name in given.names or known}, given.tools.split(";"), results, given.cluster)
    measured, missing = [], []
    for name, make in known.items():
        try:
            task = make()
        except DataMissing as error:
            missing.append(f"{name}: {error}")
            continue
        for tool in TOOLS:
            result = results.get(name, tool, key_of(task, tool))
            if result is None:
                missing.append(f"{name} with {tool}")
            else:
                measured.append(result)
    write_markdown(measured, given.out, missing)
    return 0


def _measure(makers: dict[str, Callable[[], Task]], tools: list[str], results: Results, address: str) -> None:
    """Measures the tasks that have no result yet: one by one on this machine, or in parallel on the cluster at `address`."""
    wanted = _wanted(makers, tools, results)
    measured = (
        measure_on_cluster(list(wanted), address)
        if address
        else (((task, tool), measure_apart(task, tool)) for task, tool in wanted)
    )
    for (task, tool), result in measured:
        results.put(result, key_of(task, tool))
        print(f"{task.name:44} {tool:12} {summary(result)}", flush=True)


def _wanted(makers: dict[str, Callable[[], Task]], tools: list[str], results: Results) -> Iterator[Measurement]:
    for name, make in makers.items():
        try:
            task = make()
        except DataMissing as error:
            print(f"{name}: left out: {error}", flush=True)
            continue
        for tool in tools:
            if results.get(name, tool, key_of(task, tool)) is None:
                yield task, tool


def summary(result: Result) -> str:
    if result.error:
        return result.error
    text = (
        f"{result.seconds:5.0f} s  cosine {result.cosine:.5f}  {result.sqnr:5.1f} dB  {result.changed:5.2f} % changed"
    )
    if result.right >= 0:
        text += f"  top-1 {result.right_float:.2f} -> {result.right:.2f}"
    return text + (f"  {result.integers:.1f} % integer" if result.integers >= 0 else "")


if __name__ == "__main__":
    sys.exit(main())
