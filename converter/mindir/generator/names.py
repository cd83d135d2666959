"""Generates `op_names.inc`: X(number, Name, custom type or "") for each operator, for names in C and C++."""

from __future__ import annotations

from ..ops import OPERATORS_BY_ID


def emit() -> str:
    """Returns the text of `op_names.inc`."""
    lines = ["/* Generated from converter/mindir/ops; do not edit. X(number, name, custom type) */"]
    for number, cls in sorted(OPERATORS_BY_ID.items()):
        lines.append(f'X({number}, {cls.declaration.name}, "{cls.declaration.custom_type or ""}")')
    return "\n".join(lines) + "\n"
