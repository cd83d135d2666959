"""Generates `op_layouts.inc`: a constant with the fields of each FlatBuffers table, and the table of each operator
(`lite_runtime/model/layout.h`).

The including file must define `Layout`, `Field`, `Wire` and `OperatorLayout`, and include `op_params.h`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Attribute, OperatorDeclaration
from ..ops.tables import TABLES
from .schema import INNER_TABLES

_ANY_NUMBER = frozenset({"seed", "seed2"})
"""64-bit attributes with any value. Others must fit into 32 bits, so that products in shape rules and kernels do not
overflow."""

_WIRES = {
    "bool": "kBool", "int": "kInt", "uint": "kInt", "long": "kLong", "float": "kFloat", "double": "kDouble",
    "string": "kText", "[ubyte]": "kBytes", "[int]": "kInts", "[uint]": "kInts", "[float]": "kFloats", "[long]": "kLongs",
    "Vec2D": "kLists", "[Attribute]": "kNamedBytes", "Primitive": "kPrimitive",
}  # fmt: skip
_NAMED = frozenset({"kLong", "kLongs", "kLists"})
"""Field types with a range check, whose message contains the name of the attribute."""

_OTHER_TABLES = {**INNER_TABLES, **TABLES}
_NUMBERS = {name: number for number, name in enumerate(_OTHER_TABLES)}


def _inner_table(wire: str) -> str | None:
    name = wire.strip("[]")
    return name if name in _NUMBERS else None


def _wire(attribute: Attribute, is_custom: bool) -> str:
    if attribute.enum:
        return "kInt" if is_custom or attribute.enum.wire_type() == "int" else "kByte"
    if attribute.wire == "long" and attribute.name in _ANY_NUMBER and not is_custom:
        return "kAnyLong"
    if attribute.wire in _WIRES:
        return _WIRES[attribute.wire]
    return "kTables" if attribute.wire.startswith("[") else "kTable"


def _number(attribute: Attribute) -> str:
    table = _inner_table(attribute.wire)
    if table is not None:
        return f"k{table}Table"
    if isinstance(attribute.default, float) and attribute.wire == "float":
        bits: int = struct.unpack("<i", struct.pack("<f", attribute.default))[0]
        return f"{bits} /* {attribute.default!r} */" if bits else "0"
    if attribute.default is None or attribute.wire == "double":  # not read through the layout
        return "0"
    number = int(attribute.default)
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{attribute.name}: the default {number} has more than 32 bits")
    return str(number)


def _layout(name: str, attributes: Sequence[Attribute], struct_name: str | None, is_custom: bool = False) -> str:
    """Returns the constant of a table; with a C struct, it contains the offsets of the fields."""
    size = f"sizeof({struct_name})" if struct_name is not None else "0"
    if not attributes:
        return f"constexpr Layout k{name} = {{{size}, 0}};\n"
    fields, names = [], []
    for attribute in attributes:
        wire = _wire(attribute, is_custom)
        place = f"offsetof({struct_name}, {attribute.wire_name})" if struct_name is not None else "0"
        fields.append(f"    {{{attribute.slot}, Wire::{wire}, {place}, {_number(attribute)}}},")
        names.append(attribute.wire_name if is_custom or (struct_name and wire in _NAMED) else "")
    while names and not names[-1]:
        names.pop()
    text = "".join(f"{one}\\0" for one in names)
    has_names = f" char names[{sum(len(one) + 1 for one in names) + 1}];" if names else ""
    return (
        f"constexpr struct {{ Layout layout; Field fields[{len(fields)}];{has_names} }} k{name} = {{\n"
        f"  {{{size}, {len(fields)}}}, {{\n" + "\n".join(fields) + "\n  }" + (f', "{text}"' if names else "") + "};\n"
    )


def _address(name: str, attributes: Sequence[Attribute]) -> str:
    return f"&k{name}.layout" if attributes else f"&k{name}"


def _operators() -> Iterable[tuple[int, OperatorDeclaration]]:
    return ((number, cls.declaration) for number, cls in sorted(OPERATORS_BY_ID.items()))


def emit() -> str:
    """Returns the text of `op_layouts.inc`."""
    parts = ["// Generated from converter/mindir/ops by converter.mindir.generator; do not edit.\n"]
    tables = ", ".join(f"k{name}Table" for name in _NUMBERS)
    parts.append(f"enum : int32_t {{ {tables} }};\n")
    parts += [_layout(f"{name}Layout", fields, None) for name, fields in _OTHER_TABLES.items()]
    addresses = ",\n".join(f"    {_address(f'{name}Layout', fields)}" for name, fields in _OTHER_TABLES.items())
    parts.append(f"constexpr const Layout *kTables[] = {{\n{addresses},\n}};\n")
    entries = []
    for number, declaration in _operators():
        name = f"{declaration.name}Operator"
        parts.append(_layout(name, declaration.attributes, f"mslite_{declaration.name}", declaration.is_custom))
        custom_type = f'"{declaration.custom_type}"' if declaration.is_custom else "nullptr"
        entries.append(f"    {{{number}, {_address(name, declaration.attributes)}, {custom_type}}},")
    parts.append("#define OPERATOR_LAYOUTS \\\n" + " \\\n".join(entries) + "\n")
    return "\n".join(parts)
