"""What the user sees of a conversion: a progress bar with stages while it runs (terminal only), a summary after it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mslite.converter.convert import Report
from mslite.converter.passes.pipeline import PIPELINE


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """Gives a function that takes the name of each stage; draws a bar on stderr when that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    columns = (TextColumn("{task.description:<18}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("parse", total=len(PIPELINE) + 2)

        def advance(name: str) -> None:
            bar.update(task, description=name.replace("_", " "), advance=1)

        yield advance


def _size(count: int) -> str:
    return f"{count / 1024:,.1f} KiB" if count < 10 << 20 else f"{count / (1 << 20):,.1f} MiB"


def print_summary(report: Report) -> None:
    """Operators and file size before and after, transposes left and where, memory, what was fused."""
    before, after = report.operators_before.total(), report.operators_after.total()
    print(f"source      {report.framework.name}, {before} operators, {_size(report.source_bytes)}")
    names = ", ".join(str(path) for path in report.files)
    print(f"result      {names}: {after} operators, {_size(report.result_bytes)}")
    if report.applied:
        print("fused       " + ", ".join(f"{name} {count}x" for name, count in sorted(report.applied.items())))
    where = ", ".join(report.transposes[:5]) + (", ..." if len(report.transposes) > 5 else "")
    print(f"transposes  {len(report.transposes)}" + (f": {where}" if where else ""))
    if report.peak_bytes is not None:
        print(f"activations {_size(report.peak_bytes)} at peak")
    if report.bound is not None:
        shapes = "; ".join(f"{name}:{list(shape)}" for name, shape in report.bound.shapes.items())
        peak = report.bound.peak_bytes
        amount = "not bounded: shapes depend on the data" if peak is None else f"{_size(peak)} at peak"
        print(f"at most     {amount}, with {shapes}")
    for note in report.notes:
        print(f"note        {note}")
