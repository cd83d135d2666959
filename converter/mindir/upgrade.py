"""Old `.ms` files, brought to the current form. Version numbers are known nowhere else in the converter."""

from __future__ import annotations

import dataclasses
import re

from .flatbuffer import FlatBufferError
from .ops import Operator
from .ops.enums import ActivationType
from .ops.tables import MetaGraph
from .upgrade_meanings import read_list_operands, read_nearest, read_resize_operands, read_scalar_bias, read_top_k
from .upgrade_norms import find_channels_last

WIRE_VERSION = "MindSpore Lite 2.7.0"
"""The version that our files carry: the release of the format that they are compatible with."""

_REMOVED = {32: "ControlDepend", 94: "Merge", 167: "While", 171: "If", 201: "Attention"}
"""Operator numbers that meant something else up to version 1.3."""


def version_of(text: str | None) -> tuple[int, int] | None:
    """(major, minor) of a version string, None when it does not say."""
    match = re.match(r"MindSpore Lite (\d{1,4})\.(\d{1,4})", text or "")
    return (int(match[1]), int(match[2])) if match else None


def is_old(version: str | None) -> bool:
    """True for files up to version 1.3: some numbers and defaults were different then."""
    numbers = version_of(version)
    return numbers is not None and numbers < (1, 4)


def refuse_removed_operator(number: int, version: str) -> None:
    """Raises FlatBufferError for an operator of an old file whose number has another meaning today."""
    if number in _REMOVED and is_old(version):
        raise FlatBufferError(f"operator {_REMOVED[number]} of {version} no longer exists")


def upgrade(meta: MetaGraph) -> None:
    """Rewrites what an old file says differently, in place: placeholder quantization records, activation 20, InstanceNorm with
    channels last, TopKFusion, sizes and rounding of Resize, a bias of one number, lists that are operands of Split and Squeeze."""
    version = version_of(meta.version) or (2, 0)
    if version < (1, 6):
        read_top_k(meta)
    read_list_operands(meta)
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
    """FAST_GELU took over the number that UNKNOWN had."""
    if getattr(op, "activation_type", None) != ActivationType.FAST_GELU:
        return op
    changes: dict[str, object] = {"activation_type": ActivationType.UNKNOWN}
    return dataclasses.replace(op, **changes)  # type: ignore[type-var]
