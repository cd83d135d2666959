"""Writes the report as an HTML page, as JSON and to the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mslite.benchmark.origin import RESULT, File, file_of, origin_of
from mslite.benchmark.page import grouped, render_page, size
from mslite.codegen.core import Core
from mslite.codegen.emit.names import short
from mslite.codegen.memory.usage import Kind
from mslite.codegen.report.measure import CodeSize
from mslite.codegen.report.report_data import ModelReport, ReportData

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 1040, 380, 76, 22
_COLORS = {
    Kind.INPUT: "#4f9d69",
    Kind.ACTIVATION: "#2f6fde",
    Kind.OUTPUT: "#8a5cd6",
    Kind.VARIABLE: "#7a8699",
    Kind.WORKSPACE: "#d98c2b",
    Kind.ROWS: "#2aa3a3",
}


@dataclass(frozen=True)
class Box:
    """A rectangle of the chart of the memory plan: a tensor or workspace. Coordinates are pixels."""

    x: float
    y: float
    width: float
    height: float
    color: str
    label: str
    """Name; empty if the rectangle is too low for a line of text. The page's script shortens it to `room`
    characters."""
    room: int
    title: str


@dataclass(frozen=True)
class Drawing:
    """Chart of the memory plan, `width` x `height` pixels."""

    width: int
    height: int
    boxes: list[Box]
    lines: list[tuple[float, str]]
    peak_x: float
    peak_width: float
    peak_y: float
    columns: list[tuple[float, float, str]]
    kinds: list[tuple[str, str]]


def draw(model: ModelReport) -> Drawing:
    """Draws the memory plan. x: steps in order of execution; y: bytes, from the beginning of the arena at the
    bottom."""
    picture = model.picture
    count, top = len(picture.columns) + 1, max(1, picture.size)
    step = (_WIDTH - _LEFT - 4) / count
    low = _HEIGHT - _BOTTOM

    def x(column: float) -> float:
        return round(_LEFT + step * column, 2)

    def y(byte: float) -> float:
        return round(low - (low - 10) * byte / top, 2)

    boxes = []
    for one in sorted(picture.rectangles, key=lambda one: -one.size):
        width, height = x(one.last + 1) - x(one.first), y(one.offset) - y(one.offset + one.size)
        label = _short(one.name.removeprefix("workspace of ")) if height > 12 else ""  # the color shows the kind
        where = f"{grouped(one.size)} bytes at {grouped(one.offset)}"
        title = f"{one.name}\n{one.kind.value}, {where}\nsteps {one.first} to {one.last}"
        boxes.append(
            Box(
                x(one.first),
                y(one.offset + one.size),
                round(width, 2),
                round(height, 2),
                _COLORS[one.kind],
                label,
                int((width - 6) / 6.4),
                title,
            )
        )
    lines = [(y(top * share), size(top * share)) for share in (0, 0.25, 0.5, 0.75, 1)]
    columns = [(x(0), round(step, 2), "before the run: inputs")]
    for place, name in enumerate(picture.columns, 1):
        columns.append(
            (
                x(place),
                round(step, 2),
                f"step {place}: {name}\n{picture.in_use[place]:,} bytes in use".replace(",", " "),
            )
        )
    kinds = [
        (kind.value, color) for kind, color in _COLORS.items() if any(one.kind is kind for one in picture.rectangles)
    ]
    return Drawing(_WIDTH, _HEIGHT, boxes, lines, x(picture.peak), round(step, 2), y(top), columns, kinds)


def _short(name: str) -> str:
    return short(name, "layer")


def report_files(figures: ReportData, cores: Sequence[Core] = (), sources: Sequence[Path] = ()) -> dict[str, str]:
    """Returns the texts of report.html and report.json. The page lists the model files and the files generated from
    them.

    Raises OSError if a source cannot be read."""
    origin = origin_of(sources)
    origin = replace(origin, files=(*origin.files, *_written(cores)))
    context = {
        "figures": figures,
        "drawings": [draw(model) for model in figures.models],
        "origin": origin,
        "measured": isinstance(figures.measured, CodeSize),
    }
    return {
        "report.html": render_page(__package__, "report.html.j2", None, **context),
        "report.json": json.dumps(as_json(figures), indent=1) + "\n",
    }


def _written(cores: Sequence[Core]) -> list[File]:
    """Returns the files with the models' own C code and constants."""
    files = []
    for core in cores:
        folder = f"src/model{core.index}/"
        texts = {path: text for path, text in core.files.items() if path.startswith(folder)}
        files += [file_of(RESULT, path, text.encode(errors="backslashreplace")) for path, text in sorted(texts.items())]
        if core.weights is not None:
            files.append(file_of(RESULT, f"{folder}net{core.index}.bin", core.weights))
    return files


def as_json(figures: ReportData) -> dict[str, object]:
    """Returns the contents of report.json. Sizes are bytes; unknown values are null."""
    measured = figures.measured
    return {
        "project": figures.project,
        "target": figures.target,
        "flash": {"code": figures.code, "weights": figures.weights},
        "ram": {
            "arena": figures.ram,
            "activations": max((model.activations for model in figures.models), default=0),
            "workspace": max((model.workspace for model in figures.models), default=0),
        },
        "stack": figures.stack,
        "compiler": measured.compiler if isinstance(measured, CodeSize) else None,
        "not_measured": None if isinstance(measured, CodeSize) else measured.reason,
        "misra": {
            "tool": figures.misra.tool or None,
            "findings": None if figures.misra.reason else figures.misra.findings,
            "total": None if figures.misra.reason else figures.misra.total,
            "mandatory": None if figures.misra.reason else figures.misra.mandatory,
            "not_checked": figures.misra.reason or None,
        },
        "macs": sum(model.macs for model in figures.models),
        "models": [_plain(asdict(model)) for model in figures.models],
    }


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def print_report(figures: ReportData, console: Console | None = None) -> None:
    """Prints a summary of the report to standard output, or to `console`."""
    console = console or Console(highlight=False)
    table = Table(
        title=escape(f"{figures.project} for {figures.target}"),
        title_justify="left",
        box=None,
        show_header=False,
        pad_edge=False,
    )
    table.add_column()
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    measured = figures.measured
    unknown = "" if isinstance(measured, CodeSize) else measured.reason
    table.add_row("flash, weights", f"{grouped(figures.weights)} B", "")
    table.add_row(
        "flash, code", _bytes(figures.code), "without the C library" if not unknown else f"unknown: {unknown}"
    )
    for model in figures.models:
        name = escape(f" of {model.name}") if len(figures.models) > 1 else ""
        table.add_row(
            f"RAM, arena{name}", f"{grouped(model.arena)} B", escape(f"the peak is at {_short(model.peak_layer)}")
        )
        table.add_row("  activations at the peak", f"{grouped(model.activations)} B", "")
        table.add_row("  workspace at the peak", f"{grouped(model.workspace)} B", "")
    no_stack = f"unknown: {unknown or 'the compiler cannot report it'}"
    table.add_row("stack", _bytes(figures.stack), "" if figures.stack is not None else no_stack)
    if not figures.misra.reason:
        table.add_row("MISRA C:2012", str(figures.misra.total), figures.misra.text())
    for model in figures.models:
        estimate = "" if model.instructions is None else f"about {grouped(model.instructions)} instructions"
        table.add_row("MACs", grouped(model.macs), estimate)
    console.print(table)


def _bytes(count: int | None) -> str:
    return "-" if count is None else f"{grouped(count)} B"
