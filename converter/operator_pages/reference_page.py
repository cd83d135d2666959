"""The text of docs/operators_reference.md: what each operator computes, its inputs, outputs, attributes and data types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path

from mslite.converter.mindir.ops import OPERATORS_BY_ID
from mslite.converter.mindir.ops._declare import Attribute, Operand, OperatorDeclaration
from mslite.converter.operator_pages.kernels import CONTROL_FLOW, VARIABLES, KernelFacts
from mslite.converter.operator_pages.source_operators import FORMATS

_SHAPE_RULES = Path(__file__).resolve().parents[2] / "kernels" / "shape"

_INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))

_INTRODUCTION = """\
# Operator reference

This page describes each operator of mslite: what it computes, its inputs, outputs, attributes and data types.
[operators.md](operators.md) shows which backends compute it. `make operators` writes both pages.

There are {count} operators: {schema} are in MindSpore Lite's schema, and a file holds the other {custom} as Custom nodes
([custom_nodes.md](custom_nodes.md)). {shape_rules} have a shape rule, {kernels} have a kernel.

Families: {families}"""

_LEGEND = """\
## How to read an entry

- **id**: the number of the operator in the schema, or of mslite's own operators.
- **layout**: what the converter does with the operator if it changes a model from NCHW to NHWC. `nhwc` and `nchw` compute in that
  layout. `elementwise` follows any layout. `axis` follows it too, and the converter adapts the dimensions that attributes name.
  `any` keeps the layout of the source model.
- **inputs, outputs**: `[x]` is optional, `x...` may be repeated.
- **attributes**: name, number of the field in the schema, type, default. Without a default, the attribute may be absent.
- **data types**: what kernels take for the float inputs, or for the first input, in some of the tests. `integers` are signed
  and unsigned, of 8 to 64 bits. Other data types are unsupported, except for quantized integers, which are not listed.
- **with casts**: data types that are computed in float32, int32 or int64, between casts. float64 then has the precision of
  float32, and int64 computed in float32 is exact up to 2^24. The converter makes float32 of float16 models and keeps float16
  inputs and outputs.
- **instruction sets**: those of the runtime's kernels. **C kernels**: targets of generated C with optimized kernels.
- **ONNX, TensorFlow Lite, ...**: source operators that become this one, alone or together with others.

bfloat16, float8 and types of less than 8 bits are unsupported as data types of activations."""


def reference_page(kernels: Mapping[str, KernelFacts], sources: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The page: families in alphabetical order, operators by id."""
    declarations = [cls.declaration for _, cls in sorted(OPERATORS_BY_ID.items())]
    rules = shape_rules()
    families = sorted({declaration.family for declaration in declarations})
    custom = sum(declaration.is_custom for declaration in declarations)
    introduction = _INTRODUCTION.format(
        count=len(declarations),
        schema=len(declarations) - custom,
        custom=custom,
        shape_rules=sum(declaration.name in rules for declaration in declarations),
        kernels=sum(bool(facts.instruction_sets) for facts in kernels.values()),
        families=", ".join(f"[{family}](#{anchor(family)})" for family in families),
    )
    parts = [introduction, _LEGEND]
    for family in families:
        parts.append(f"## {title(family)}")
        for declaration in declarations:
            if declaration.family == family:
                name = declaration.name
                parts.append(_entry(declaration, name in rules, kernels.get(name), sources.get(name, {})))
    return "\n\n".join(parts) + "\n"


def shape_rules() -> frozenset[str]:
    """The operators that a list in `kernels/shape/` names."""
    lists = [path.read_text(encoding="utf-8") for path in _SHAPE_RULES.glob("*.inc")]
    return frozenset(name for text in lists for name in re.findall(r"^RULE\((\w+),", text, re.MULTILINE))


def title(family: str) -> str:
    """The heading of a family. No operator has the same, so anchors differ."""
    return f"Family {family}"


def anchor(family: str) -> str:
    return title(family).lower().replace(" ", "-")


def _entry(
    declaration: OperatorDeclaration, has_rule: bool, kernels: KernelFacts | None, sources: Mapping[str, Sequence[str]]
) -> str:
    kind = f"Custom, type `{declaration.custom_type}`" if declaration.is_custom else "schema"
    training = ", training" if declaration.training else ""
    rule = "" if has_rule else "; no shape rule"
    lines = [
        f"### {declaration.name}",
        "",
        declaration.doc,
        "",
        f"- id {declaration.wire_id} ({kind}{training}); layout: {declaration.layout}{rule}",
        f"- inputs: {_operands(declaration.inputs)}; outputs: {_operands(declaration.outputs)}",
    ]
    if declaration.attributes:
        lines.append(f"- attributes: {', '.join(map(_attribute, declaration.attributes))}")
    lines += _kernel_lines(declaration.name, kernels)
    lines += [f"- {name}: {', '.join(sources[key])}" for key, name in FORMATS.items() if key in sources]
    return "\n".join(lines)


def _operands(operands: Sequence[Operand]) -> str:
    return ", ".join(map(_operand, operands)) or "none"


def _operand(operand: Operand) -> str:
    name = f"{operand.name}..." if operand.repeated else operand.name
    return f"[{name}]" if operand.optional else name


def _attribute(attribute: Attribute) -> str:
    """`name` (field): type = default."""
    default = "" if attribute.default is None else f" = {_default(attribute)}"
    return f"`{attribute.wire_name}` ({attribute.slot}): {attribute.wire}{default}"


def _default(attribute: Attribute) -> str:
    value = attribute.default
    if isinstance(value, bool):
        return str(value).lower()
    return value.name if isinstance(value, IntEnum) else f"{value:g}" if isinstance(value, float) else str(value)


def _kernel_lines(operator: str, kernels: KernelFacts | None) -> list[str]:
    if operator in CONTROL_FLOW | VARIABLES:
        return ["- no kernel: the runtime's executor runs it"]
    if kernels is None:
        return ["- no kernel"]
    lines = [f"- data types: {_data_types(kernels) or 'quantized integers'}"]
    c_kernels = f"; C kernels: {', '.join(kernels.optimized_targets)}" if kernels.optimized_targets else ""
    return [*lines, f"- instruction sets: {', '.join(kernels.instruction_sets)}{c_kernels}"]


def _data_types(kernels: KernelFacts) -> str:
    found = [_in_words(kernels.data_types)]
    if kernels.cast_types:
        found.append(f"with casts: {_in_words(kernels.cast_types)}")
    return "; ".join(filter(None, found))


def _in_words(types: Sequence[str]) -> str:
    """The names of data types, `integers` for all of them."""
    if not set(_INTEGERS) <= set(types):
        return ", ".join(types)
    return ", ".join([*(name for name in types if name not in _INTEGERS), "integers"])
