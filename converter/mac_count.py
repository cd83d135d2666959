"""Counts the multiply-accumulates of nodes, for summaries, reports and searches of the quantizer."""

from __future__ import annotations

from collections.abc import Sequence

from mslite import _native
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.serialization import primitive_bytes


def has_macs(node: Node) -> bool:
    """Returns whether the operator consists of multiply-accumulates: convolutions, matmuls, recurrent layers, their
    gradients."""
    return _native.has_macs(node.op.declaration.wire_id)


def macs(node: Node) -> int:
    """Returns the multiply-accumulates of one run, as the runtime counts them; 0 for other operators and for unknown
    shapes.

    Unknown dimensions count as 1.
    """
    if not has_macs(node) or not node.inputs or not node.outputs:
        return 0
    if node.inputs[0].shape is None or node.outputs[0].shape is None:
        return 0
    try:
        return _native.macs(primitive_bytes(node.op), _sizes(node.inputs), _sizes(node.outputs))
    except (TypeError, ValueError):  # an invalid node, which the converter reports
        return 0


def _sizes(values: Sequence[Value]) -> list[_native.TensorInfo]:
    return [_native.TensorInfo(int(value.dtype), [max(size, 1) for size in value.shape or ()]) for value in values]
