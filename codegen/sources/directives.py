"""Writes the preprocessor directives of open conditions between two pieces of a file."""

from __future__ import annotations

from .parsed_file import Unit

OpenConditions = tuple[tuple[int, int], ...]
"""Open conditions around a piece of a file: (index of the condition, index of its branch), outermost first."""


def directives_between(
    now: OpenConditions, wanted: OpenConditions, unit: Unit | None
) -> tuple[list[str], OpenConditions]:
    """Returns the directives between two pieces with the open conditions `now` and `wanted`, and the new conditions."""
    if now == wanted or unit is None:
        return [], wanted
    common = 0
    while common < min(len(now), len(wanted)) and now[common] == wanted[common]:
        common += 1
    lines: list[str] = []
    if common < len(now) and common < len(wanted) and now[common][0] == wanted[common][0]:
        lines += ["#endif"] * (len(now) - common - 1)
        which, branch = wanted[common]
        lines += unit.branches[which][now[common][1] + 1 : branch + 1]
        common += 1
    else:
        lines += ["#endif"] * (len(now) - common)
    for which, branch in wanted[common:]:
        lines += unit.branches[which][: branch + 1]
    return lines, wanted


def add_directives(lines: list[str], directives: list[str], spaced: bool) -> None:
    """Appends directives to `lines`, with blank lines around them."""
    for text in directives:
        opens = text.split("\n")[-1].startswith("#if")
        if lines and lines[-1] and (opens or lines[-1] == "#endif") and not text.startswith("#endif"):
            lines.append("")
        lines.append(text)
    if lines and lines[-1] and (directives[-1] == "#endif" if directives else spaced):
        lines.append("")
