"""Element types that only constants may have. They are decoded when they are read, for a fixed set of operators.

Other operators are excluded: computing with decoded values would not round as the original type does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from onnx import NodeProto

from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.short_types import (
    Decoder,
    from_bfloat16,
    from_float4_e2m1,
    from_float6_e2m3,
    from_float6_e3m2,
    from_float8_e4m3fn,
    from_float8_e4m3fnuz,
    from_float8_e5m2,
    from_float8_e5m2fnuz,
    from_float8_e8m0,
    unpacked,
    unpacked_sixes,
)


@dataclass(frozen=True)
class ConstantOnlyType:
    """How elements are stored. Integers are decoded to int8 or uint8, floats (with `decode`) to float32."""

    name: str
    bits: int
    stored: npt.DTypeLike = np.uint8
    decode: Decoder | None = None

    def elements(self, data: Array, count: int, has_whole_codes: bool = False) -> Array:
        """Returns `count` decoded elements, flat. `has_whole_codes`: each 6-bit code has its own byte."""
        codes = data.view(self.stored)
        if self.bits in (2, 4):
            codes = unpacked(codes, self.bits, count)
        elif self.bits == 6 and not has_whole_codes:
            codes = unpacked_sixes(np.asarray(data, np.uint8), count)
        return codes if self.decode is None else self.decode(codes)


BFLOAT16, FLOAT8E8M0 = 16, 24

# By number: older releases of the onnx package do not have names for all of them.
CONSTANT_ONLY_TYPES = {
    BFLOAT16: ConstantOnlyType("BFLOAT16", 16, np.dtype("<u2"), from_bfloat16),
    17: ConstantOnlyType("FLOAT8E4M3FN", 8, decode=from_float8_e4m3fn),
    18: ConstantOnlyType("FLOAT8E4M3FNUZ", 8, decode=from_float8_e4m3fnuz),
    19: ConstantOnlyType("FLOAT8E5M2", 8, decode=from_float8_e5m2),
    20: ConstantOnlyType("FLOAT8E5M2FNUZ", 8, decode=from_float8_e5m2fnuz),
    21: ConstantOnlyType("UINT4", 4),
    22: ConstantOnlyType("INT4", 4, np.int8),
    23: ConstantOnlyType("FLOAT4E2M1", 4, decode=from_float4_e2m1),
    FLOAT8E8M0: ConstantOnlyType("FLOAT8E8M0", 8, decode=from_float8_e8m0),
    25: ConstantOnlyType("UINT2", 2),
    26: ConstantOnlyType("INT2", 2, np.int8),
    27: ConstantOnlyType("FLOAT6E2M3", 6, decode=from_float6_e2m3),
    28: ConstantOnlyType("FLOAT6E3M2", 6, decode=from_float6_e3m2),
}

MOVING = frozenset(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape",
     "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)  # fmt: skip
"""Operators that only move elements: their outputs have the type of the input."""

_READING = frozenset({"Cast", "DequantizeLinear", "QuantizeLinear", "Shape", "Size"})


def may_read(node: NodeProto, index: int) -> bool:
    """Returns whether a standard operator computes correctly if its input `index` is a decoded constant."""
    return node.op_type in MOVING or node.op_type in _READING or (node.op_type == "CastLike" and index == 0)


def creates_constant_only(node: NodeProto) -> bool:
    """Returns whether the node is a constant of such a type (a tensor attribute)."""
    return any(attribute.t.data_type in CONSTANT_ONLY_TYPES for attribute in node.attribute if attribute.HasField("t"))
