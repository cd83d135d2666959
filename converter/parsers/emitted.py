"""Types of what a plug-in's parser emits, as far as the types of its operands are known to the front end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mslite.converter.errors import Blocked, Blocker
from mslite.converter.mindir.graph import Node, Shape, Value
from mslite.converter.mindir.ops.enums import DataType

PartialShape = tuple[int | None, ...] | None
Known = tuple[DataType, PartialShape]


class Inference(Protocol):
    """Types and shapes by the shape rules, node by node."""

    def infer(self, node: Node) -> Blocker | None:
        """Fills type and shape of the node's outputs, or says why that cannot be."""

    def new_symbol(self) -> int:
        """A dimension of unknown size that equals no other."""


def emitted_types(node: Node, known: Callable[[Value], Known], inference: Inference | None) -> list[Known] | None:
    """Type and shape of each output; None where those of the operands do not tell.

    The values themselves stay as they are: the pipeline types them. Raises Blocked for a call that cannot be.
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
