"""Makes a module node by node: the pleasant way for model parsers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.registry.node import array_of


class GraphBuilder:
    """A graph that grows by one node at a time. Types and shapes of results are found by the converter later."""

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
        """An input of the model. A text is the name of a size that is not fixed; equal names are equal sizes."""
        sizes = tuple(
            size if isinstance(size, int) else self._symbols.setdefault(size, SYMBOL_LIMIT - len(self._symbols))
            for size in shape
        )
        value = Value(self._unique(name), dtype, sizes, format=self._layout)
        self.graph.inputs.append(value)
        return value

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str = "constant") -> Value:
        """A constant; Python's integers become int32, its floats float32."""
        return constant(self._unique(name), array_of(data, dtype), self._layout)

    def emit(self, op: Operator, *inputs: Value, name: str = "") -> Value:
        """Adds a node with one result."""
        return self.emit_many(op, inputs, 1, name)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int, name: str = "") -> tuple[Value, ...]:
        """Adds a node with several results."""
        name = self._unique(name or op.name)
        names = [name if outputs == 1 else f"{name}_o:{index}" for index in range(outputs)]
        values = tuple(Value(one, DataType.UNKNOWN, format=self._layout) for one in names)
        self.graph.nodes.append(Node(op, name, tuple(inputs), values, source=f"{op.name} '{name}'"))
        return values

    def output(self, value: Value, name: str = "") -> None:
        """Makes a value an output of the model, under this name or its own."""
        if name and value.producer is not None and value.name != name:
            value.name = self._unique(name)
        self.graph.outputs.append(value)

    def module(self, framework: FmkType = FmkType.THIRDPARTY) -> Module:
        """The finished model. Raises ValueError where it has no output."""
        if not self.graph.outputs:
            raise ValueError("the model has no output")
        return Module([self.graph], name=self._name, framework=int(framework), layout=self._layout)
