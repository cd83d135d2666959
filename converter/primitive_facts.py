"""`python3 -m mslite.converter.primitive_facts OUT.md` writes `docs/primitives.md`: which operators each primitive of a `.mindir`
file becomes, from the tables of its parser."""

from __future__ import annotations

import sys
from pathlib import Path

import mslite.converter.parsers.mindir.parser  # noqa: F401  (registers the converters)
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.operator_pages.matrix_page import links
from mslite.converter.operator_pages.source_operators import mindspore_primitives
from mslite.converter.parsers.mindir.registry import registered_primitives
from mslite.converter.parsers.mindir.unsupported import UNSUPPORTED_PRIMITIVES

_TITLE = """\
# Primitives of MindSpore

This page lists the primitives that MindSpore 2.10 or an older version writes into a `.mindir` file. `make operators` writes it from
the tables in `converter/parsers/mindir`.

- [Converted](#converted): {converted} primitives. Each becomes one or several of mslite's operators. [operators.md](operators.md) shows
  which backends compute them.
- [Unsupported](#unsupported): {refused} primitives, with the reason and what a network can use instead.

Other primitives are unsupported too. The error message names the primitive; for gradients, optimizers and communication between
devices it also says why. A converted primitive can still be unsupported in a model because of a dynamic dimension or the value of an
attribute. The error message then names the node and the reason.

Primitives that draw random numbers give other numbers than MindSpore, and others in each run.
"""


def converted() -> dict[str, list[str]]:
    """Primitive -> operators that it becomes. Operators of mslite are read by their own names, too."""
    own = {name for name, cls in OPERATORS.items() if not cls.declaration.training and not name.endswith("Fusion")}
    own -= set(UNSUPPORTED_PRIMITIVES)
    becomes = mindspore_primitives()
    return {
        name: sorted(becomes.get(name, {name}))
        for name in sorted({*registered_primitives(), *own}, key=lambda name: (name.lower(), name))
    }


def refused() -> dict[tuple[str, str], list[str]]:
    """Reason and remedy -> primitives."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, why in UNSUPPORTED_PRIMITIVES.items():
        found.setdefault(why, []).append(name)
    return {why: sorted(names) for why, names in sorted(found.items(), key=lambda item: min(item[1]))}


def emit() -> str:
    """The text of the page."""
    rows, others = converted(), refused()
    lines = [
        _TITLE.format(converted=len(rows), refused=len(UNSUPPORTED_PRIMITIVES)),
        "## Converted",
        "",
        "| primitive | operators of mslite |",
        "|---|---|",
    ]
    lines += [f"| {name} | {', '.join(f'[{each}]' for each in names) or '-'} |" for name, names in rows.items()]
    lines += ["", "`-`: the primitive becomes its input or a constant, or it only orders other nodes.", ""]
    lines += ["## Unsupported", "", "| primitives | reason | instead |", "|---|---|---|"]
    lines += [f"| {', '.join(names)} | {reason} | {remedy} |" for (reason, remedy), names in others.items()]
    used = sorted({name for names in rows.values() for name in names})
    return "\n".join([*lines, "", links(used)]) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m mslite.converter.primitive_facts OUT.md", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(emit(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
