"""Generates `docs/operators.md`, the reference of all operators.

`mslite.converter.operator_facts` finds the front ends, element types, instruction sets and targets of generated C in
the finished build. Without these facts, the columns are filled from the declarations and the lists in `kernels/`.
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
"""Front ends with an index of their operators: the most common formats."""

_TESTED = {"OpenCL": "opencl", "NNAPI": "nnapi", "NNRT": "nnrt"}
"""Backend -> its file in `tests/delegate`, which lists the operators that it supported in the tests."""
_TABLES = {"OpenVINO": "openvino", "Core ML": "coreml"}
"""Backend -> its folder in `delegate`, with tables of the supported operators."""

_EXECUTOR = frozenset(("AssignVariable", "Call", "PartialFusion", "ReadVariable", "Switch", "SwitchLayer"))
"""Operators that the executor runs, without a kernel."""
_IN_TRAINING = frozenset(("Assign", "AssignAdd", "FlattenGrad", "LSTMGradData", "LSTMGradWeight"))
"""Operators that are replaced by others when a training file is read."""

Facts = Mapping[str, Mapping[str, Any]]
"""Operator -> `front_ends` (name -> source operators), `types`, `isas`, `generated`."""


def shape_rules() -> frozenset[str]:
    """Returns the operators with a shape rule, from the lists in `kernels/shape/`."""
    lists = (_KERNELS / "shape").glob("*.inc")
    return frozenset(name for path in lists for name in re.findall(r"^RULE\((\w+),", path.read_text(), re.MULTILINE))


def family_kernels() -> dict[str, list[str]]:
    """Returns family -> the kernels in its `kernels.inc`; those that are compiled per instruction set end in `*`."""
    families = {}
    for path in sorted(_KERNELS.glob("*/kernels.inc")):
        entries = re.findall(r"^KERNEL(_VECTOR)?\((\w+)\)", path.read_text(), re.MULTILINE)
        families[path.parent.name] = [name + ("*" if vector else "") for vector, name in entries]
    return families


def engines() -> dict[str, list[str]]:
    """Returns operator -> backends that support it."""
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
    """Returns, for each front end of `_INDEXED`, a table from source operators to operators."""
    parts = [
        "## Operators of other formats",
        "A source operator is converted to one of these operators, or to several of them.",
    ]
    for key in _INDEXED:
        becomes: dict[str, list[str]] = {}
        for declaration in declarations:
            for foreign in _sources(declaration, facts).get(key, ()):
                becomes.setdefault(foreign, []).append(declaration.name)
        lines = [f"| {_FRONT_ENDS[key]} | operators |", "|---|---|"]
        lines += [
            f"| {foreign} | {', '.join(f'[{name}](#{name.lower()})' for name in sorted(names))} |"
            for foreign, names in sorted(becomes.items(), key=lambda item: item[0].lower())
        ]
        parts += [f"### Operators of {_FRONT_ENDS[key]}", "\n".join(lines)]
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
    """Returns front end -> source operators that are converted to this operator, possibly with others."""
    if declaration.name in facts:
        return dict(facts[declaration.name]["front_ends"])
    found = {key: list(getattr(declaration, key, ())) for key in _FRONT_ENDS}
    return {key: names for key, names in found.items() if names}


def _row(
    declaration: OperatorDeclaration, rules: frozenset[str], facts: Facts, takers: Mapping[str, Sequence[str]]
) -> str:
    """Returns a line of a family's table."""
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
    """Returns the supported element types, and those that need casts."""
    taken, cast = (_in_words(known.get(key, ())) for key in ("types", "casts"))
    return f"{taken}; casts: {cast}" if taken and cast else taken or (cast and f"casts: {cast}")


def _in_words(types: Sequence[str]) -> str:
    if not set(_INTEGERS) <= set(types):
        return ", ".join(types)
    return ", ".join([*(name for name in types if name not in _INTEGERS), "integers"])


