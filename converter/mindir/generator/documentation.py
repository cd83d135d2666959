"""`python3 -m converter.mindir.generator.documentation OUT`: writes `operators.md`, the reference of all operators."""

from __future__ import annotations

import re
import sys
from enum import IntEnum
from pathlib import Path

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Attribute, Operand, OperatorDeclaration

_KERNELS = Path(__file__).resolve().parents[3] / "kernels"
_FRONT_ENDS = ("onnx", "tflite", "tensorflow", "caffe")


def shape_rules() -> frozenset[str]:
    """The operators that a list in `kernels/shape/` names."""
    lists = (_KERNELS / "shape").glob("*.inc")
    return frozenset(name for path in lists for name in re.findall(r"^RULE\((\w+),", path.read_text(), re.MULTILINE))


def family_kernels() -> dict[str, list[str]]:
    """Family -> the kernels in its `kernels.inc`; those compiled once per instruction set end in `*`."""
    families = {}
    for path in sorted(_KERNELS.glob("*/kernels.inc")):
        entries = re.findall(r"^KERNEL(_VECTOR)?\((\w+)\)", path.read_text(), re.MULTILINE)
        families[path.parent.name] = [name + ("*" if vector else "") for vector, name in entries]
    return families


def _operand(operand: Operand) -> str:
    name = f"{operand.name}..." if operand.repeated else operand.name
    return f"[{name}]" if operand.optional else name


def _default(attribute: Attribute) -> str:
    value = attribute.default
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return str(value).lower()
    return value.name if isinstance(value, IntEnum) else f"{value:g}" if isinstance(value, float) else str(value)


def _entry(declaration: OperatorDeclaration, rules: frozenset[str]) -> str:
    lines = [f"### {declaration.name}", "", declaration.doc, ""]
    wire = f"Custom, type `{declaration.custom_type}`" if declaration.is_custom else "union member"
    lines.append(f"- number {declaration.wire_id} ({wire})" + (", training" if declaration.training else ""))
    lines.append(f"- inputs: {', '.join(_operand(operand) for operand in declaration.inputs) or 'none'}")
    lines.append(f"- outputs: {', '.join(_operand(operand) for operand in declaration.outputs) or 'none'}")
    lines.append(f"- layout: {declaration.layout}; shape rule: {'yes' if declaration.name in rules else 'no'}")
    for front_end in _FRONT_ENDS:
        names = getattr(declaration, front_end)
        if names:
            lines.append(f"- {front_end}: {', '.join(names)}")
    if declaration.attributes:
        lines += ["", "| attribute | slot | type | default |", "|---|---|---|---|"]
        lines += [
            f"| {attribute.wire_name} | {attribute.slot} | {attribute.wire} | {_default(attribute)} |"
            for attribute in declaration.attributes
        ]
    return "\n".join(lines)


def emit() -> str:
    """The text of `operators.md`: families in alphabetical order, operators by number."""
    rules, kernels = shape_rules(), family_kernels()
    declarations = [cls.declaration for _, cls in sorted(OPERATORS_BY_ID.items())]
    own = sum(declaration.is_custom for declaration in declarations)
    ruled = sum(declaration.name in rules for declaration in declarations)
    parts = [
        "# Operators",
        "Generated from `converter/mindir/ops` and the lists in `kernels/`; do not edit.",
        f"{len(declarations)} operators: {len(declarations) - own} of MindSpore Lite's schema, {own} of our own, which a "
        f"file holds as Custom nodes. {ruled} have a shape rule. `[x]` may be left out, `x...` may be repeated.",
    ]
    for family in sorted({declaration.family for declaration in declarations}):
        parts.append(f"## {family}")
        names = ", ".join(f"`{name}`" for name in kernels.get(family, []))
        parts.append(f"Kernels (`*` = compiled per instruction set): {names or 'none yet'}.")
        parts += [_entry(declaration, rules) for declaration in declarations if declaration.family == family]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m converter.mindir.generator.documentation OUT", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(emit(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
