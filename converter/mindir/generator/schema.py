"""Generates `ops.fbs`, the FlatBuffers schema of the `.ms` format."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from ..ops import OPERATORS_BY_ID, enums
from ..ops._declare import FIRST_CUSTOM_ID, Attribute
from ..ops.tables import TABLES

INNER_TABLES = {
    "Vec": (Attribute("data", "data", 0, "[long]", None),),
    "Vec2D": (Attribute("data", "data", 0, "[Vec]", None),),
    "Attribute": (Attribute("name", "name", 0, "string", None), Attribute("data", "data", 1, "[ubyte]", None)),
}
"""Tables that attributes of operators use."""

_HEADER = (
    "// Generated from converter/mindir/ops by converter.mindir.generator; do not edit.\nnamespace mindspore.schema;\n"
)


def wire_enums() -> list[type[enums.WireEnum]]:
    """Returns all enums of the schema, in the order of declaration."""
    return list(enums.WireEnum.__subclasses__())


def _default(attribute: Attribute) -> str:
    if attribute.is_vector or attribute.wire in ("string", "Vec2D") or attribute.default is None:
        return ""
    if isinstance(attribute.default, bool):
        return f" = {str(attribute.default).lower()}"
    if isinstance(attribute.default, IntEnum):
        return f" = {attribute.default.name}"
    if isinstance(attribute.default, float):
        return f" = {attribute.default:g}"
    return f" = {attribute.default}"


def _table(name: str, attributes: Iterable[Attribute]) -> str:
    lines = [
        f"  {attribute.wire_name}: {attribute.wire}{_default(attribute)} (id: {attribute.slot});"
        for attribute in attributes
    ]
    return "\n".join([f"table {name} {{", *lines, "}"])


def emit() -> str:
    """Returns the text of `ops.fbs`."""
    blocks = [_HEADER]
    for enum in wire_enums():
        values = ", ".join(f"{value.name} = {value.value}" for value in enum)
        blocks.append(f"enum {enum.__name__}: {enum.wire_type()} {{ {values} }}")
    blocks += [_table(name, attributes) for name, attributes in INNER_TABLES.items()]
    on_wire = {number: cls for number, cls in sorted(OPERATORS_BY_ID.items()) if number < FIRST_CUSTOM_ID}
    for cls in on_wire.values():
        blocks.append(_table(cls.declaration.name, cls.declaration.attributes))
    members = ",\n".join(f"  {cls.declaration.name} = {number}" for number, cls in on_wire.items())
    blocks.append(f"union PrimitiveType {{\n{members}\n}}")
    blocks.append("table Primitive { value: PrimitiveType (id: 1); }")
    blocks += [_table(name, attributes) for name, attributes in TABLES.items()]
    blocks.append('root_type MetaGraph;\nfile_identifier "MSL2";\nfile_extension "ms";')
    return "\n\n".join(blocks) + "\n"
