"""Rewrites a graph to the chosen layouts; inserts a Transpose if producer and consumer have different layouts."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.passes.layout.layouts import LayoutDependence, Layouts
from mslite.converter.passes.layout.permutation import Perm, channels_last, inverse, is_reshape, permuted
from mslite.converter.passes.layout.reshape_behaviors import shape_constant
from mslite.converter.passes.layout.solve import Solution
from mslite.converter.passes.layout.table import layout_behavior


class Rewriter:
    """Applies one solution to one graph."""

    def __init__(self, graph: Graph, layouts: Layouts, solution: Solution) -> None:
        self._graph = graph
        self._layouts = layouts
        self._solution = solution
        self._copies: dict[tuple[Value, Perm | None], Value] = {}
        self._nodes: list[Node] = []

    def run(self, flipped_outputs: set[Value]) -> None:
        graph, stored = self._graph, self._solution.stored
        for value in graph.inputs:
            self._settle(value, stored.get(value))
        for node in graph.nodes:
            self._rewrite(node)
        graph.nodes = []
        self._finish_outputs(flipped_outputs)
        graph.nodes = self._nodes

    def _settle(self, value: Value, perm: Perm | None) -> None:
        """Sets the shape and format of a value to its stored layout."""
        if perm is None:
            return
        value.shape = permuted(self._layouts.source_shapes[value], perm)
        if perm == channels_last(4):
            value.format = Format.NHWC

    def _rewrite(self, node: Node) -> None:
        connection, layouts = self._solution.connections[node], self._layouts
        flipped, stored = self._solution.flipped[node], self._solution.stored
        wanted: list[Perm | None] = []
        fetched: list[Value] = []
        node_perm = next(
            (
                layouts.of(node.outputs[i])
                for i, follows in connection.outputs.items()
                if follows is LayoutDependence.NODE
            ),
            None,
        )
        for index, value in enumerate(node.inputs):
            follows = connection.inputs.get(index, LayoutDependence.SOURCE)
            perm: Perm | None = None
            if follows is LayoutDependence.FREE:
                perm = stored.get(value)
            elif follows is LayoutDependence.NODE and flipped:
                perm = node_perm if value.is_constant else layouts.of(value)
            wanted.append(perm)
            fetched.append(self._fetch(value, perm))
        node.set_inputs(fetched)
        outputs = [stored.get(value) for value in node.outputs]
        added = layout_behavior(node).rewrite(node, wanted, outputs, layouts)
        for value, perm in zip(node.outputs, outputs, strict=True):
            self._settle(value, perm)
        self._nodes.extend(added)

    def _fetch(self, value: Value, perm: Perm | None) -> Value:
        """Returns `value` in layout `perm`; the conversion is shared by all readers."""
        current = self._solution.stored.get(value)
        if current == perm:
            return value
        key = (value, perm)
        if key not in self._copies:
            self._copies[key] = self._convert(value, current, perm)
        return self._copies[key]

    def _convert(self, value: Value, current: Perm | None, perm: Perm | None) -> Value:
        source = self._layouts.source_shapes.get(value, value.shape or ())
        if value.data is not None:
            assert perm is not None
            data = np.ascontiguousarray(value.data.transpose(perm))
            copy = constant(f"{value.name}_nhwc", data, Format.NHWC if perm == channels_last(4) else value.format)
            copy.quant, copy.is_parameter, copy.of_one_layer = value.quant, value.is_parameter, value.of_one_layer
            return copy
        change = perm if current is None else inverse(current) if perm is None else permuted(inverse(current), perm)
        assert change is not None
        suffix = "nc2nh" if perm is not None else "nh2nc"
        shape = source if perm is None else permuted(source, perm)
        result = Value(f"{value.name}_{suffix}", value.dtype, shape, quant=value.quant)
        result.format = Format.NHWC if perm == channels_last(4) else Format.NCHW
        stored_shape = source if current is None else permuted(source, current)
        if is_reshape(stored_shape, change) and sum(size < 0 for size in shape) <= 1 and 0 not in shape:
            side = shape_constant(f"{result.name}_shape", shape)
            self._nodes.append(
                Node(Reshape(), result.name, (value, side), (result,), source=f"layout of '{value.name}'")
            )
        else:
            side = constant(f"{result.name}_perm", np.array(change, np.int32))
            self._nodes.append(
                Node(Transpose(), result.name, (value, side), (result,), source=f"layout of '{value.name}'")
            )
        return result

    def _finish_outputs(self, flipped_outputs: set[Value]) -> None:
        """Converts the graph's outputs to their requested layout; the converted value gets the name of the output."""
        graph = self._graph
        outputs: list[Value] = []
        renamed: dict[Value, Value] = {}
        for value in graph.outputs:
            perm = self._layouts.of(value) if value in flipped_outputs else None
            if value in renamed:
                outputs.append(renamed[value])
                continue
            result = self._fetch(value, perm)
            if result is not value:
                if value not in graph.inputs and not value.is_constant:
                    name = value.name
                    value.name, result.name = f"{name}_{'nhwc' if perm is None else 'nchw'}", name
                renamed[value] = result
            outputs.append(result)
        graph.outputs = outputs
