"""Merges two successive casts if the first is lossless."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator

_WIDER: dict[DataType, frozenset[DataType]] = {
    DataType.BOOL: frozenset(
        {
            DataType.INT8,
            DataType.UINT8,
            DataType.INT16,
            DataType.INT32,
            DataType.INT64,
            DataType.FLOAT16,
            DataType.FLOAT32,
        }
    ),
    DataType.INT8: frozenset({DataType.INT16, DataType.INT32, DataType.INT64, DataType.FLOAT16, DataType.FLOAT32}),
    DataType.UINT8: frozenset({DataType.INT16, DataType.INT32, DataType.INT64, DataType.FLOAT16, DataType.FLOAT32}),
    DataType.INT16: frozenset({DataType.INT32, DataType.INT64, DataType.FLOAT32}),
    DataType.INT32: frozenset({DataType.INT64, DataType.FLOAT64}),
    DataType.FLOAT16: frozenset({DataType.FLOAT32, DataType.FLOAT64}),
    DataType.FLOAT32: frozenset({DataType.FLOAT64}),
}
"""Type -> types that can represent all of its values."""


def _check(match: Match, context: Context) -> str | None:
    source, middle = match.value("x").dtype, match.node("first").output.dtype
    if middle not in _WIDER.get(source, ()):
        return f"the cast from {source.name} to {middle.name} is not lossless"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    replace_operator(match.root, match.root.op, [match.value("x"), *match.root.inputs[1:]])


RULE = Rule("CastFusion", (op("Cast", op("Cast", value("x"), name="first")),), _rewrite, _check, shared=True)