def _status(declaration: OperatorDeclaration, rules: frozenset[str], facts: Facts) -> str:
    """Returns how the operator is run, in a few words."""
    if facts.get(declaration.name, {}).get("isas"):
        return "has kernels"
    if declaration.name in _EXECUTOR:
        return "executor"
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
    """Returns "`name` slot type = default"."""
    default = "" if attribute.default is None else f" = {_default(attribute)}"
    return f"`{attribute.wire_name}` {attribute.slot} {attribute.wire}{default}"


_LEGEND = """\
The table of a family has one line per operator:

- *front ends*: the number of source operators of each format that are converted to it, possibly with others. The entry
  of the operator lists them.
- *types*: the element types of its float inputs, or of its first input, that kernels support in some of the test
  cases. `integers`: signed and unsigned integers of 8 to 64 bits. *casts*: types for which the converter inserts casts
  to float32, int32 or int64; float64 then has the precision of float32, and int64 in float32 is exact up to 2^24.
  float16 graphs are converted to float32, with float16 inputs and outputs. Other types are unsupported, such as
  bfloat16, float8 and types of less than 8 bits. Types of quantized tensors are not listed. Of ONNX's dense operators
  (`python -m tests.element_types`), ImageDecoder and TfIdfVectorizer are unsupported.
- *ISAs*: the instruction sets that its kernels are compiled for.
- *engines*: backends that support some forms of it in float32. OpenCL, NNAPI and NNRT: in the tests, from the lists in
  `tests/delegate`; OpenVINO and Core ML: from the tables in `delegate`. [gpu.md](gpu.md), [npu.md](npu.md) and
  [openvino.md](openvino.md) describe the devices that were tested.
- *generated C*: targets of generated C. `*`: with kernels for the target besides the portable ones; `-`: its result or
  its shapes are known at run time only. With `--padToMaxOutputSize`, NonMaxSuppression is replaced by
  PaddedNonMaxSuppression there.

*Declared only*: a file with the operator can be loaded and printed, but not run. Such operators that are not gradients
(AllGather, ReduceScatter) are for training on other hardware. *Rewritten in training*: replaced by variables or other
operators when a training file is read (LSTMGradData and LSTMGradWeight by LSTMGrad). Custom is the operator of
plug-ins, and GenOP any operator in an obfuscated file."""


def emit(facts: Facts | None = None) -> str:
    """Returns the text of `operators.md`: families in alphabetical order, operators by number."""
    facts = facts or {}
    rules, kernels, takers = shape_rules(), family_kernels(), engines()
    declarations = [cls.declaration for _, cls in sorted(OPERATORS_BY_ID.items())]
    own = sum(declaration.is_custom for declaration in declarations)
    ruled = sum(declaration.name in rules for declaration in declarations)
    run = sum(bool(facts.get(declaration.name, {}).get("isas")) for declaration in declarations)
    parts = [
        "# Operators",
        "Written by `make operators` from `converter/mindir/ops`, the lists in `kernels/` and the built library; "
        "do not edit.",
        f"{len(declarations)} operators: {len(declarations) - own} of MindSpore Lite's schema, {own} of mslite, "
        f"which are stored as Custom nodes. {ruled} have a shape rule"
        + (f", {run} a kernel" if facts else "")
        + ". `[x]` is optional, `x...` may be repeated. Attributes are shown as: name, slot, type = default; "
        "attributes without a default are optional.",
        _LEGEND,
        *_index(declarations, facts),
    ]
    for family in sorted({declaration.family for declaration in declarations}):
        members = [declaration for declaration in declarations if declaration.family == family]
        parts.append(f"## {family}")
        names = ", ".join(f"`{name}`" for name in kernels.get(family, []))
        parts.append(f"Kernels (`*` = compiled per instruction set): {names or 'none'}.")
        head = ["| operator | front ends | types | ISAs | engines | generated C |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([*head, *(_row(declaration, rules, facts, takers) for declaration in members)]))
        parts += [_entry(declaration, rules, facts) for declaration in members]
    return "\n\n".join(parts) + "\n"
