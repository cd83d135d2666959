"""A graph that grows by nodes that onnxruntime has run: names, types, shapes and contents are known all along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from .chance import Chance
from .evaluate import Rejected, evaluate, operand_names
from .values import EXACT, FLOATS, OTHER, OTHER_NOISY, WORLDS, Array, Value

_T = TypeVar("_T")
DIMENSIONS = (1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 7, 8, 9, 13, 16, 17)
_BATCH, _OTHER_BATCH = 2, 3
_AXES_AS_OPERAND = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13}
"""The operator set from which on axes are an operand; 18 for the other reductions."""


class Builder:
    """Draws and adds nodes. Everything random comes from `chance`, so that hypothesis can shrink it."""

    def __init__(self, chance: Chance, opset: int, dynamic: bool) -> None:
        self._chance = chance
        self.opset = opset
        self.dynamic = dynamic
        self.values: list[Value] = []
        self.inputs: list[Value] = []
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._dynamic_axes: dict[str, int] = {}
        self._names = 0

    # ---- draws

    def choose(self, options: Sequence[_T]) -> _T:
        """One of them; the first is the simplest."""
        if not options:
            raise Rejected("nothing to choose from")
        return self._chance.choose(options)

    def integer(self, low: int, high: int) -> int:
        if low > high:
            raise Rejected("no integer to draw")
        return self._chance.integer(low, high)

    def dtype(self, options: Sequence[str]) -> str:
        """One of them; float32 in most cases, where it is among them."""
        return self.choose(options) if "float32" not in options or self.maybe(3) else "float32"

    def permutation(self, length: int) -> list[int]:
        return self._chance.permutation(length)

    def maybe(self, one_in: int = 2) -> bool:
        """True in one case of so many."""
        return self.integer(0, one_in - 1) == one_in - 1

    def subset(self, items: Sequence[_T], least: int = 0) -> list[_T]:
        chosen = [item for item in items if self.maybe()]
        return chosen if len(chosen) >= least else list(items)[:least]

    def shape(self, rank: int | None = None, low: int = 0, high: int = 5) -> tuple[int, ...]:
        """Sizes of 1 to 17, of a few hundred elements at most together; 0 in rare cases."""
        rank = self.integer(low, high) if rank is None else rank
        sizes, room = [], 600
        for _ in range(rank):
            size = min(self.choose(DIMENSIONS), max(1, room))
            room //= size
            sizes.append(size)
        if rank and self.maybe(60):
            sizes[self.integer(0, rank - 1)] = 0
        return tuple(sizes)

    def data(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Array:
        """Numbers between the bounds, both included for integers."""
        rng = np.random.default_rng(self.integer(0, 10_000))
        return random_array(rng, dtype, shape, low, high)

    # ---- values

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def input(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Value:
        """A new graph input; its first dimension is open where the graph is dynamic."""
        open_batch = self.dynamic and len(shape) > 0 and not self.maybe(3)
        first = (_BATCH, *shape[1:]) if open_batch else tuple(shape)
        other = (_OTHER_BATCH, *shape[1:]) if open_batch else tuple(shape)
        one, two = self.data(dtype, first, low, high), self.data(dtype, other, low, high)
        value = Value(self._name("x"), tuple(two if world in (OTHER, OTHER_NOISY) else one for world in range(WORLDS)))
        if open_batch:
            self._dynamic_axes[value.name] = 0
        self.inputs.append(value)
        self.values.append(value)
        return value

    def constant(self, array: Any, dtype: str | None = None) -> Value:
        """An initializer, or a Constant node, or in rare cases a result that only constants lead to."""
        array = np.asarray(array, dtype) if dtype else np.asarray(array)
        array = np.asarray(array, order="C")
        value = Value(self._name("c"), (array,) * WORLDS, constant=True)
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
        return self.constant(self.data(dtype, shape, low, high))

    def operand(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Value:
        """A new value that is constant in most cases, and a graph input in others."""
        if self.maybe(3):
            shape = tuple(shape)
            value = self.data(dtype, shape, low, high)
            other = self.data(dtype, shape, low, high)
            made = Value(self._name("x"), (value, value, value, other, other))
            self.inputs.append(made)
            self.values.append(made)
            return made
        return self.constant_values(dtype, shape, low, high)

    def operand_of(self, numbers: Sequence[int]) -> Value:
        """Integers that steer an operator: constant, or in some cases a graph input."""
        return self.constant(numbers, "int64") if not self.maybe(6) else self._steering(np.asarray(numbers, np.int64))

    def constant_as_value(self, number: float) -> Value:
        return self.constant(number, "float32")

    def _steering(self, array: Array) -> Value:
        value = Value(self._name("x"), (array,) * WORLDS)
        self.inputs.append(value)
        return value

    def pick(
        self,
        dtypes: Sequence[str] = FLOATS[:1],
        low: int = 0,
        high: int = 5,
        where: Callable[[Value], bool] | None = None,
        shape: Sequence[int] | None = None,
    ) -> Value:
        """A value of one of the types and a rank between the bounds; mostly one that is there, the latest first."""
        fits = [
            v for v in reversed(self.values) if v.dtype in dtypes and low <= v.rank <= high and (not where or where(v))
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
        """A value of the same type that broadcasts with it."""
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
        """Adds a node; its first result. Raises Rejected."""
        return self.nodes_results(operator, *operands, outputs=outputs, **attributes)[0]

    def with_axes(self, operator: str, x: Value, axes: Sequence[int], **attributes: Any) -> Value:
        """A node whose axes are an attribute in old operator sets, an operand in new ones."""
        if self.opset < _AXES_AS_OPERAND.get(operator, 18):
            return self.node(operator, x, axes=list(axes) or None, **attributes)
        return self.node(operator, x, self.constant(list(axes), "int64"), **attributes)

    def nodes_results(
        self, operator: str, *operands: Value | None, outputs: int | Sequence[bool] = 1, **attributes: Any
    ) -> list[Value]:
        """Adds a node; all its results. `outputs` is their number, or which of them are named. Raises Rejected."""
        wanted = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = ["" if value is None else value.name for value in operands]
        while names and not names[-1]:
            names.pop()
        results = [self._name("v") if named else "" for named in wanted]
        attributes = {name: given for name, given in attributes.items() if given is not None}
        node = helper.make_node(operator, names, results, name=f"{operator}_{self._names}", **attributes)
        read = operand_names(node)
        known = {v.name: v for v in (*self.values, *(v for v in operands if v is not None))}
        worlds = evaluate(node, [known[name] for name in sorted(read)], self.opset, self._names)
        self.nodes.append(node)
        made = [Value(name, held) for name, held in zip(filter(None, results), worlds, strict=True)]
        self.values.extend(made)
        return made

    def attempt(self, add: Callable[[Builder, str], None], name: str) -> str:
        """Adds an operator by its function; where it is rejected, the graph stays as it was. The reason, or nothing."""
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

    # ---- the model

    def model(self) -> ModelProto:
        """The graph with its inputs and outputs declared, shapes inferred, checked. Raises Rejected."""
        used = {name for node in self.nodes for name in operand_names(node)}
        made = {name for node in self.nodes if node.op_type != "Constant" for name in node.output if name}
        leaves = [value for value in self.values if value.name in made and value.name not in used]
        inside = [value for value in self.values if value.name in made and value.name in used]
        outputs = leaves + [value for value in inside if self.maybe(8)]
        if not outputs:
            raise Rejected("no outputs")
        graph = helper.make_graph(
            self.nodes,
            "random",
            [self._declared(value) for value in self.inputs],
            [helper.make_tensor_value_info(v.name, _element(v), None) for v in outputs],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        return _inferred(model, {value.name: value.rank for value in outputs})

    def _declared(self, value: Value) -> onnx.ValueInfoProto:
        sizes: list[int | str] = list(value.shape)
        if value.name in self._dynamic_axes:
            sizes[0] = "batch"
        return helper.make_tensor_value_info(value.name, _element(value), sizes)

    def feeds(self, world: int = EXACT) -> dict[str, Array]:
        """The graph's inputs in one world."""
        return {value.name: value.worlds[world] for value in self.inputs}


