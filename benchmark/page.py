"""Common functions of all HTML reports: templates, number formats and writing of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import jinja2

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.atomic import write_files_atomically

NARROW = "\u202f"
"""Thousands separator in reports: a narrow no-break space."""


def render_page(
    package: str, template: str, filters: Mapping[str, Callable[..., object]] | None = None, **context: Any
) -> str:
    """Renders a self-contained page from a template in `package`. The template can use the variables `style` and `script`,
    the macros of `parts.html.j2`, the filters below, and `filters`.

    Data in a `<script>` must use the filter `tojson`, which escapes `<`, `>`, `&` and all characters that are not ASCII.
    """
    parts = {"parts.html.j2": _shared("parts.html.j2")}
    environment = jinja2.Environment(loader=jinja2.DictLoader(parts), undefined=jinja2.StrictUndefined, autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True}
    environment.filters |= {
        "size": size,
        "time": milliseconds,
        "percent": percent,
        "grouped": lambda value: grouped(value, NARROW),
        **(filters or {}),
    }
    text = files(package).joinpath(template).read_text(encoding="utf-8")
    return environment.from_string(text).render(style=_shared("style.css"), script=_shared("page.js"), **context)


def _shared(name: str) -> str:
    return files("mslite.benchmark").joinpath(name).read_text(encoding="utf-8")


def write_page(path: Path, text: str) -> None:
    """Writes a page atomically. Raises ConversionError if it cannot be written."""

    def write(file: IO[bytes]) -> None:
        file.write(text.encode(errors="backslashreplace"))  # file names may contain any bytes

    try:
        write_files_atomically({path: write})
    except OSError as error:
        raise ConversionError(
            f"{path}: the report cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None


def size(count: float) -> str:
    """Formats a number of bytes as B, KiB or MiB."""
    if count < 1024:
        return f"{count:.0f} B"
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{count / 1024:.1f} KiB"


def milliseconds(value: float | None) -> str:
    """Formats a time in milliseconds as ms or µs."""
    if value is None:
        return "-"
    if value < 0.00005:
        return "< 0.1 µs"
    if value < 0.01:
        return f"{1000 * value:.1f} µs"
    return f"{value:.2f} ms" if value >= 1 else f"{1000 * value:.0f} µs"


def percent(value: float | None) -> str:
    """Formats a share (0 to 1) as a percentage."""
    if value is None:
        return "-"
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"


def grouped(value: int | None, blank: str = " ") -> str:
    """Formats an integer with thousands separators, for example 1 234 567."""
    return "-" if value is None else f"{value:,}".replace(",", blank)
