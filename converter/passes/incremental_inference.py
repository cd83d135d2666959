"""Infers shapes while a front end builds the graph, for sources without shapes."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.memory_limit import try_spend
from mslite.converter.mindir.graph import Array, Node, Value, is_symbol, numpy_type
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.passes import native_rules
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_node

_LARGEST = 1 << 14
"""Most elements of a tensor that `contents` computes, and of the inputs of the computation."""

_NEVER = frozenset(
    {"RandomNormal", "RandomStandardNormal", "UniformReal", "PartialFusion", "Switch", "SwitchLayer", "Call"}
)
_MAX_DEPTH = 200


class IncrementalInference:
    """Infers data types, shapes and small integer contents of nodes, in the order in which they are added."""

    def __init__(self, layout: Format = Format.NHWC) -> None:
        self._context = Context(layout=layout)
        self._computed: dict[tuple[Value, bool], Array | None] = {}

    def use_layout(self, layout: Format) -> None:
        """Sets the layout of images in the graph."""
        self._context.layout = layout

    def new_symbol(self) -> int:
        """Returns a new symbol for a dynamic dimension."""
        return self._context.new_symbol()

    def infer(self, node: Node) -> Blocker | None:
        """Sets data type and shape of the node's outputs. Returns a blocker if the node is invalid, else None."""
        return infer_node(node, self._context)

    def contents(self, value: Value) -> Array | None:
        """Returns the elements of a small value that depends on shapes and constants only, else None."""
        return self._contents(value, _MAX_DEPTH, False)

    def constant(self, value: Value) -> Array | None:
        """Returns the elements of a value of any size that depends on constants only, such as a weight, else None."""
        return self._contents(value, _MAX_DEPTH, True)

    def sizes(self, value: Value) -> tuple[int, ...] | None:
        """Returns the elements of a small integer value, with symbols for dynamic dimensions; None if they are
        unknown."""
        known = self._context.known.get(value)
        if known is not None:
            return known
        array = self.contents(value)
        return None if array is None or array.dtype.kind not in "iu" else tuple(int(item) for item in array.ravel())

    def _contents(self, value: Value, depth: int, large: bool) -> Array | None:
        if value.data is not None:
            return value.data
        if (value, large) in self._computed:
            return self._computed[value, large]
        known = self._context.known.get(value)
        if (
            known is not None
            and value.is_static
            and value.dtype in (DataType.INT32, DataType.INT64)
            and prod(value.shape or ()) == len(known)
            and not any(is_symbol(entry) for entry in known)
        ):
            return np.array(known, numpy_type(value.dtype)).reshape(value.shape or ())
        result = self._evaluated(value, depth, large) if depth > 0 else None
        self._computed[value, large] = result
        return result

    def _evaluated(self, value: Value, depth: int, large: bool) -> Array | None:
        node = value.producer
        if node is None or node.op.name in _NEVER or not node.inputs:
            return None
        if any(not operand.is_static if large else not small(operand) for operand in (*node.inputs, *node.outputs)):
            return None
        if sum(prod(output.shape or ()) for output in node.outputs) > _LARGEST and not _is_allowed(node):
            return None
        facts = []
        for operand in node.inputs:
            data = self._contents(operand, depth - 1, large)
            if data is None:
                return None
            facts.append(native_rules.NativeTensorFacts(operand.dtype, operand.shape, None, data))
        try:
            arrays = native_rules.evaluate(node.op, facts, len(node.outputs))
        except native_rules.NativeRuleError:
            return None
        return arrays[node.outputs.index(value)]


def small(value: Value) -> bool:
    """Returns whether a value has a known shape with few elements."""
    return value.is_static and prod(value.shape or ()) <= _LARGEST


def _is_allowed(node: Node) -> bool:
    """Counts the outputs of a node and returns whether they are within the memory limit."""
    try:
        return try_spend(sum(prod(output.shape or ()) * numpy_type(output.dtype).itemsize for output in node.outputs))
    except ValueError:
        return False
