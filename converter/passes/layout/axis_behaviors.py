"""Behaviors of operators with one layout for all data inputs: channels-last, element-wise, and operators with axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.layout.layouts import SOURCE_LAYOUT_ONLY, Behavior, Connection, LayoutDependence, Layouts
from mslite.converter.passes.layout.permutation import Perm, channels_last, permuted


def integers(value: Value) -> list[int] | None:
    """Returns the elements of a constant integer input, or None."""
    return None if value.data is None else [int(item) for item in np.asarray(value.data).reshape(-1)]


def side_constant(node: Node, index: int, data: Array) -> None:
    """Replaces a constant input such as axes or paddings."""
    inputs = list(node.inputs)
    inputs[index] = constant(f"{inputs[index].name}_nhwc", data)
    node.set_inputs(inputs)


def is_single(value: Value) -> bool:
    return value.shape is not None and all(size == 1 for size in value.shape)


Remap = Callable[[Node, Perm], Operator]
"""A function that returns the operator for a node with data in layout `perm`, and changes its inputs such as axes."""


class ChannelsLast(Behavior):
    """Operators that compute in channels-last layout only: convolution, pooling, batch normalization, ..."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        for value in (node.inputs[0], node.outputs[0]):
            shape = layouts.shape(value)
            if shape is not None and len(shape) > 2:
                layouts.suggest(value, channels_last(len(shape)))

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        shape = layouts.shape(node.inputs[0])
        if shape is None or len(shape) < 3:
            return SOURCE_LAYOUT_ONLY
        return Connection(True, {0: LayoutDependence.NODE}, {0: LayoutDependence.NODE})

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if any(attribute.name == "format" for attribute in node.op.declaration.attributes):
            node.op = changed(node.op, format=Format.NHWC)
        return [node]


class Elementwise(Behavior):
    """Operators that broadcast their inputs: the first `data_operands` of them, or all."""

    def __init__(self, data_operands: int | None = None, remap: Remap | None = None) -> None:
        self._data_operands = data_operands
        self._remap = remap
        """Changes the axis of the operator."""

    def _data(self, node: Node) -> tuple[Value, ...]:
        return node.inputs[: self._data_operands]

    def propose(self, node: Node, layouts: Layouts) -> None:
        rank = node.outputs[0].rank
        peers = [value for value in (*self._data(node), *node.outputs) if value.rank == rank and not is_single(value)]
        perm = next((layouts.of(value) for value in peers if layouts.of(value) is not None), None)
        for value in peers:
            layouts.suggest(value, perm)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        perm = layouts.of(node.outputs[0])
        if perm is None:
            return SOURCE_LAYOUT_ONLY
        connection = Connection(None, {}, dict.fromkeys(range(len(node.outputs)), LayoutDependence.NODE))
        if any(layouts.of(value) != perm for value in node.outputs):
            return SOURCE_LAYOUT_ONLY
        for index, value in enumerate(self._data(node)):
            if value.is_constant:
                if value.data is None:
                    return SOURCE_LAYOUT_ONLY
            elif is_single(value):
                connection.inputs[index] = LayoutDependence.FREE if layouts.of(value) else LayoutDependence.SOURCE
            elif layouts.of(value) == perm:
                connection.inputs[index] = LayoutDependence.NODE
            else:
                return SOURCE_LAYOUT_ONLY
        return connection

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        perm = outputs[0]
        if perm is None:
            return [node]
        changed = list(node.inputs)
        # Leading dimensions of 1 may be dropped only if another input has the rank of the result.
        rank_is_given = any(value.data is None and value.rank == len(perm) for value in self._data(node))
        for index, value in enumerate(self._data(node)):
            if value.data is None or is_single(value):
                continue
            data = value.data.reshape((1,) * (len(perm) - value.data.ndim) + value.data.shape).transpose(perm)
            first = next((axis for axis, size in enumerate(data.shape) if size != 1), data.ndim - 1)
            leading = first if rank_is_given else 0
            changed[index] = constant(f"{value.name}_nhwc", np.ascontiguousarray(data.reshape(data.shape[leading:])))
            changed[index].is_parameter, changed[index].of_one_layer = value.is_parameter, value.of_one_layer
        node.set_inputs(changed)
        if self._remap is not None:
            node.op = self._remap(node, perm)
        return [node]


class Rounding(Behavior):
    """Operators with one input and a first output in the same layout; further outputs are scalars."""

    def propose(self, node: Node, layouts: Layouts) -> None:
        pair = (node.inputs[0], node.outputs[0])
        perm = next((layouts.of(value) for value in pair if layouts.of(value) is not None), None)
        for value in pair:
            layouts.suggest(value, perm)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        perm = layouts.of(node.outputs[0])
        if perm is None or layouts.of(node.inputs[0]) != perm:
            return SOURCE_LAYOUT_ONLY
        return Connection(None, {0: LayoutDependence.NODE}, {0: LayoutDependence.NODE})

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        return [node]


