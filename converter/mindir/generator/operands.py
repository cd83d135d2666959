"""Emits `op_operands.inc`: X(number, least inputs, least outputs) per operator, so that shape rules and kernels may use
every operand that is not optional without looking."""

from __future__ import annotations

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Operand


def _least(operands: tuple[Operand, ...]) -> int:
    """Operands that are always there; of those that repeat, one when nothing stands before it (Concat joins something)."""
    first_repeats = bool(operands) and operands[0].repeated
    return first_repeats + sum(not operand.optional and not operand.repeated for operand in operands)


def emit() -> str:
    """The text of `op_operands.inc`."""
    lines = ["/* Generated from converter/mindir/ops; do not edit. X(number, least inputs, least outputs) */"]
    for number, cls in sorted(OPERATORS_BY_ID.items()):
        lines.append(f"X({number}, {_least(cls.declaration.inputs)}, {_least(cls.declaration.outputs)})")
    return "\n".join(lines) + "\n"
