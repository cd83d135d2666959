"""Rewrites normalizations to the form that MindSpore Lite computes.

It reads dimension 1 of a 4-D tensor as channels: up to 1.3 always, later if it regards the input as NCHW. It
determines layouts when a model is built: an output has the layout of its input; only a Transpose from or to channels
last changes it.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Shape, Value, constant
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm, GroupNormFusion, InstanceNorm
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.rearrange import Shape as ShapeOf
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import bypass, live_nodes
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.layout.permutation import Perm, channels_last, inverse, permuted

_LAST = channels_last(4)
_FIRST = inverse(_LAST)


def adapt_norm_layouts(module: Module, context: Context) -> None:
    """Inserts Transposes around normalizations with channels last, and around those with an input that MindSpore Lite
    regards as NHWC."""
    changed = False
    for graph in module.graphs:
        for node in list(graph.nodes):
            if isinstance(node.op, ChannelsLastInstanceNorm):
                changed |= _Norm(graph, node).to_channels_first()
        graph.nodes = live_nodes(graph)
        if context.settings.keep_layout:  # a MINDIR file declares the layout
            continue
        for node in list(graph.nodes):
            if isinstance(node.op, InstanceNorm | GroupNormFusion):
                changed |= _Norm(graph, node).to_images(graph is module.main)
    if changed:
        infer_shapes(module, context)


class _Norm:
    """A normalization, and the nodes that are inserted around it."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node
        self.x, self.y = node.inputs[0], node.output
        self.before: list[Node] = []
        self.after: list[Node] = []

    # ---- channels last ----

    def to_channels_first(self) -> bool:
        """Rewrites a normalization with channels last. Returns False if the number of channels is unknown: it stays a
        Custom operator."""
        op, shape = self.node.op, self.x.shape
        assert isinstance(op, ChannelsLastInstanceNorm)
        channels = self._channels(-1)
        if shape is None or channels is None or (len(shape) != 4 and 0 in shape):
            return False
        image = self.x if len(shape) == 4 else self._reshaped(self.x, (shape[0], -1, 1, channels))
        planes = self._planes(image)
        self.node.op = InstanceNorm(epsilon=op.epsilon)
        result = self._normalize(planes)
        last = self._value(f"{self.y.name}_image", None) if len(shape) != 4 else self.y
        self._transpose(result, _LAST, f"{self.node.name}_post_nc2nh", last, self.after)
        if last is not self.y:
            self._shape_back(last)
        self._insert()
        if last is self.y:
            self._spare(result)
        return True

    def _planes(self, image: Value) -> Value:
        """Returns `image` in NCHW: the input of the Transpose that made it NHWC, else a new Transpose."""
        producer = image.producer
        if producer is not None and _order(producer) == _LAST and producer.inputs[0].rank == 4:
            return producer.inputs[0]
        shape = None if image.shape is None else permuted(image.shape, _FIRST)
        planes = self._value(f"{image.name}_nchw", shape)
        return self._transpose(image, _FIRST, f"{self.node.name}_pre_nh2nc", planes, self.before)

    def _spare(self, result: Value) -> None:
        """Makes readers that transpose the output back to NCHW read the NCHW result."""
        for reader in list(self.y.users):
            if _order(reader) == _FIRST:
                bypass(self.graph, reader, result)

    # ---- channels first ----

    def to_images(self, is_main: bool) -> bool:
        """Rewrites a normalization with channels first. Returns whether it did."""
        shape, channels = self.x.shape, self._channels(1)
        if shape is None or channels is None or 0 in shape or len(shape) < 2:
            return False
        is_stated = _is_channels_first(self.x, is_main)
        if len(shape) == 4 and is_stated:
            return False
        flat = (shape[0], channels, -1, 1)
        is_flat = len(shape) == 4 and shape[3] == 1
        x = self.x if is_flat else self._reshaped(self.x, flat)
        if not is_stated:
            # Moves only a dimension of size 1, but MindSpore Lite then regards the result as NCHW.
            moved = self._transpose(
                x, _FIRST, f"{self.node.name}_pre_nh2nc", self._value(f"{x.name}_nchw"), self.before
            )
            x = self._reshaped(moved, flat)
        result = self._normalize(x)
        if not is_stated:
            moved = self._value(f"{self.y.name}_moved")
            self._reshape(result, self._sizes((shape[0], 1, channels, -1)), moved, self.after)
            result = self.y if is_flat else self._value(f"{self.y.name}_image")
            self._transpose(moved, _LAST, f"{self.node.name}_post_nc2nh", result, self.after)
        if result is not self.y:
            self._shape_back(result)
        self._insert()
        return True

    # ---- pieces ----

    def _channels(self, axis: int) -> int | None:
        """Returns the number of channels, or None."""
        shape = self.x.shape
        sizes = [shape[axis]] if shape is not None and len(shape) > 1 else []
        sizes += [value.shape[0] for value in self.node.inputs[1:] if value.shape is not None and len(value.shape) == 1]
        return next((size for size in sizes if size > 0), None)

    def _normalize(self, planes: Value) -> Value:
        """Makes the node normalize `planes` into a new value."""
        result = self._value(f"{self.y.name}_nchw", planes.shape)
        self.node.set_inputs((planes, *self.node.inputs[1:]))
        self.node.outputs = (result,)
        result.producer = self.node
        return result

    def _value(self, name: str, shape: Shape | None = None) -> Value:
        return Value(name, self.y.dtype, shape)

    def _transpose(self, x: Value, perm: Perm, name: str, result: Value, nodes: list[Node]) -> Value:
        result.format = Format.NHWC if perm == _LAST else Format.NCHW
        side = constant(f"{name}_perm", np.array(perm, np.int32))
        nodes.append(Node(Transpose(), name, (x, side), (result,), source=self.node.source))
        return result

    def _reshaped(self, x: Value, sizes: tuple[int, ...]) -> Value:
        return self._reshape(x, self._sizes(sizes), self._value(f"{x.name}_image"), self.before)

    def _reshape(self, x: Value, sizes: Value, result: Value, nodes: list[Node]) -> Value:
        nodes.append(Node(Reshape(), result.name, (x, sizes), (result,), source=self.node.source))
        return result

    def _sizes(self, sizes: tuple[int, ...]) -> Value:
        """Returns the constant shape of a Reshape; 0 keeps a dynamic first dimension."""
        stated = (max(sizes[0], 0), *(max(size, -1) for size in sizes[1:]))
        return constant(f"{self.node.name}_sizes", np.array(stated, np.int32))

    def _shape_back(self, image: Value) -> None:
        """Reshapes `image` to the output of the normalization."""
        shape = self.x.shape
        assert shape is not None
        if sum(size < 0 for size in shape[1:]) <= 1:
            sizes = self._sizes(shape)
        else:
            sizes = Value(f"{self.node.name}_sizes", DataType.INT32, (len(shape),))
            self.before.append(Node(ShapeOf(), sizes.name, (self.x,), (sizes,)))
        self._reshape(image, sizes, self.y, self.after)

    def _insert(self) -> None:
        self.graph.insert_before(self.node, *self.before)
        self.graph.insert_after(self.node, *self.after)


def _order(node: Node) -> Perm | None:
    """Returns the permutation of a Transpose, or None."""
    if not isinstance(node.op, Transpose) or len(node.inputs) < 2 or node.inputs[1].data is None:
        return None
    return tuple(int(axis) for axis in node.inputs[1].data.reshape(-1))


def _is_channels_first(value: Value, is_main: bool) -> bool:
    """Returns whether every version of MindSpore Lite regards `value` as NCHW."""
    while value.producer is not None:
        producer = value.producer
        order = _order(producer)
        if order in (_FIRST, _LAST):
            return order == _FIRST
        # A Transpose of a 3-D tensor changes the layout since version 2.
        if order == channels_last(3) or not producer.inputs or producer.op.name == "Call":
            return False
        value = _leading(producer)
    return not value.is_constant and is_main and value.rank == 4 and value.format is Format.NCHW


def _leading(node: Node) -> Value:
    """Returns the input with the layout of the output: the first, or the second of an element-wise node if it has more
    dimensions."""
    first, *others = node.inputs
    if others and node.op.declaration.layout == "elementwise" and (first.rank or 0) < (others[0].rank or 0):
        return others[0]
    return first


__all__ = ["adapt_norm_layouts"]
