"""Small graphs with one input, and their gradients: from the runtime, and by central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import mslite
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Shape, Value, constant
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.training import Loss, Optimizer, TrainSettings, training_graph

_CHANCE = [np.random.default_rng(11)]
STEP = 1e-6
"""A small step, because central differences are wrong near the kinks of maxima."""


@pytest.fixture(autouse=True)
def own_numbers(request: pytest.FixtureRequest) -> None:
    """Resets the random generator, so that a test does not depend on earlier tests."""
    _CHANCE[0] = np.random.default_rng(crc32(request.node.name.encode()))


def numbers(*shape: int, low: float = -1.5, high: float = 1.5) -> Array:
    return np.asarray(_CHANCE[0].uniform(low, high, shape), np.float32)


class Net:
    """A graph with one float32 input, to which nodes are added."""

    def __init__(self, shape: Shape) -> None:
        self.x = Value("x", DataType.FLOAT32, shape, format=Format.NHWC)
        self.graph = Graph("main_graph", [self.x])
        self.latest = self.x

    def add(self, op: Operator, *constants: Array, first: bool = False, twice: bool = False) -> Net:
        """Applies `op` to the latest value and constants; `first`: the constants come first; `twice`: the value is both inputs."""
        name = f"{op.name}_{len(self.graph.nodes)}"
        values = [constant(f"{name}/c{number}", data, Format.NHWC) for number, data in enumerate(constants)]
        own = [self.latest, self.latest] if twice else [self.latest]
        inputs = [*values, *own] if first else [*own, *values]
        self.latest = Value(name, DataType.FLOAT32, None, format=Format.NHWC)
        self.graph.nodes.append(Node(op, name, tuple(inputs), (self.latest,)))
        return self

    def module(self) -> Module:
        self.graph.outputs = [self.latest]
        return Module([self.graph])


def run(module: Module, file: Path, inputs: list[Array]) -> list[Array]:
    save(module, file)
    return run_file(file, inputs)


def run_file(file: Path, inputs: list[Array]) -> list[Array]:
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = model.get_inputs()
    for given, values in zip(tensors, inputs, strict=True):
        given.set_data_from_numpy(values)
    return [np.array(output.get_data_to_numpy()) for output in model.predict(tensors)]


def gradients(net: Net, x: Array, target: Array, file: Path) -> dict[str, Array]:
    """Returns the gradients of the mean squared error for each parameter, from the runtime."""
    made = training_graph(net.module(), TrainSettings(Loss.SQUARED, Optimizer.SGD, learning_rate=1.0))
    graph = made.module.main
    steps = {node.name: node.output for node in graph.nodes if node.name.endswith("/step")}
    graph.outputs = [steps[f"{name}/step"] for name in made.parameters]
    made.module.outputs = None
    found = run(made.module, file, [x, target])
    return dict(zip(made.parameters, found, strict=True))


def differences(forward: Callable[[Array], Array], weight: Array, target: Array) -> Array:
    """Returns the gradient of one parameter by central differences in float64."""
    weight, target = weight.astype(np.float64), target.astype(np.float64)
    found = np.zeros_like(weight)
    for place in np.ndindex(weight.shape):
        ends = []
        for sign in (1, -1):
            moved = weight.copy()
            moved[place] += sign * STEP
            ends.append(((forward(moved) - target) ** 2).mean())
        found[place] = (ends[0] - ends[1]) / (2 * STEP)
    return found
