"""Generates `op_operands.inc`: X(number, least inputs, least outputs) for each operator.

The loader checks these counts, so that shape rules and kernels can use required inputs and outputs without a check.
"""

from __future__ import annotations

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Operand


def _least(operands: tuple[Operand, ...]) -> int:
    """Returns the number of required operands. A repeated operand counts as one if it is the first (Concat), else as
    none."""
    first_repeats = bool(operands) and operands[0].repeated
    return first_repeats + sum(not operand.optional and not operand.repeated for operand in operands)


def emit() -> str:
    """Returns the text of `op_operands.inc`."""
    lines = ["/* Generated from converter/mindir/ops; do not edit. X(number, least inputs, least outputs) */"]
    for number, cls in sorted(OPERATORS_BY_ID.items()):
        lines.append(f"X({number}, {_least(cls.declaration.inputs)}, {_least(cls.declaration.outputs)})")
    return "\n".join(lines) + "\n"
