"""`python3 -m mslite.converter.primitive_facts OUT.md` writes `docs/primitives.md`: what becomes of each primitive of a `.mindir`
file, from the tables of its front end."""

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

What becomes of each primitive that MindSpore 2.10 or an older version writes into a `.mindir` file: {converted} are converted, to
[operators](operators.md) or to what is known when converting; {refused} are refused by name, with the reason and with what a network can
do instead. A primitive that stands in neither table is refused as not known, gradients and optimizers as what they are.
Which sizes have to be fixed, and which values of an attribute are computed, a refusal says of the node. What draws random
numbers has no promise: the numbers are others in each run.
"""


def converted() -> dict[str, list[str]]:
    """Primitive -> operators that it becomes; those of MindSpore Lite's schema and ours are read by their own names, too."""
    own = {name for name, cls in OPERATORS.items() if not cls.declaration.training and not name.endswith("Fusion")}
    own -= set(REFUSED)
    reached = mindir_primitives()
    return {
        name: sorted(reached.get(name, {name}))
        for name in sorted({*registered_primitives(), *own}, key=lambda name: (name.lower(), name))
    }


def refused() -> dict[tuple[str, str], list[str]]:
    """Reason and remedy -> primitives."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, why in REFUSED.items():
        found.setdefault(why, []).append(name)
    return {why: sorted(names) for why, names in sorted(found.items(), key=lambda item: min(item[1]))}


def emit() -> str:
    """The text of the page."""
    rows, others = converted(), refused()
    lines = [
        _TITLE.format(converted=len(rows), refused=len(REFUSED)),
        "## Converted",
        "",
        "| primitive | becomes |",
        "|---|---|",
    ]
    lines += [f"| {name} | {', '.join(names) or '-'} |" for name, names in rows.items()]
    lines += ["", "`-`: the operand itself, a constant, or what only holds the graph together.", ""]
    lines += ["## Refused", "", "| primitives | because | instead |", "|---|---|---|"]
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
