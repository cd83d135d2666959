"""The text of `docs/operators.md`, the reference of all operators.

Front ends, element types, instruction sets and targets of generated C are what `mslite.converter.operator_facts` found in
the finished build; without them these columns say what the declarations and the lists in `kernels/` tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Attribute, Operand, OperatorDeclaration

_ROOT = Path(__file__).resolve().parents[3]
_KERNELS = _ROOT / "kernels"
_FRONT_ENDS = {
    "onnx": "ONNX",
    "tflite": "TensorFlow Lite",
    "tensorflow": "TensorFlow",
    "caffe": "Caffe",
    "mindir": "MINDIR",
}

_INDEXED = ("onnx", "tflite")
"""Front ends whose names are listed one by one: models come in them most."""

_TESTED = {"OpenCL": "opencl", "NNAPI": "nnapi", "NNRT": "nnrt"}
"""Engine -> its list in `tests/delegate`, of what it took in the tests of all operators."""
_TABLES = {"OpenVINO": "openvino", "Core ML": "coreml"}
"""Engine -> its folder in `delegate`, whose tables name what it takes."""

_EXECUTOR = frozenset(("AssignVariable", "Call", "PartialFusion", "ReadVariable", "Switch", "SwitchLayer"))
"""Run by the executor, without a kernel."""
_IN_TRAINING = frozenset(("Assign", "AssignAdd", "FlattenGrad", "LSTMGradData", "LSTMGradWeight"))
"""Written as other operators when a training file is read."""

Facts = Mapping[str, Mapping[str, Any]]
"""Operator -> `front_ends` (name -> source operators), `types`, `isas`, `generated`."""


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


def engines() -> dict[str, list[str]]:
    """Operator -> engines that take it."""
    found: dict[str, list[str]] = {}
    lists = {name: (_ROOT / f"tests/delegate/{key}_operators.txt").read_text().split() for name, key in _TESTED.items()}
    for name, folder in _TABLES.items():
        sources = sorted((_ROOT / "delegate" / folder / "operators").glob("*.cc"))
        lists[name] = [
            taken for path in sources for taken in re.findall(r"^ *\{MSLITE_OP_(\w+),", path.read_text(), re.M)
        ]
    for name, operators in sorted(lists.items()):
        for operator in dict.fromkeys(operators):
            found.setdefault(operator, []).append(name)
    return found


def _index(declarations: Sequence[OperatorDeclaration], facts: Facts) -> list[str]:
    """For each front end of `_INDEXED` a table: the name there, and the operators that it becomes."""
    parts = ["## By names of other formats", "An operator may become one of these or several together."]
    for key in _INDEXED:
        becomes: dict[str, list[str]] = {}
        for declaration in declarations:
            for foreign in _sources(declaration, facts).get(key, ()):
                becomes.setdefault(foreign, []).append(declaration.name)
        lines = [f"| {_FRONT_ENDS[key]} | becomes |", "|---|---|"]
        lines += [
            f"| {foreign} | {', '.join(f'[{name}](#{name.lower()})' for name in sorted(names))} |"
            for foreign, names in sorted(becomes.items(), key=lambda item: item[0].lower())
        ]
        parts += [f"### Names of {_FRONT_ENDS[key]}", "\n".join(lines)]
    return parts


def _operand(operand: Operand) -> str:
    name = f"{operand.name}..." if operand.repeated else operand.name
    return f"[{name}]" if operand.optional else name


def _default(attribute: Attribute) -> str:
    value = attribute.default
    if isinstance(value, bool):
        return str(value).lower()
    return value.name if isinstance(value, IntEnum) else f"{value:g}" if isinstance(value, float) else str(value)


def _sources(declaration: OperatorDeclaration, facts: Facts) -> dict[str, list[str]]:
    """Front end -> source operators that become this one, alone or together with others."""
    if declaration.name in facts:
        return dict(facts[declaration.name]["front_ends"])
    found = {key: list(getattr(declaration, key, ())) for key in _FRONT_ENDS}
    return {key: names for key, names in found.items() if names}


def _row(
    declaration: OperatorDeclaration, rules: frozenset[str], facts: Facts, takers: Mapping[str, Sequence[str]]
) -> str:
    """One line of a family's table."""
    known = facts.get(declaration.name, {})
    types = _types(known) or (_status(declaration, rules, facts) if facts else "-")
    sources = _sources(declaration, facts)
    counts = ", ".join(f"{title} {len(sources[key])}" for key, title in _FRONT_ENDS.items() if key in sources)
    cells = [f"[{declaration.name}](#{declaration.name.lower()})", counts or "-"]
    lists = (known.get("isas", ()), takers.get(declaration.name, ()), known.get("generated", ()))
    cells += [types, *(", ".join(found) or "-" for found in lists)]
    return f"| {' | '.join(cells)} |"


_INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))


def _types(known: Mapping[str, Sequence[str]]) -> str:
    """The element types that kernels take, and those in which it computes between casts."""
    taken, cast = (_in_words(known.get(key, ())) for key in ("types", "casts"))
    return f"{taken}; casts: {cast}" if taken and cast else taken or (cast and f"casts: {cast}")


