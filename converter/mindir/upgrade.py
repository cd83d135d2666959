"""Upgrades old `.ms` files. No other module of the converter depends on version numbers of files."""

from __future__ import annotations

import dataclasses
import re

from .flatbuffer import FlatBufferError
from .ops import Operator
from .ops.enums import ActivationType
from .ops.tables import MetaGraph
from .upgrade_norms import find_channels_last
from .upgrade_operators import copy_list_inputs, read_nearest, read_resize_operands, read_scalar_bias, read_top_k

WIRE_VERSION = "MindSpore Lite 2.7.0"
"""The version in the files that mslite writes: the release of the format that they are compatible with."""

_REMOVED = {32: "ControlDepend", 94: "Merge", 167: "While", 171: "If", 201: "Attention"}
"""Operator numbers with another meaning up to version 1.3."""


def version_of(text: str | None) -> tuple[int, int] | None:
    """Returns (major, minor) of a version string, or None."""
    match = re.match(r"MindSpore Lite (\d{1,4})\.(\d{1,4})", text or "")
    return (int(match[1]), int(match[2])) if match else None


def is_old(version: str | None) -> bool:
    """Returns whether a file is from version 1.3 or older, which has other numbers and defaults."""
    numbers = version_of(version)
    return numbers is not None and numbers < (1, 4)


def refuse_removed_operator(number: int, version: str) -> None:
    """Raises FlatBufferError for an operator of an old file if its number now has another meaning."""
    if number in _REMOVED and is_old(version):
        raise FlatBufferError(f"operator {_REMOVED[number]} of {version} no longer exists")


def upgrade(meta: MetaGraph) -> None:
    """Upgrades the tables of an old file in place: placeholder quantization parameters, activation 20, InstanceNorm
    with channels last,
    TopKFusion, sizes and rounding of Resize, a scalar bias, and lists that are inputs of Split and Squeeze."""
    version = version_of(meta.version) or (2, 0)
    if version < (1, 6):
        read_top_k(meta)
    copy_list_inputs(meta)
    read_nearest(meta)
    read_scalar_bias(meta)
    if not is_old(meta.version):
        find_channels_last(meta, rows_change_layout=version >= (2, 0))
        return
    read_resize_operands(meta)
    for tensor in meta.allTensors or ():
        if tensor.quantParams and not any(record.inited for record in tensor.quantParams):
            tensor.quantParams = None
    for node in meta.nodes or ():
        if node.primitive is not None:
            node.primitive = _current_activation(node.primitive)


def _current_activation(op: Operator) -> Operator:
    """Replaces the old number of UNKNOWN, which is now that of FAST_GELU."""
    if getattr(op, "activation_type", None) != ActivationType.FAST_GELU:
        return op
    changes: dict[str, object] = {"activation_type": ActivationType.UNKNOWN}
    return dataclasses.replace(op, **changes)  # type: ignore[type-var]
