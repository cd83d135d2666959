"""The conditions that stay open in a written file: which directives stand between two pieces of it."""

from __future__ import annotations

from .units import Unit

Opened = tuple[tuple[int, int], ...]
"""Where a piece stands: (which condition, which of its branches), the outermost first."""


def directives_between(now: Opened, wanted: Opened, unit: Unit | None) -> tuple[list[str], Opened]:
    """The directives that lead from one place between open conditions to another."""
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
    """Directives, and the blank lines around them and before what follows."""
    for text in directives:
        opens = text.split("\n")[-1].startswith("#if")
        if lines and lines[-1] and (opens or lines[-1] == "#endif") and not text.startswith("#endif"):
            lines.append("")
        lines.append(text)
    if lines and lines[-1] and (directives[-1] == "#endif" if directives else spaced):
        lines.append("")
