"""What the pages of all reports share: their look, how they print figures, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import jinja2

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.atomic import write_together

NARROW = "\u202f"
"""Between thousands in a page: a narrow blank at which no line ends."""


def render_page(
    package: str, template: str, filters: Mapping[str, Callable[..., object]] | None = None, **context: Any
) -> str:
    """A self-contained page from a template that lies in `package`; it finds the style as `style`, the script as `script`,
    macros in `parts.html.j2`, the filters below, and `filters` of its own.

    Data goes into a `<script>` by the filter `tojson`, which escapes what could end or begin one: `<`, `>`, `&`, and all
    that is not ASCII.
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
    """Writes a page beside its path and renames it. Raises ConversionError when it cannot be written."""

    def write(file: IO[bytes]) -> None:
        file.write(text.encode(errors="backslashreplace"))  # names of files may be any bytes

    try:
        write_together({path: write})
    except OSError as error:
        raise ConversionError(
            f"{path}: the report cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None


def size(count: float) -> str:
    """Bytes, in MiB, KiB or as they are."""
    if count < 1024:
        return f"{count:.0f} B"
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{count / 1024:.1f} KiB"


def milliseconds(value: float | None) -> str:
    """A time, in ms or µs; what is too short to be told is no 0."""
    if value is None:
        return "-"
    if value < 0.00005:
        return "< 0.1 µs"
    if value < 0.01:
        return f"{1000 * value:.1f} µs"
    return f"{value:.2f} ms" if value >= 1 else f"{1000 * value:.0f} µs"


def percent(value: float | None) -> str:
    """A share, 0 to 1."""
    if value is None:
        return "-"
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"


def grouped(value: int | None, blank: str = " ") -> str:
    """1 234 567."""
    return "-" if value is None else f"{value:,}".replace(",", blank)
