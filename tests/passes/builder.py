"""Builds small graphs for the tests of passes, and runs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes import native_rules
from mslite.converter.verify.interpreter import run_graph


def integers(*items: int) -> Array:
    return np.array(items, np.int32)


def numbers(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Returns random float32 values with a fixed seed, none of them near 0."""
    draw = np.random.default_rng([seed, *shape])
    result: npt.NDArray[np.float32] = (draw.uniform(0.25, 1.5, shape) * draw.choice([-1.0, 1.0], shape)).astype(
        np.float32
    )
    return result


class Builder:
    """A graph under construction. Every call infers data type and shape of the output."""

    def __init__(self) -> None:
        self.graph = Graph("main_graph")
        self._count = 0

    def input(self, *shape: int, dtype: type[np.generic] = np.float32) -> Value:
        value = Value(f"in{len(self.graph.inputs)}", data_type_of(np.dtype(dtype)), shape)
        self.graph.inputs.append(value)
        return value

    def call(self, op: Operator, *operands: Value | npt.ArrayLike, outputs: int = 1) -> Value:
        """Adds a node and returns its first output; arrays and numbers become constants."""
        return self.calls(op, *operands, outputs=outputs)[0]

    def calls(self, op: Operator, *operands: Value | npt.ArrayLike, outputs: int) -> tuple[Value, ...]:
        self._count += 1
        name = f"n{self._count}"
        inputs = [
            item if isinstance(item, Value) else constant(f"{name}_c{index}", np.asarray(item))
            for index, item in enumerate(operands)
        ]
        facts = [native_rules.NativeTensorFacts(value.dtype, value.shape, None, value.data) for value in inputs]
        results, _ = native_rules.infer(op, facts, outputs, -(1 << 41) - self._count * 1000)
        values = tuple(Value(f"{name}_{i}", result.dtype, result.shape) for i, result in enumerate(results))
        self.graph.nodes.append(Node(op, name, tuple(inputs), values))
        return values

    def module(self, *outputs: Value) -> Module:
        self.graph.outputs = list(outputs)
        return Module([self.graph])


def operators(module: Module) -> list[str]:
    return [node.op.name for node in module.main.nodes]


def run(module: Module, seed: int = 1) -> list[Array]:
    """Returns the outputs for random inputs with a fixed seed; symbols become 2."""
    contents = run_all(module, seed)
    return [contents[value] if value.data is None else value.data for value in module.main.outputs]


def run_all(module: Module, seed: int = 1) -> dict[Value, Array]:
    """Like `run`, but returns every value."""
    inputs: dict[str, Array] = {}
    for index, value in enumerate(module.main.inputs):
        shape = tuple(size if size >= 0 else 2 for size in value.shape or ())
        if value.dtype is DataType.FLOAT32:
            inputs[value.name] = numbers(*shape, seed=seed + index)
        elif value.dtype in (DataType.INT8, DataType.UINT8):
            draw = np.random.default_rng(seed + index)
            inputs[value.name] = draw.integers(0, 128, shape).astype(
                np.int8 if value.dtype is DataType.INT8 else np.uint8
            )
        else:
            inputs[value.name] = np.zeros(shape, np.int64 if value.dtype is DataType.INT64 else np.int32)
    return run_graph(module.main, inputs)


def assert_close(got: Sequence[Array], want: Sequence[Array], tolerance: float = 2e-5) -> None:
    """Returns whether shapes are equal and values are within `tolerance` of the largest magnitude."""
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        assert mine.shape == theirs.shape
        scale = max(float(np.abs(theirs).max(initial=0)), 1e-3)
        np.testing.assert_allclose(mine.astype(np.float64), theirs.astype(np.float64), rtol=0, atol=tolerance * scale)
