"""What writes the nodes that stand for one, and the table of those who do."""

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
    """Writes nodes that replace `node`; each knows the types and shapes of its results at once."""

    def __init__(self, graph: Graph, node: Node, context: Context) -> None:
        self.graph = graph
        self.node = node
        self.context = context
        self._nodes: list[Node] = []

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = np.float32, name: str = "") -> Value:
        """A constant."""
        return constant(f"{self.node.name}/{name or 'constant'}", np.asarray(data, dtype, order="C"), Format.NHWC)

    def ints(self, *numbers: int) -> Value:
        """A vector of int32."""
        return self.const(numbers, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """The result of a new node."""
        return self.many(op, inputs, 1)[0]

    def many(self, op: Operator, inputs: Sequence[Value], count: int) -> tuple[Value, ...]:
        """The `count` results of a new node."""
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
        """Forgets what was written."""
        for node in self._nodes:
            node.set_inputs(())

    def finish(self, results: Sequence[Value]) -> None:
        """Lets `results` take the place of the node's outputs, which keep their names, types and shapes."""
        position = self.graph.nodes.index(self.node)
        for old, new in zip(self.node.outputs, results, strict=True):
            maker = new.producer
            if maker is None or maker not in self._nodes:
                raise ValueError(f"'{self.node.name}' has to be written by nodes of its own")
            for user in list(new.users):
                user.set_inputs([old if value is new else value for value in user.inputs])
            maker.outputs = tuple(old if value is new else value for value in maker.outputs)
            old.producer = maker
        self.node.outputs = ()
        self.node.set_inputs(())
        self.graph.nodes[position : position + 1] = self._nodes


Decomposition = Callable[[Node, Writer, Version], Sequence[Value] | None]
"""Writes a node in operators that the version has and returns what stands for its outputs; None where it is not made for the
node. Raises Blocked where it cannot."""

DECOMPOSITIONS: dict[str, list[Decomposition]] = {}
"""Operator -> what is tried, in this order."""


def decomposes(names: str) -> Callable[[Decomposition], Decomposition]:
    """Registers the decomposition of the blank-separated operators."""

    def register(function: Decomposition) -> Decomposition:
        for name in names.split():
            DECOMPOSITIONS.setdefault(name, []).append(function)
        return function

    return register
