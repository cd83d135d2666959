"""Creates the nodes that replace a node, and registers decompositions of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_node


class Writer:
    """Creates nodes that replace `node`; types and shapes of their outputs are inferred immediately."""

    def __init__(self, graph: Graph, node: Node, context: Context) -> None:
        self.graph = graph
        self.node = node
        self.context = context
        self._nodes: list[Node] = []

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = np.float32, name: str = "") -> Value:
        """Returns a constant."""
        return constant(f"{self.node.name}/{name or 'constant'}", np.asarray(data, dtype, order="C"), Format.NHWC)

    def ints(self, *numbers: int) -> Value:
        """Returns a constant int32 vector."""
        return self.const(numbers, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node and returns its output."""
        return self.many(op, inputs, 1)[0]

    def many(self, op: Operator, inputs: Sequence[Value], count: int) -> tuple[Value, ...]:
        """Adds a node and returns its `count` outputs. Raises Blocked if the node is invalid."""
        name = f"{self.node.name}/{op.name}_{len(self._nodes)}"
        outputs = tuple(
            Value(name if count == 1 else f"{name}:{index}", DataType.UNKNOWN, format=Format.NHWC)
            for index in range(count)
        )
        node = Node(op, name, tuple(inputs), outputs, source=self.node.source)
        problem = infer_node(node, self.context)
        if problem is not None:
            raise Blocked(problem.reason, problem.remedy)
        self._nodes.append(node)
        return outputs

    def drop(self) -> None:
        """Discards the added nodes."""
        for node in self._nodes:
            node.set_inputs(())

    def finish(self, results: Sequence[Value]) -> None:
        """Replaces the node by the added nodes; `results` replace its outputs, which keep their names, types and
        shapes."""
        position = self.graph.nodes.index(self.node)
        for old, new in zip(self.node.outputs, results, strict=True):
            maker = new.producer
            if maker is None or maker not in self._nodes:
                raise ValueError(f"'{self.node.name}': each result must be an output of an added node")
            for user in list(new.users):
                user.set_inputs([old if value is new else value for value in user.inputs])
            maker.outputs = tuple(old if value is new else value for value in maker.outputs)
            old.producer = maker
        self.node.outputs = ()
        self.node.set_inputs(())
        self.graph.nodes[position : position + 1] = self._nodes


Decomposition = Callable[[Node, Writer, Version], Sequence[Value] | None]
"""A function that adds nodes which the version supports and returns the values that replace the node's outputs.
Returns None if it
does not apply to the node; raises Blocked if the node cannot be lowered."""

DECOMPOSITIONS: dict[str, list[Decomposition]] = {}
"""Operator -> decompositions, tried in this order."""


def decomposes(names: str) -> Callable[[Decomposition], Decomposition]:
    """Registers a decomposition for the blank-separated operators."""

    def register(function: Decomposition) -> Decomposition:
        for name in names.split():
            DECOMPOSITIONS.setdefault(name, []).append(function)
        return function

    return register
