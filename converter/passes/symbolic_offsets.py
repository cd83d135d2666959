"""Represents elements of integer tensors as an unknown element plus a constant, to find sizes that differ by a
constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Node, Value, data_type_of
from mslite.converter.mindir.ops.arithmetic import AddFusion, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.passes import native_rules

_MOVEMENTS = (
    "Concat", "ExpandDims", "Gather", "Reshape", "SliceFusion", "Squeeze", "Stack", "StridedSlice", "Unsqueeze"
)  # fmt: skip
_JOINS = ("Concat", "Stack")
_DEEPEST = 40
_LARGEST = 64
_INTEGERS = "iu"


@dataclass(frozen=True)
class Offset:
    """The sum `of` + `number`; `of` is a value and the position of an element in it, or None for 0."""

    of: tuple[Value, int] | None
    number: int


def offsets(value: Value, depth: int = _DEEPEST) -> list[Offset] | None:
    """Returns the elements of `value` in order; None if it is not a small integer tensor of known shape."""
    if value.data is not None:
        small = value.data.dtype.kind in _INTEGERS and value.data.size <= _LARGEST
        return [Offset(None, int(number)) for number in value.data.ravel()] if small else None
    if value.shape is None or any(size < 0 for size in value.shape) or np.prod(value.shape) > _LARGEST:
        return None
    node = value.producer
    found = None
    if node is not None and depth > 0 and len(node.outputs) == 1:
        if node.op.name in _MOVEMENTS:
            found = _moved(node, depth - 1)
        elif isinstance(node.op, AddFusion | SubFusion):
            found = _sum(node, depth - 1)
    return [Offset((value, place), 0) for place in range(int(np.prod(value.shape)))] if found is None else found


def differences(left: Sequence[Offset], right: Sequence[Offset]) -> list[int] | None:
    """Returns left - right, element by element; None if a difference is not constant."""
    if len(left) != len(right) or any(a.of != b.of for a, b in zip(left, right, strict=True)):
        return None
    return [a.number - b.number for a, b in zip(left, right, strict=True)]


def _moved(node: Node, depth: int) -> list[Offset] | None:
    """Returns the elements after a node that moves elements. Runs the node on the positions to find where each comes
    from."""
    elements: list[Offset] = []
    facts = []
    for index, operand in enumerate(node.inputs):
        data = operand.data
        if index == 0 or node.op.name in _JOINS:
            part = offsets(operand, depth)
            if part is None or operand.shape is None:
                return None
            data = np.arange(len(elements), len(elements) + len(part), dtype=np.int32).reshape(operand.shape)
            elements += part
        elif data is None:
            return None
        facts.append(native_rules.NativeTensorFacts(data_type_of(data.dtype), operand.shape, None, data))
    try:
        (places,) = native_rules.evaluate(node.op, facts, 1)
    except native_rules.NativeRuleError:
        return None
    return [elements[place] for place in places.ravel().tolist()]


def _sum(node: Node, depth: int) -> list[Offset] | None:
    """Returns the elements of a sum or difference with a constant."""
    left, right = (offsets(operand, depth) for operand in node.inputs)
    if not left or not right or getattr(node.op, "activation_type", None) is not ActivationType.NO_ACTIVATION:
        return None
    size = int(np.prod(node.output.shape or ()))
    if {len(left), len(right)} - {1, size}:
        return None
    pairs = list(zip(left * (size // len(left)), right * (size // len(right)), strict=True))
    if isinstance(node.op, SubFusion):
        return [Offset(a.of, a.number - b.number) for a, b in pairs] if all(b.of is None for _, b in pairs) else None
    if any(a.of is not None and b.of is not None for a, b in pairs):
        return None
    return [Offset(a.of or b.of, a.number + b.number) for a, b in pairs]
