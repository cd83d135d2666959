"""Checks if a version has a kernel for a node, with the table of data types and each version's selection rules."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import cast

import yaml

from mslite.converter.mindir.ops.enums import DataType, QuantType

from .view import NodeView

_TABLE = Path(__file__).parent / "kernel_types.yaml"
_SINCE_2 = ("2.0", "2.7")
_ALSO_IN_2 = (DataType.UINT8, DataType.STRING)


@cache
def kernel_types() -> dict[str, dict[str, list[str]]]:
    """Operator, version, data types."""
    return cast(dict[str, dict[str, list[str]]], yaml.safe_load(_TABLE.read_text()))


def chosen_type(node: NodeView, version: str) -> DataType:
    """Returns the data type by which the version selects the kernel."""
    if node.node.quantType is QuantType.QUANT_WEIGHT:
        is_bool = version in _SINCE_2 and bool(node.inputs) and node.inputs[0].dtype is DataType.BOOL
        return DataType.BOOL if is_bool else DataType.FLOAT32
    if version in _SINCE_2:
        for operand in node.inputs:
            if operand.dtype in _ALSO_IN_2:
                return operand.dtype
            if operand.dtype is node.deciding:
                break
    return node.deciding


def missing_kernel(node: NodeView, version: str) -> str | None:
    """Returns why the version has no kernel for the node; None if it has one, or if the file does not determine the data type."""
    types = kernel_types().get(node.operator, {}).get(version)
    if types is None:
        return "there is no kernel"
    chosen = chosen_type(node, version)
    wanted = DataType.FLOAT32 if chosen is DataType.FLOAT16 else chosen
    return None if chosen is DataType.UNKNOWN or wanted.name in types else f"there is no kernel for {wanted.name}"
