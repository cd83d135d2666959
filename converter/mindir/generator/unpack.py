"""Emits `op_unpack.inc`: the C++ functions that turn a verified FlatBuffers table into its plain C struct.

The including file provides, in namespace `mslite::unpack`, the helpers `Long`, `Longs`, `Ints`, `Floats`, `Lists`, `Text` and
`NamedBytes` (FlatBuffers vector -> C list) and, for our Custom operators, `CustomAttribute` readers.
"""

from __future__ import annotations

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Attribute, OperatorDeclaration

_CHECKED = {"long": "Long", "[long]": "Longs", "Vec2D": "Lists"}
"""Read with a check that they fit 32 bits: what shape rules and kernels multiply by each other must not overflow."""

_ANY_NUMBER = frozenset({"seed", "seed2"})
"""64-bit attributes that are no sizes."""

_HELPERS = {
    "[int]": "Ints",
    "[float]": "Floats",
    "string": "Text",
    "[Attribute]": "NamedBytes",
}
_CUSTOM_HELPERS = {
    "bool": "CustomBool",
    "int": "CustomInt",
    "long": "CustomLong",
    "float": "CustomFloat",
    "string": "CustomText",
    "[long]": "CustomLongs",
    "[int]": "CustomInts",
    "[float]": "CustomFloats",
}


def _c_default(attribute: Attribute) -> str:
    if isinstance(attribute.default, bool):
        return str(attribute.default).lower()
    if isinstance(attribute.default, float):
        return f"{attribute.default!r}f"
    return str(int(attribute.default))


def _assign(attribute: Attribute) -> str:
    source = f"table.{attribute.wire_name}()"
    if attribute.wire in _CHECKED and attribute.name not in _ANY_NUMBER:
        return f'{_CHECKED[attribute.wire]}({source}, "{attribute.wire_name}", arena)'
    helper = _HELPERS.get(attribute.wire)
    if helper:
        return f"{helper}({source}, arena)"
    return f"static_cast<int32_t>({source})" if attribute.enum else source


def _assign_custom(attribute: Attribute) -> str:
    name = f'"{attribute.wire_name}"'
    if attribute.enum:
        return f"CustomInt(table, {name}, {_c_default(attribute)})"
    helper = _CUSTOM_HELPERS[attribute.wire]
    if attribute.wire == "long":
        return f"{helper}(table, {name}, {_c_default(attribute)}, arena)"
    if attribute.is_vector or attribute.wire == "string":
        return f"{helper}(table, {name}, arena)"
    return f"{helper}(table, {name}, {_c_default(attribute)})"


def _function(declaration: OperatorDeclaration) -> str:
    table = "Custom" if declaration.is_custom else declaration.name
    name = declaration.name
    assign = _assign_custom if declaration.is_custom else _assign
    lines = [f"    params->{a.wire_name} = {assign(a)};" for a in declaration.attributes]
    if not lines:
        return f"inline void Unpack{name}(const schema::{table} &, Arena &, mslite_{name} *) {{}}\n"
    needs_arena = any("arena" in line for line in lines)
    arena = "Arena &arena" if needs_arena else "Arena & /*arena*/"
    return (
        f"inline void Unpack{name}(const schema::{table} &table, {arena}, mslite_{name} *params) {{\n"
        + "\n".join(lines)
        + "\n}\n"
    )


def emit() -> str:
    """The text of `op_unpack.inc`."""
    parts = ["// Generated from converter/mindir/ops by converter.mindir.generator; do not edit.\n"]
    entries = []
    for _, cls in sorted(OPERATORS_BY_ID.items()):
        declaration = cls.declaration
        parts.append(_function(declaration))
        name = declaration.name
        table = "Custom" if declaration.is_custom else name
        parts.append(
            f"const void *Make{name}(const schema::Primitive &primitive, Arena &arena) {{\n"
            f"  auto *params = arena.Make<mslite_{name}>();\n"
            f"  Unpack{name}(*primitive.value_as_{table}(), arena, params);\n"
            "  return params;\n}\n"
        )
        custom_type = f'"{declaration.custom_type}"' if declaration.is_custom else "nullptr"
        entries.append(f"    {{{declaration.wire_id}, Make{name}, {custom_type}}},")
    parts.append(
        "// Outside of any file's own names: mslite-crop takes functions out of the compiled table.\n"
        "}  // namespace\n"
        'extern "C" {\n'
        "extern const Unpacker mslite_unpackers[];\n"
        "const Unpacker mslite_unpackers[] = {\n" + "\n".join(entries) + "\n};\n"
        "}\n"
        "namespace {\n"
    )
    return "\n".join(parts)
