"""Operators that onnxruntime has for GPUs only, or not at all, on drawn shapes, against its standard operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from tests.foreign.graph import Graph
from tests.kernels.random_calls import Draw, normal

from .helper import Array, check
from .microsoft import foreign

pytest.importorskip("onnxruntime", reason="onnxruntime, the foreign runtime of these tests, is not installed")

Case = tuple[ModelProto, dict[str, Array], list[Array]]
"""A model, its inputs, and what is wanted."""


def _image(draw: Draw, channels: int) -> Array:
    return normal(draw, (draw(st.integers(1, 2)), draw(st.integers(3, 8)), draw(st.integers(3, 8)), channels))


@st.composite
def convolution(draw: Draw) -> Case:
    group = draw(st.sampled_from((1, 1, 2)))
    x = _image(draw, group * draw(st.integers(1, 4)))
    kernel = [draw(st.integers(1, 3)) for _ in range(2)]
    outputs = group * draw(st.integers(1, 4))
    weight = normal(draw, (outputs, *kernel, x.shape[3] // group), -0.5, 0.5)
    constants = {"w": weight} | ({"b": normal(draw, (outputs,))} if draw(st.booleans()) else {})
    windows: dict[str, Any] = {"strides": [draw(st.integers(1, 2)) for _ in range(2)], "group": group}
    windows |= {"pads": [draw(st.integers(0, 1)) for _ in range(4)], "kernel_shape": kernel}
    graph = Graph()
    first = [np.moveaxis(array, -1, 1) for array in (x, weight)]
    y = graph("Transpose", graph("Conv", *first, constants.get("b"), **windows), perm=[0, 2, 3, 1])
    return foreign("NhwcConv", {"x": x}, constants, **windows), {"x": x}, graph.run(y)


@st.composite
def group_norm(draw: Draw) -> Case:
    groups = draw(st.integers(1, 4))
    x = _image(draw, groups * draw(st.integers(1, 4)))
    batch, *_, channels = x.shape
    skip = normal(draw, draw(st.sampled_from((x.shape, (batch, 1, 1, channels), (batch, channels)))), -1, 1)
    inputs = {"x": x, "skip": skip}
    constants = {"g": normal(draw, (channels,), 0.5, 2), "b": normal(draw, (channels,))}
    if draw(st.booleans()):
        constants["bias"] = normal(draw, (channels,), -1, 1)
    attributes = {"epsilon": 1e-2, "groups": groups, "activation": draw(st.integers(0, 1))}
    order = ["x", "g", "b", "skip", "bias"]
    model = foreign("SkipGroupNorm", inputs, constants, 2, order=order, channels_last=1, **attributes)
    graph = Graph(21)
    wide = graph("Unsqueeze", skip, np.array([1, 2])) if skip.ndim == 2 else skip
    total = graph("Add", x, wide)
    total = graph("Add", total, constants["bias"]) if "bias" in constants else total
    first = graph("Transpose", total, perm=[0, 3, 1, 2])
    scales = constants["g"], constants["b"]
    y = graph("GroupNormalization", first, *scales, epsilon=1e-2, num_groups=groups)
    y = graph("Mul", y, graph("Sigmoid", y)) if attributes["activation"] else y
    return model, inputs, graph.run(graph("Transpose", y, perm=[0, 2, 3, 1]), total)


@st.composite
def position_bias(draw: Draw) -> Case:
    """T5's buckets: exact distances, then ever longer stretches, told by the distances at which they begin."""
    both = draw(st.integers(0, 1))
    buckets, heads = draw(st.sampled_from((8, 16, 32))), draw(st.integers(1, 4))
    limit = draw(st.sampled_from((20, 64, 128)))
    table = normal(draw, (buckets, heads))
    length = draw(st.integers(1, 40))
    half = buckets // 2 if both else buckets
    exact = half // 2
    steps = half - exact
    begins = [exact * (limit / exact) ** (step / steps) for step in range(1, steps)]
    graph = Graph()
    places = graph("Range", np.int64(0), np.int64(length), np.int64(1))
    rows, columns = (graph("Unsqueeze", places, np.array([axis])) for axis in (1, 0))
    apart = graph("Sub", columns, rows)
    distance = graph("Abs", apart) if both else graph("Max", graph("Neg", apart), 0)
    reached = graph("Cast", graph("Unsqueeze", distance, np.array([2])), to=11)  # in float64
    beyond = graph("GreaterOrEqual", reached, np.array(begins) * (1 - 1e-9))
    passed = graph("ReduceSum", graph("Cast", beyond, to=7), np.array([2]), keepdims=0)
    bucket = graph("Add", graph("Min", distance, exact), passed)
    bucket = (
        graph("Add", bucket, graph("Mul", graph("Cast", graph("Greater", apart, 0), to=7), half)) if both else bucket
    )
    y = graph("Unsqueeze", graph("Transpose", graph("Gather", table, bucket), perm=[2, 0, 1]), np.array([0]))
    inputs = {"table": table}
    lengths = {"q": np.array(length), "k": np.array(length)}
    attributes = {"max_distance": limit, "is_bidirectional": both}
    return foreign("RelativePositionBias", inputs, lengths, **attributes), inputs, graph.run(y)


@st.composite
def affine(draw: Draw) -> Case:
    x = normal(draw, tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))))
    numbers = {key: draw(st.sampled_from((0.5, -2.0, 1.0))) for key in ("alpha", "beta")}
    graph = Graph()
    y = graph("Add", graph("Mul", x, numbers["alpha"]), numbers["beta"])
    return foreign("Affine", {"x": x}, domain="", opset=9, **numbers), {"x": x}, graph.run(y)


@st.composite
def splice(draw: Draw) -> Case:
    x = normal(draw, (draw(st.integers(1, 2)), draw(st.integers(1, 6)), draw(st.integers(1, 4))))
    width, count = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rows = [draw(st.integers(0, x.shape[1] - 1)) for _ in range(width * count)]
    attributes = {"context": list(range(width)), "forward_indexes": rows, "output_dim": width * x.shape[2]}
    graph = Graph()
    columns = [graph("Gather", x, np.array(rows[at::width]), axis=1) for at in range(width)]
    return foreign("Splice", {"x": x}, domain="", **attributes), {"x": x}, graph.run(graph("Concat", *columns, axis=2))


STRATEGIES = {
    "NhwcConv": convolution(),
    "SkipGroupNorm": group_norm(),
    "RelativePositionBias": position_bias(),
    "Affine": affine(),
    "Splice": splice(),
}


@pytest.mark.parametrize("operator", STRATEGIES)
def test_same_as_standard_operators(operator: str, tmp_path: Path) -> None:
    @settings(
        max_examples=20, derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(STRATEGIES[operator])
    def run(case: Case) -> None:
        model, inputs, wanted = case
        check(model, inputs, tmp_path, 3e-5, wanted)

    run()
