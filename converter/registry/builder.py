"""Builds a module node by node, for model parsers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.registry.node_parser import array_of


class GraphBuilder:
    """Builds a graph. The converter infers data types and shapes of node outputs later."""

    def __init__(self, name: str = "model", layout: Format = Format.NHWC) -> None:
        self.graph = Graph("main_graph")
        self._name = name
        self._layout = layout
        self._taken: set[str] = set()
        self._symbols: dict[str, int] = {}

    def _unique(self, wish: str) -> str:
        name, number = wish, 0
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    def input(self, name: str, shape: Sequence[int | str], dtype: DataType = DataType.FLOAT32) -> Value:
        """Adds an input of the model. A string in `shape` names a dynamic dimension; equal names are equal sizes."""
        sizes = tuple(
            size if isinstance(size, int) else self._symbols.setdefault(size, SYMBOL_LIMIT - len(self._symbols))
            for size in shape
        )
        value = Value(self._unique(name), dtype, sizes, format=self._layout)
        self.graph.inputs.append(value)
        return value

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str = "constant") -> Value:
        """Returns a constant; Python integers become int32, Python floats float32."""
        return constant(self._unique(name), array_of(data, dtype), self._layout)

    def emit(self, op: Operator, *inputs: Value, name: str = "") -> Value:
        """Adds a node with one output and returns the output."""
        return self.emit_many(op, inputs, 1, name)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int, name: str = "") -> tuple[Value, ...]:
        """Adds a node with several outputs and returns them."""
        name = self._unique(name or op.name)
        names = [name if outputs == 1 else f"{name}_o:{index}" for index in range(outputs)]
        values = tuple(Value(one, DataType.UNKNOWN, format=self._layout) for one in names)
        self.graph.nodes.append(Node(op, name, tuple(inputs), values, source=f"{op.name} '{name}'"))
        return values

    def output(self, value: Value, name: str = "") -> None:
        """Makes a value an output of the model and renames it to `name`, if given."""
        if name and value.producer is not None and value.name != name:
            value.name = self._unique(name)
        self.graph.outputs.append(value)

    def module(self, framework: FmkType = FmkType.THIRDPARTY) -> Module:
        """Returns the finished model. Raises ValueError if it has no output."""
        if not self.graph.outputs:
            raise ValueError("the model has no output")
        return Module([self.graph], name=self._name, framework=int(framework), layout=self._layout)
