"""Generates `op_params.h`: one plain C struct per operator, the enums and the operator numbers."""

from __future__ import annotations

import re

from ..ops import OPERATORS_BY_ID
from ..ops._declare import Attribute
from ..ops.enums import DataType
from .schema import wire_enums

_C_TYPES = {
    "bool": "bool",
    "int": "int32_t",
    "long": "int64_t",
    "float": "float",
    "string": "const char *",
    "[long]": "mslite_longs ",
    "[int]": "mslite_ints ",
    "[float]": "mslite_floats ",
    "Vec2D": "mslite_vec2d ",
    "[Attribute]": "mslite_named_bytes_list ",
}

_PRELUDE = """\
/* Generated from converter/mindir/ops by converter.mindir.generator; do not edit. */
#ifndef MSLITE_OP_PARAMS_H
#define MSLITE_OP_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

/* A list that is missing in the file has count 0 and at NULL. */
typedef struct { int32_t count; const int64_t *at; } mslite_longs;
typedef struct { int32_t count; const int32_t *at; } mslite_ints;
typedef struct { int32_t count; const float *at; } mslite_floats;
typedef struct { int32_t count; const mslite_longs *at; } mslite_vec2d;
typedef struct { const char *name; int32_t size; const uint8_t *data; } mslite_named_bytes;
typedef struct { int32_t count; const mslite_named_bytes *at; } mslite_named_bytes_list;
"""


def upper_snake(name: str) -> str:
    """Converts `ReduceMode` to `REDUCE_MODE`; upper-case names are not changed."""
    if name.upper() == name:
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def c_type(attribute: Attribute) -> str:
    """Returns the C type of an attribute, with the blank or star before its name."""
    text = "int32_t" if attribute.enum else _C_TYPES[attribute.wire]
    return text if text.endswith((" ", "*")) else text + " "


def emit() -> str:
    """Returns the text of `op_params.h`."""
    blocks = [_PRELUDE]
    data_types = ",\n".join(f"  MSLITE_{value.name} = {value.value}" for value in DataType)
    blocks.append(f"typedef enum {{\n{data_types}\n}} mslite_data_type;")
    for enum in wire_enums():
        prefix = f"MSLITE_{upper_snake(enum.__name__)}"
        values = ",\n".join(f"  {prefix}_{upper_snake(value.name)} = {value.value}" for value in enum)
        blocks.append(f"enum {{\n{values}\n}};")
    operators = sorted(OPERATORS_BY_ID.items())
    numbers = ",\n".join(f"  MSLITE_OP_{cls.declaration.name} = {number}" for number, cls in operators)
    blocks.append(f"typedef enum {{\n{numbers}\n}} mslite_op;")
    for _, cls in operators:
        declaration = cls.declaration
        fields = "\n".join(f"  {c_type(a)}{a.wire_name};" for a in declaration.attributes)
        body = fields or "  char unused;"
        blocks.append(
            f"/* {declaration.doc} (converter/mindir/ops/{declaration.module}.py) */\n"
            f"typedef struct {{\n{body}\n}} mslite_{declaration.name};"
        )
    blocks.append("#endif")
    return "\n\n".join(blocks) + "\n"