def random_array(
    rng: np.random.Generator, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None
) -> Array:
    """Uniform numbers of a type; without bounds small ones around 0, a few of them 0 or whole."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.integers(0, 2, shape), bool)
    if kind in "iu":
        least = low if low is not None else (0 if kind == "u" else -8)
        numbers = np.asarray(rng.integers(int(least), int(9 if high is None else high) + 1, shape), dtype)
        wide = dtype == "int64" and low is None and rng.random() < 0.1  # some that int32 cannot hold
        return numbers * np.int64(2**33 + 1) if wide else numbers
    values = rng.uniform(-2 if low is None else low, 2 if high is None else high, shape)
    if low is None:
        values = np.where(rng.random(shape) < 0.1, np.round(values), values)
    return np.asarray(values, dtype)


def _broadcast(one: Sequence[int], other: Sequence[int]) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(tuple(one), tuple(other)))) <= 5000
    except ValueError:
        return False


def _element(value: Value) -> int:
    return helper.np_dtype_to_tensor_dtype(value.array.dtype)


def _inferred(model: ModelProto, ranks: dict[str, int]) -> ModelProto:
    """The model with the shapes of its outputs. Raises Rejected, and ValidationError where a graph is not valid."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        raise Rejected(f"onnx: {error}") from None
    for output in inferred.graph.output:
        tensor = output.type.tensor_type
        if not tensor.HasField("shape"):
            tensor.shape.SetInParent()
            for _ in range(ranks[output.name]):
                tensor.shape.dim.add()
    onnx.checker.check_model(inferred)
    del model.graph.output[:]
    model.graph.output.extend(inferred.graph.output)
    return model
