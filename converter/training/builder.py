"""Appends nodes to a graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Graph, Node, Shape, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.assembly import BroadcastTo, SliceFusion
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.rearrange import Reshape


def _value(name: str, shape: Shape) -> Value:
    return Value(name, DataType.FLOAT32, shape, format=Format.NHWC)


class Builder:
    """Appends nodes with unique names to `graph`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._taken = {node.name for node in graph.nodes} | {value.name for value in graph.values()}

    def name(self, wish: str) -> str:
        """Returns a unique name: `wish`, or `wish_1`, …"""
        found, number = wish, 0
        while found in self._taken:
            number += 1
            found = f"{wish}_{number}"
        self._taken.add(found)
        return found

    def nodes(self, op: Operator, name: str, inputs: list[Value], shapes: list[Shape]) -> tuple[Value, ...]:
        """Adds a node with float32 outputs of these shapes and returns the outputs."""
        name = self.name(name)
        names = [name] if len(shapes) == 1 else [f"{name}_o:{i}" for i in range(len(shapes))]
        outputs = tuple(_value(one, shape) for one, shape in zip(names, shapes, strict=True))
        self.graph.nodes.append(Node(op, name, tuple(inputs), outputs))
        return outputs

    def node(self, op: Operator, name: str, inputs: list[Value], shape: Shape) -> Value:
        """Adds a node with one float32 output and returns it."""
        return self.nodes(op, name, inputs, [shape])[0]

    def value(self, name: str, shape: Shape) -> Value:
        """Returns a new float32 value for the output of a node."""
        return _value(self.name(name), shape)

    def constant(self, name: str, data: npt.ArrayLike) -> Value:
        return constant(self.name(name), data, Format.NHWC)

    def sizes(self, name: str, shape: Shape) -> Value:
        """Returns a shape as an int32 constant."""
        return self.constant(name, np.asarray(shape, np.int32))

    def reshaped(self, value: Value, shape: Shape, name: str) -> Value:
        """Adds a Reshape unless the value already has the shape."""
        if value.shape == shape:
            return value
        return self.node(Reshape(), name, [value, self.sizes(f"{name}/shape", shape)], shape)

    def broadcast(self, value: Value, shape: Shape, name: str) -> Value:
        if value.shape == shape:
            return value
        return self.node(BroadcastTo(shape=shape), name, [value, self.sizes(f"{name}/shape", shape)], shape)

    def slice(self, value: Value, begin: Shape, shape: Shape, name: str) -> Value:
        """Adds a slice of `value` with this begin and shape."""
        op = SliceFusion(axes=tuple(range(len(shape))))
        return self.node(
            op, name, [value, self.sizes(f"{name}/begin", begin), self.sizes(f"{name}/size", shape)], shape
        )