class ChannelsFirst(Rounding):
    """Operators that compute in NCHW; `last` returns the equivalent operator for NHWC."""

    def __init__(self, last: Callable[[Operator], Operator]) -> None:
        self._last = last

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        perm = layouts.of(node.outputs[0])
        return (
            super().connect(node, layouts)
            if perm is not None and perm == channels_last(len(perm))
            else SOURCE_LAYOUT_ONLY
        )

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if outputs[0] is not None:
            node.op = self._last(node.op)
        return [node]


class AxisBased(Behavior):
    """Operators with axes, which support any layout: `can` returns for which nodes, `remap` changes the axes.

    `several_inputs`: all inputs are data (Concat), not only the first.
    """

    def __init__(
        self,
        remap: Remap,
        can: Callable[[Node], bool] = lambda node: True,
        several_inputs: bool = False,
    ) -> None:
        self._remap = remap
        self._can = can
        self._several = several_inputs

    def _data(self, node: Node) -> tuple[Value, ...]:
        return node.inputs if self._several else node.inputs[:1]

    def propose(self, node: Node, layouts: Layouts) -> None:
        if not self._can(node):
            return
        peers = [*self._data(node), *node.outputs]
        perm = next((layouts.of(value) for value in peers if layouts.of(value) is not None), None)
        for value in peers:
            layouts.suggest(value, perm)

    def connect(self, node: Node, layouts: Layouts) -> Connection:
        perm = layouts.of(node.outputs[0])
        data = self._data(node)
        if perm is None or not self._can(node):
            return SOURCE_LAYOUT_ONLY
        if any(layouts.of(value) != perm for value in (*data, *node.outputs) if not value.is_constant):
            return SOURCE_LAYOUT_ONLY
        return Connection(
            None,
            dict.fromkeys(range(len(data)), LayoutDependence.NODE),
            dict.fromkeys(range(len(node.outputs)), LayoutDependence.NODE),
        )

    def rewrite(
        self, node: Node, inputs: list[Perm | None], outputs: list[Perm | None], layouts: Layouts
    ) -> list[Node]:
        if outputs[0] is not None:
            node.op = self._remap(node, outputs[0])
        return [node]


def axis_in(perm: Perm, axis: int) -> int:
    """Returns the position of a source axis, which may be negative, in layout `perm`."""
    return perm.index(axis % len(perm))


def axis_attribute(node: Node, perm: Perm) -> Operator:
    return changed(node.op, axis=axis_in(perm, int(getattr(node.op, "axis"))))  # noqa: B009


def record_axis(node: Node, perm: Perm) -> Operator:
    """Changes the axis only if an input or output has per-channel quantization parameters."""
    several = any(len(value.quant) > 1 for value in (*node.inputs, *node.outputs))
    return axis_attribute(node, perm) if several else node.op


def axes_attribute(node: Node, perm: Perm) -> Operator:
    axes = getattr(node.op, "axis")  # noqa: B009
    return changed(node.op, axis=tuple(axis_in(perm, axis) for axis in axes))


def remap_axes_list(node: Node, perm: Perm) -> Operator:
    """Changes the `axes` attribute, the dimensions that other inputs refer to; without it: all, in order."""
    axes = getattr(node.op, "axes") or range(len(perm))  # noqa: B009
    return changed(node.op, axes=tuple(axis_in(perm, axis) for axis in axes))


def has_axes(node: Node) -> bool:
    return bool(getattr(node.op, "axis"))  # noqa: B009


def permute_rows(node: Node, perm: Perm) -> Operator:
    """Permutes the rows of input 1, which has one row for each dimension: paddings, multiples, shape."""
    data = node.inputs[1].array()
    rows = data.reshape(len(perm), -1)[list(perm)].reshape(data.shape)
    side_constant(node, 1, np.ascontiguousarray(rows))
    return node.op


def has_rows(node: Node) -> bool:
    rank = node.inputs[0].rank
    return (
        len(node.inputs) > 1
        and node.inputs[1].data is not None
        and rank is not None
        and node.outputs[0].rank == rank
        and node.inputs[1].data.size in (rank, 2 * rank)
    )


def axis_operand(index: int) -> Callable[[Node, Perm], Operator]:
    """Returns a remap function for operators with the axis as constant input `index`."""

    def remap(node: Node, perm: Perm) -> Operator:
        data = node.inputs[index].array()
        axes = [axis_in(perm, axis) for axis in integers(node.inputs[index]) or ()]
        side_constant(node, index, np.array(axes, data.dtype).reshape(data.shape))
        return node.op

    return remap


def has_constant(index: int) -> Callable[[Node], bool]:
    return lambda node: len(node.inputs) > index and node.inputs[index].data is not None


def keeps_rank(node: Node) -> bool:
    return node.inputs[0].rank == node.outputs[0].rank


def permute_vector(data: Array, perm: Perm) -> Array:
    return np.ascontiguousarray(data.reshape(-1)[list(permuted(range(len(perm)), perm))])
