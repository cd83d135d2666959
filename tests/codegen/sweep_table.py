"""Prints the results of `tests.codegen.sweep` as a table by target, or by model family and target.

Each cell has the number of programs with the runtime's results, and the number of compared programs.

    python -m tests.codegen.sweep_table [--families] FILE...
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

_COUNTED = "equal"
_LEFT_OUT = ("refused", "no reference", "too large for the board", "no case", "generated")
"""Results of models without a program to compare; the documentation lists the `refused` ones."""


def _column(entry: dict[str, str]) -> str:
    smaller = ", `--memory=min`" if entry["memory"] == "min" else ""
    compiler = ", clang" if "clang" in entry["how"] else ""
    levels = [f", `{level}`" for level in ("-O0", "-Os", "-O3") if level in entry["how"].split()]
    threads = ", threads" if "threads" in entry["how"] else ""
    checked = ", sanitizers" if "-fsanitize" in entry["how"] else ""
    return "".join([entry["target"], smaller, compiler, *levels, threads, checked])


def by_target(entries: list[dict[str, str]]) -> str:
    """Returns Markdown with a row per target: families, compared programs, equal programs, failed models."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for entry in entries:
        if entry["result"] not in _LEFT_OUT:
            found[_column(entry)].append(entry)
    lines = ["| target | families | programs | equal | others |", "|---" * 5 + "|"]
    for target, programs in found.items():
        families = {entry["model"].split("/")[0] for entry in programs}
        others = [f"`{entry['model']}`" for entry in programs if entry["result"] != _COUNTED]
        equal = len(programs) - len(others)
        lines.append(f"| {target} | {len(families)} | {len(programs)} | {equal} | {', '.join(sorted(others))} |")
    return "\n".join(lines)


def by_family(entries: list[dict[str, str]]) -> str:
    """Returns Markdown with a row per family and a column per target: "equal of compared"."""
    results: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    targets: list[str] = []
    for entry in entries:
        target = _column(entry)
        if target not in targets:
            targets.append(target)
        if entry["result"] in _LEFT_OUT:
            continue
        family = entry["model"].split("/")[0] if not entry["model"].startswith("/") else "others"
        for row in (family, "all"):
            results[row][target].append(entry["result"] == _COUNTED)
    lines = [f"| models | {' | '.join(targets)} |", "|---" * (len(targets) + 1) + "|"]
    for family in sorted(results, key=lambda name: (name == "all", name)):
        cells = []
        for target in targets:
            found = results[family][target]
            good = sum(found)
            cells.append("" if not found else str(good) if good == len(found) else f"{good} of {len(found)}")
        lines.append(f"| {family} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(names: list[str]) -> int:
    """Prints the tables."""
    table = by_family if "--families" in names else by_target
    names = [name for name in names if name != "--families"]
    found = [json.loads(line) for name in names for line in Path(name).read_text().splitlines()]
    latest = {(entry["model"], _column(entry)): entry for entry in found}
    print(table(list(latest.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