def _in_words(types: Sequence[str]) -> str:
    if not set(_INTEGERS) <= set(types):
        return ", ".join(types)
    return ", ".join([*(name for name in types if name not in _INTEGERS), "integers"])


def _status(declaration: OperatorDeclaration, rules: frozenset[str], facts: Facts) -> str:
    """Whether the operator runs, in two words."""
    if facts.get(declaration.name, {}).get("isas"):
        return "has kernels"
    if declaration.name in _EXECUTOR:
        return "the executor's"
    if declaration.name in _IN_TRAINING:
        return "rewritten in training"
    return "shape rule only" if declaration.name in rules else "declared only"


def _entry(declaration: OperatorDeclaration, rules: frozenset[str], facts: Facts) -> str:
    lines = [f"### {declaration.name}", "", declaration.doc, ""]
    wire = f"Custom, type `{declaration.custom_type}`" if declaration.is_custom else "union member"
    training = "; training" if declaration.training else ""
    rule = "yes" if declaration.name in rules else "no"
    lines.append(f"- number {declaration.wire_id} ({wire}){training}; layout: {declaration.layout}; shape rule: {rule}")
    inputs, outputs = (", ".join(map(_operand, found)) or "none" for found in (declaration.inputs, declaration.outputs))
    lines.append(f"- inputs: {inputs}; outputs: {outputs}")
    sources = _sources(declaration, facts)
    lines += [f"- {title}: {', '.join(sources[key])}" for key, title in _FRONT_ENDS.items() if key in sources]
    if declaration.attributes:
        lines.append(f"- attributes: {', '.join(map(_attribute, declaration.attributes))}")
    return "\n".join(lines)


def _attribute(attribute: Attribute) -> str:
    """`name` slot type = default."""
    default = "" if attribute.default is None else f" = {_default(attribute)}"
    return f"`{attribute.wire_name}` {attribute.slot} {attribute.wire}{default}"


_LEGEND = """\
The table of a family shows, per operator: how many operators of each front end become it, alone or together with others
(their names stand below); the element types that kernels take for its float values, or for its first operand, in some of the
test cases (`integers`: signed and unsigned, of 8 to 64 bits), and those in which it computes in float32, int32 or int64 between
casts that the converter writes: float64 then has the precision of float32, and int64 in float32 is exact up to 2^24. Graphs in
float16 become float32, with float16 inputs and outputs. A type that does not stand there is refused by name; so are bfloat16,
float8 and types of less than 8 bits, and of ONNX's dense operators (`python -m tests.element_types`) ImageDecoder
and TfIdfVectorizer. Stored integers (quantized models) are not listed. What is declared only
and is no gradient (AllGather, ReduceScatter) belongs to training on other hardware; what is rewritten in training becomes variables or other
operators when a training file is read (LSTMGradData and LSTMGradWeight together LSTMGrad). Custom stands
for the operators with names of their own, GenOP for any operator in an obfuscated file. Then the instruction sets that its kernels
are compiled for; engines that take it in float32, in some of its forms (OpenCL, NNAPI and NNRT: in the tests, by the lists in `tests/delegate`;
OpenVINO and Core ML: by their tables in `delegate`; what each was run on is told in [gpu.md](gpu.md), [npu.md](npu.md) and
[openvino.md](openvino.md)); targets that C code is generated for (`*`: with kernels
of their own beside the portable ones; `-`: what it computes, or its shapes, are known at run time only; NonMaxSuppression
becomes PaddedNonMaxSuppression there if `--padToMaxOutputSize` asks for it). A file that holds an operator which is declared only
loads and prints; the operator is refused by name when it would have to run."""


def emit(facts: Facts | None = None) -> str:
    """The text of `operators.md`: families in alphabetical order, operators by number."""
    facts = facts or {}
    rules, kernels, takers = shape_rules(), family_kernels(), engines()
    declarations = [cls.declaration for _, cls in sorted(OPERATORS_BY_ID.items())]
    own = sum(declaration.is_custom for declaration in declarations)
    ruled = sum(declaration.name in rules for declaration in declarations)
    run = sum(bool(facts.get(declaration.name, {}).get("isas")) for declaration in declarations)
    parts = [
        "# Operators",
        "Written by `make operators` from `converter/mindir/ops`, the lists in `kernels/` and what the build knows; do not edit.",
        f"{len(declarations)} operators: {len(declarations) - own} of MindSpore Lite's schema, {own} of our own, which a "
        f"file holds as Custom nodes. {ruled} have a shape rule"
        + (f", {run} a kernel" if facts else "")
        + ". `[x]` may be left out, `x...` may be repeated. Attributes are shown as: name, slot, type = default; without a "
        "default they may be absent.",
        _LEGEND,
        *_index(declarations, facts),
    ]
    for family in sorted({declaration.family for declaration in declarations}):
        members = [declaration for declaration in declarations if declaration.family == family]
        parts.append(f"## {family}")
        names = ", ".join(f"`{name}`" for name in kernels.get(family, []))
        parts.append(f"Kernels (`*` = compiled per instruction set): {names or 'none yet'}.")
        head = ["| operator | front ends | types | ISAs | engines | generated C |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([*head, *(_row(declaration, rules, facts, takers) for declaration in members)]))
        parts += [_entry(declaration, rules, facts) for declaration in members]
    return "\n\n".join(parts) + "\n"
