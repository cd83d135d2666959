"""Types of the nodes that a plug-in's parser emits, inferred from the known types of their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mslite.converter.errors import Blocked, Blocker
from mslite.converter.mindir.graph import Node, Shape, Value
from mslite.converter.mindir.ops.enums import DataType

PartialShape = tuple[int | None, ...] | None
StrictAttributes = tuple[DataType, PartialShape]


class Inference(Protocol):
    """Infers types and shapes of single nodes."""

    def infer(self, node: Node) -> Blocker | None:
        """Sets type and shape of the node's outputs, or returns why they are invalid."""

    def new_symbol(self) -> int:
        """Returns a new unknown dimension."""


def emitted_types(
    node: Node, known: Callable[[Value], StrictAttributes], inference: Inference | None
) -> list[StrictAttributes] | None:
    """Returns type and shape of each output; None if types or shapes of the inputs are unknown.

    Does not change the values; passes infer their types later. Raises Blocked for an invalid node.
    """
    before = [known(value) for value in node.inputs]
    if inference is None or any(dtype is DataType.UNKNOWN or shape is None for dtype, shape in before):
        return None
    values = list(dict.fromkeys((*node.inputs, *node.outputs)))
    kept: list[tuple[Value, DataType, Shape | None]] = [(value, value.dtype, value.shape) for value in values]
    try:
        for value, (dtype, shape) in zip(node.inputs, before, strict=True):
            value.dtype = dtype
            if value.shape is None:
                value.shape = tuple(inference.new_symbol() if size is None else size for size in shape or ())
        blocker = inference.infer(node)
        if blocker is not None:
            raise Blocked(blocker.reason, blocker.remedy)
        return [(value.dtype, _partial(value.shape)) for value in node.outputs]
    finally:
        for value, dtype, sizes in kept:
            value.dtype, value.shape = dtype, sizes


def _partial(shape: Shape | None) -> PartialShape:
    return None if shape is None else tuple(size if size >= 0 else None for size in shape)
