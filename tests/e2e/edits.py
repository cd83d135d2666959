"""Random edits of ONNX models: nodes between others, and more outputs, so that patterns of passes almost match."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
MAX_ELEMENTS = 300_000
"""Kind of the value at which an edit is made."""


class NotHere(Exception):
    """An edit is impossible for a value or the opset."""


class Place:
    """A float32 value of a model, and the nodes that an edit adds after it."""

    def __init__(self, name: str, array: Array, opset: int, rng: random.Random, number: int) -> None:
        self.name = name
        self.array = array
        self.opset = opset
        self.rng = rng
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._prefix = f"edit{number}"

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"{self._prefix}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def one(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add(operator, *inputs, **attributes)[0]

    def constant(self, data: npt.ArrayLike, dtype: npt.DTypeLike = np.int64) -> str:
        name = f"{self._prefix}_c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(data, dtype), name))
        return name

    def axis(self) -> int:
        """The channel dimension, or the last dimension."""
        if self.array.ndim < 2:
            raise NotHere
        return self.rng.choice((1, self.array.ndim - 1))


Edit = Callable[[Place], str]
"""Adds nodes. Returns the name of the value that replaces the original one."""


def unary(place: Place) -> str:
    return place.one(place.rng.choice(("Relu", "Neg", "Identity", "Sigmoid", "Tanh", "LeakyRelu", "Elu")), place.name)


def transposed(place: Place) -> str:
    """An operation and its inverse, with a node between them."""
    if place.array.ndim < 2:
        raise NotHere
    there = list(range(place.array.ndim))
    place.rng.shuffle(there)
    turned = place.one("Transpose", place.name, perm=there)
    between = place.one(place.rng.choice(("Relu", "Identity", "Abs", "Neg")), turned)
    return place.one("Transpose", between, perm=[int(axis) for axis in np.argsort(there)])


def with_number(place: Place) -> str:
    operator = place.rng.choice(("Mul", "Add", "Sub", "Div"))
    operands = [place.name, place.constant(place.rng.uniform(0.5, 1.5), np.float32)]
    if operator in ("Mul", "Add"):
        place.rng.shuffle(operands)
    return place.one(operator, *operands)


def with_channels(place: Place) -> str:
    """A value per channel, or per element of the last dimension."""
    axis, rank = place.axis(), place.array.ndim
    shape = [place.array.shape[axis] if index == axis else 1 for index in range(rank)]
    if axis == rank - 1 and place.rng.random() < 0.5:
        shape = shape[axis:]
    numbers = np.random.default_rng(place.rng.randint(0, 99)).uniform(0.5, 1.5, shape)
    return place.one(place.rng.choice(("Mul", "Add", "Sub")), place.name, place.constant(numbers, np.float32))


def with_itself(place: Place) -> str:
    if place.rng.random() < 0.5:
        return place.one("Mul", place.name, place.name)
    return place.one("Add", place.one("Relu", place.name), place.name)


def limited(place: Place) -> str:
    if place.opset < 11:
        return place.one("Clip", place.name, min=-0.5, max=0.8)
    return place.one("Clip", place.name, place.constant(-0.5, np.float32), place.constant(0.8, np.float32))


def joined_and_cut(place: Place) -> str:
    if place.opset < 10:
        raise NotHere
    axis = place.axis()
    size = place.array.shape[axis]
    twice = place.one("Concat", place.name, place.name, axis=axis)
    first = place.rng.randint(0, size)
    return place.one("Slice", twice, place.constant([first]), place.constant([first + size]), place.constant([axis]))


def split_and_joined(place: Place) -> str:
    axis = place.axis()
    size = place.array.shape[axis]
    if size < 2:
        raise NotHere
    sizes = [first := place.rng.randint(1, size - 1), size - first]
    operands = [place.constant(sizes)] if place.opset >= 13 else []
    attributes = {} if operands else {"split": sizes}
    parts = place.add("Split", place.name, *operands, outputs=2, axis=axis, **attributes)
    place.rng.shuffle(parts)
    return place.one("Concat", *parts, axis=axis)


def flattened(place: Place) -> str:
    if place.array.ndim == 0:
        raise NotHere
    flat = place.one("Flatten", place.name, axis=place.rng.randint(0, place.array.ndim))
    return place.one("Reshape", flat, place.one("Shape", place.name))


def with_a_dimension(place: Place) -> str:
    axes = [place.rng.randint(0, place.array.ndim)]
    operands = [place.constant(axes)] if place.opset >= 13 else []
    attributes = {} if operands else {"axes": axes}
    longer = place.one("Unsqueeze", place.name, *operands, **attributes)
    return place.one("Squeeze", place.one("Abs", longer), *operands, **attributes)


def padded_and_cropped(place: Place) -> str:
    if place.opset < 11 or place.array.ndim == 0:
        raise NotHere
    pads = np.array([place.rng.randint(0, 1) for _ in range(2 * place.array.ndim)])
    return place.one("Pad", place.one("Pad", place.name, place.constant(pads)), place.constant(-pads))


def shifted(place: Place) -> str:
    """Slices that remove a padding at the other end."""
    if place.opset < 11:
        raise NotHere
    axis, rank = place.axis(), place.array.ndim
    if place.array.shape[axis] < 2:
        raise NotHere
    pads = np.zeros(2 * rank, np.int64)
    pads[axis], pads[rank + axis] = 1, -1
    return place.one("Pad", place.name, place.constant(pads))


def pooled(place: Place) -> str:
    if place.array.ndim != 4:
        raise NotHere
    kind = place.rng.choice(("MaxPool", "AveragePool"))
    return place.one(kind, place.name, kernel_shape=[3, 3], pads=[1, 1, 1, 1])


def less_its_mean(place: Place) -> str:
    axes = [place.axis()]
    operands = [place.constant(axes)] if place.opset >= 18 else []
    attributes = {} if operands else {"axes": axes}
    return place.one("Sub", place.name, place.one("ReduceMean", place.name, *operands, keepdims=1, **attributes))


EDITS: tuple[Edit, ...] = (
    unary, transposed, with_number, with_channels, with_itself, limited, joined_and_cut, split_and_joined, flattened,
    with_a_dimension, padded_and_cropped, shifted, pooled, less_its_mean,
)  # fmt: skip
_RETURNED = "returned"


def edited(model: ModelProto, values: Mapping[str, Array], rng: random.Random) -> tuple[ModelProto, list[str]]:
    """Returns a copy of a model with one to four edits, and their descriptions.

    `values`: data of the float32 outputs of nodes, by name.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    del copy.graph.value_info[:]
    opset = max(entry.version for entry in copy.opset_import if entry.domain in ("", "ai.onnx"))
    names = [name for name, array in values.items() if 0 < array.size <= MAX_ELEMENTS]
    done: list[str] = []
    for number in range(min(rng.randint(1, 4), len(names))):
        name = names.pop(rng.randrange(len(names)))
        if rng.random() < 0.15:
            info = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * values[name].ndim)
            copy.graph.output.append(info)
            done.append(f"{name}: {_RETURNED}")
            continue
        place, edit = Place(name, values[name], opset, rng, number), rng.choice(EDITS)
        try:
            result = edit(place)
        except NotHere:
            continue
        if _insert(copy, place, result):
            done.append(f"{name}: {edit.__name__}")
    return copy, done


def _insert(model: ModelProto, place: Place, result: str) -> bool:
    """Inserts the nodes of an edit after the value, for one or all of its consumers. Returns False if it has none."""
    graph = model.graph
    readers = [(node, index) for node in graph.node for index, name in enumerate(node.input) if name == place.name]
    if not readers:
        return False
    for node, index in readers if place.rng.random() < 0.6 else [place.rng.choice(readers)]:
        node.input[index] = result
    behind = 1 + next(index for index, node in enumerate(graph.node) if place.name in node.output)
    for offset, node in enumerate(place.nodes):
        graph.node.insert(behind + offset, node)
    graph.initializer.extend(place.constants)
    return True
