"""Builds a graph node by node; onnxruntime runs each node, so that data types, shapes and values are always known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from .chance import Chance
from .draws import Draws
from .evaluate import Rejected, evaluate, operand_names
from .values import FLOATS, OTHER, OTHER_NOISY, WORLDS, Array, Value

_BATCH, _OTHER_BATCH = 2, 3
_LENGTH, _OTHER_LENGTH = 4, 7
_MAX_DIMENSIONS = 5
_AXES_AS_OPERAND = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13}
"""The opset from which on axes are an input; 18 for other reductions."""


class Builder(Draws):
    """Adds nodes one by one."""

    def __init__(self, chance: Chance, opset: int, dynamic: bool) -> None:
        super().__init__(chance)
        self.opset = opset
        self.dynamic = dynamic
        self.values: list[Value] = []
        """Values that further nodes may read."""
        self.inputs: list[Value] = []
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.open_axes: dict[str, dict[int, str | None]] = {}
        """For graph inputs with dynamic sizes: the symbol of each such dimension, None without a name."""
        self.depth = 0
        """The nested bodies under construction."""
        self.node_names = self.choose(("each", "each", "none", "equal"))
        self.known: dict[str, Value] = {}

    # ---- values

    def _keep(self, value: Value) -> Value:
        """All values, including those that no node may read: bodies capture constants by name."""
        self.known[value.name] = value
        return value

    def _graph_input(self, value: Value) -> Value:
        self.inputs.append(value)
        return self._keep(value)

    def input(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Value:
        """Adds a graph input. In a dynamic graph its first dimension is dynamic, rarely another one."""
        first, other = list(shape), list(shape)
        symbols: dict[int, str | None] = {}
        if self.dynamic and shape and not self.maybe(3):
            first[0], other[0] = _BATCH, _OTHER_BATCH
            symbols[0] = None if self.maybe(8) else "batch"
        if self.dynamic and len(shape) > 1 and self.maybe(6):
            axis = self.integer(1, len(shape) - 1)
            first[axis], other[axis] = _LENGTH, _OTHER_LENGTH
            symbols[axis] = "length"
        one, two = self.data(dtype, first, low, high), self.data(dtype, other, low, high)
        value = Value(self.name("x"), _in_worlds(one, two))
        if symbols:
            self.open_axes[value.name] = symbols
        self.values.append(value)
        return self._graph_input(value)

    def constant(self, array: Any, dtype: str | None = None) -> Value:
        """Adds an initializer or a Constant node, rarely a value computed from constants only."""
        array = np.asarray(array, dtype) if dtype else np.asarray(array)
        array = np.asarray(array, order="C")
        value = self._keep(Value(self.name("c"), (array,) * WORLDS, constant=True))
        if self.maybe(8) and (array.dtype.kind != "f" or np.all(np.isfinite(array))):
            self.values.append(value)
        tensor = numpy_helper.from_array(array, value.name)
        if self.maybe(4):
            self.nodes.append(helper.make_node("Constant", [], [value.name], value=tensor))
        else:
            self.initializers.append(tensor)
        return value

    def constant_values(
        self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None
    ) -> Value:
        """Returns a new constant, sometimes one that other nodes read too."""
        if self.maybe(6):
            held = [self.known[tensor.name] for tensor in self.initializers]
            fits = [v for v in held if v.dtype == dtype and v.shape == tuple(shape) and _within(v.array, low, high)]
            if fits:
                return self.choose(fits)
        return self.constant(self.data(dtype, shape, low, high))

    def operand(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Value:
        """Returns a new value, usually a constant, sometimes a graph input."""
        if self.maybe(3):
            shape = tuple(shape)
            value = self.data(dtype, shape, low, high)
            other = self.data(dtype, shape, low, high)
            made = Value(self.name("x"), _in_worlds(value, other))
            self.values.append(made)
            return self._graph_input(made)
        return self.constant_values(dtype, shape, low, high)

    def operand_of(self, numbers: Sequence[int]) -> Value:
        """Returns integers that are parameters of an operator: usually constant, sometimes a graph input."""
        return self.constant(numbers, "int64") if not self.maybe(6) else self._steering(np.asarray(numbers, np.int64))

    def constant_as_value(self, number: float) -> Value:
        return self.constant(number, "float32")

    def _steering(self, array: Array) -> Value:
        return self._graph_input(Value(self.name("x"), (array,) * WORLDS))

    def pick(
        self,
        dtypes: Sequence[str] = FLOATS[:1],
        low: int = 0,
        high: int = _MAX_DIMENSIONS,
        where: Callable[[Value], bool] | None = None,
        shape: Sequence[int] | None = None,
    ) -> Value:
        """Returns a value of one of the data types and a rank between the bounds, usually an existing one, recent ones first.

        Its rank depends on the input only if any rank is allowed.
        """
        any_rank = low == 0 and high >= _MAX_DIMENSIONS and where is None
        fits = [
            v
            for v in reversed(self.values)
            if v.dtype in dtypes
            and low <= v.rank <= high
            and (any_rank or v.fixed_rank)
            and (where is None or where(v))
        ]
        if shape is not None:
            fits = [v for v in fits if v.shape == tuple(shape)]
        if fits and not self.maybe(6):
            return self.choose(fits[:8])
        made = self.input(self.dtype(dtypes), self.shape(low=low, high=high) if shape is None else shape)
        if (where and not where(made)) or (shape is not None and made.shape != tuple(shape)):
            raise Rejected("the new input does not fit")
        return made

    def partner(self, value: Value, low: float | None = None, high: float | None = None) -> Value:
        """Returns a value of the same data type that broadcasts with it."""
        fits = [v for v in reversed(self.values) if v.dtype == value.dtype and _broadcast(v.shape, value.shape)]
        if fits and low is None and self.maybe():
            return self.choose(fits[:8])
        shape = list(value.shape)
        kind = self.integer(0, 5)
        if kind == 0:
            shape = []
        elif kind == 1:
            shape = shape[self.integer(0, len(shape)) :]
        elif kind == 2:
            shape = [size if self.maybe() else 1 for size in shape]
        elif kind == 3:
            shape = [size if size != 1 else self.choose((1, 2, 3)) for size in shape]
        elif kind == 4 and len(shape) < 5:
            shape = [self.choose((1, 2)), *shape]
        offset = len(value.shape) - len(shape)
        if not value.fixed_shape:
            shape = [
                1 if axis + offset >= 0 and not value.fixed(axis + offset) else size for axis, size in enumerate(shape)
            ]
        return self.operand(value.dtype, shape, low, high)

    # ---- nodes

    def node(
        self, operator: str, *operands: Value | None, outputs: int | Sequence[bool] = 1, **attributes: Any
    ) -> Value:
        """Adds a node and returns its first output. Raises Rejected."""
        return self.nodes_results(operator, *operands, outputs=outputs, **attributes)[0]

    def with_axes(self, operator: str, x: Value, axes: Sequence[int], **attributes: Any) -> Value:
        """Adds a node with axes, which are an attribute in old opsets and an input in new ones."""
        if self.opset < _AXES_AS_OPERAND.get(operator, 18):
            return self.node(operator, x, axes=list(axes) or None, **attributes)
        return self.node(operator, x, self.constant(list(axes), "int64"), **attributes)

    def nodes_results(
        self, operator: str, *operands: Value | None, outputs: int | Sequence[bool] = 1, **attributes: Any
    ) -> list[Value]:
        """Adds a node and returns all outputs. `outputs`: their number, or which of them have names. Raises Rejected."""
        wanted = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = ["" if value is None else value.name for value in operands]
        while names and not names[-1]:
            names.pop()
        results = [self.name("v") if named else "" for named in wanted]
        attributes = {name: given for name, given in attributes.items() if given is not None}
        node = helper.make_node(operator, names, results, name=f"{operator}_{self._names}", **attributes)
        return self.together([node], [name for name in results if name])

    def together(self, nodes: list[NodeProto], results: Sequence[str]) -> list[Value]:
        """Adds nodes with intermediate values that are not tensors. Returns the named outputs. Raises Rejected."""
        inner = {name for node in nodes for name in node.output}
        read = set().union(*(operand_names(node) for node in nodes)) - inner
        worlds = evaluate(nodes, results, [self.known[name] for name in sorted(read)], self.opset, self._names)
        self.nodes.extend(nodes)
        made = [self._keep(Value(name, held)) for name, held in zip(results, worlds, strict=True)]
        self.values.extend(made)
        return made

    def attempt(self, add: Callable[[Builder, str], None], name: str) -> str:
        """Adds an operator with its function. Returns the reason if it is rejected; the graph is unchanged then."""
        kept = [list(held) for held in (self.values, self.inputs, self.nodes, self.initializers)]
        try:
            add(self, name)
        except Rejected as reason:
            unused = self.inputs[len(kept[1]) :][:1] if self.maybe(20) else []
            self.values, self.inputs, self.nodes, self.initializers = kept  # type: ignore[assignment]
            self.inputs += unused
            self.values += unused
            return str(reason)
        return ""


def _in_worlds(one: Array, other: Array) -> tuple[Array, ...]:
    """Returns the values of a graph input in the first and in the second sample, each with disturbed ones."""
    return tuple(other if world in (OTHER, *OTHER_NOISY) else one for world in range(WORLDS))


def _broadcast(one: Sequence[int], other: Sequence[int]) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(tuple(one), tuple(other)))) <= 5000
    except ValueError:
        return False


def _within(array: Array, low: float | None, high: float | None) -> bool:
    return (
        array.size > 0 and (low is None or float(array.min()) >= low) and (high is None or float(array.max()) <= high)
    )
