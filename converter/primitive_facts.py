"""Writes `docs/primitives.md`, the supported primitives of `.mindir` files: `python3 -m
mslite.converter.primitive_facts OUT.md`.

The page is made from the tables of the front end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mslite.converter.parsers.mindir.parser  # noqa: F401  (registers the converters)
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.operator_facts import mindir_primitives
from mslite.converter.parsers.mindir.refusals import REFUSED
from mslite.converter.parsers.mindir.registry import registered_primitives

_TITLE = """\
# Primitives of MindSpore

Written by `make operators` from the tables in `converter/parsers/mindir`; do not edit.

This page lists the primitives that MindSpore, up to version 2.10, writes into a `.mindir` file. {converted} primitives
are converted to [operators](operators.md) or to constants. {refused} primitives are unsupported: the table has the
reason and an alternative. A primitive that is in neither table is refused as unknown, or as a gradient or an optimizer.
A supported primitive may need fixed sizes, or certain values of an attribute; the message of the converter then names
the node and the reason. Primitives that draw random numbers return other numbers in each run.
"""


def converted() -> dict[str, list[str]]:
    """Returns primitive -> operators that it is converted to; operators of MindSpore Lite's schema and of mslite are
    included by name."""
    own = {name for name, cls in OPERATORS.items() if not cls.declaration.training and not name.endswith("Fusion")}
    own -= set(REFUSED)
    reached = mindir_primitives()
    return {
        name: sorted(reached.get(name, {name}))
        for name in sorted({*registered_primitives(), *own}, key=lambda name: (name.lower(), name))
    }


def refused() -> dict[tuple[str, str], list[str]]:
    """Returns (reason, remedy) -> unsupported primitives."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, why in REFUSED.items():
        found.setdefault(why, []).append(name)
    return {why: sorted(names) for why, names in sorted(found.items(), key=lambda item: min(item[1]))}


def emit() -> str:
    """Returns the text of the page."""
    rows, others = converted(), refused()
    lines = [
        _TITLE.format(converted=len(rows), refused=len(REFUSED)),
        "## Converted",
        "",
        "| primitive | operators |",
        "|---|---|",
    ]
    lines += [f"| {name} | {', '.join(names) or '-'} |" for name, names in rows.items()]
    lines += ["", "`-`: replaced by its input or a constant, or removed.", ""]
    lines += ["## Unsupported", "", "| primitives | reason | alternative |", "|---|---|---|"]
    lines += [f"| {', '.join(names)} | {reason} | {remedy} |" for (reason, remedy), names in others.items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m mslite.converter.primitive_facts OUT.md", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(emit(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
