"""Whole one-node models of random shapes, from ONNX through the converter to the runtime, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from tests.parsers.onnx.helper import check, one

from .random_calls import Draw, axes_of, axis_of, broadcast_pair, ints, normal, shapes

pytest.importorskip("onnxruntime", reason="onnxruntime, the foreign runtime of these tests, is not installed")

BOUNDED = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
Case = tuple[ModelProto, dict[str, Any]]


def _window(draw: Draw, dilated: bool) -> tuple[dict[str, Any], tuple[int, int]]:
    """ONNX's attributes of a window, and an image size that holds one."""
    kernel = [draw(st.integers(1, 4)) for _ in range(2)]
    dilations = [draw(st.integers(1, 2)) if dilated else 1 for _ in range(2)]
    pads = [draw(st.integers(0, (kernel[i % 2] - 1) // 2)) for i in range(4)]
    attributes: dict[str, Any] = {"strides": [draw(st.integers(1, 3)) for _ in range(2)], "pads": pads}
    attributes["kernel_shape"] = kernel
    if dilated:
        attributes["dilations"] = dilations
    least = [(kernel[i] - 1) * dilations[i] + 1 for i in range(2)]
    return attributes, (least[0] + draw(st.integers(0, 6)), least[1] + draw(st.integers(0, 6)))


@st.composite
def convolution(draw: Draw) -> Case:
    attributes, size = _window(draw, dilated=True)
    group = draw(st.sampled_from((1, 1, 2, 4)))
    channels, outputs = group * draw(st.integers(1, 5)), group * draw(st.integers(1, 5))
    transposed = draw(st.integers(0, 2)) == 0
    x = normal(draw, (draw(st.integers(1, 2)), channels, *size))
    first = (channels, outputs // group) if transposed else (outputs, channels // group)
    constants = {"w": normal(draw, (*first, *attributes["kernel_shape"]), -0.5, 0.5), "b": normal(draw, (outputs,))}
    operator = "ConvTranspose" if transposed else "Conv"
    return one(operator, {"x": x}, constants, group=group, **attributes), {"x": x}


@st.composite
def pooling(draw: Draw) -> Case:
    attributes, size = _window(draw, dilated=False)
    x = normal(draw, (draw(st.integers(1, 2)), draw(st.integers(1, 9)), *size))
    if draw(st.booleans()):
        return one("MaxPool", {"x": x}, ceil_mode=0, **attributes), {"x": x}
    return one("AveragePool", {"x": x}, count_include_pad=draw(st.integers(0, 1)), **attributes), {"x": x}


@st.composite
def broadcast(draw: Draw) -> Case:
    a, b = broadcast_pair(draw)
    inputs = {"a": normal(draw, a), "b": normal(draw, b)}
    return one(draw(st.sampled_from(("Add", "Sub", "Mul", "Less", "Greater"))), inputs), inputs


@st.composite
def product(draw: Draw) -> Case:
    batch_a, batch_b = broadcast_pair(draw)
    m, k, n = (draw(st.integers(1, 9)) for _ in range(3))
    a, b = (
        normal(draw, (*[max(1, s) for s in batch_a[-2:]], m, k)),
        normal(draw, (*[max(1, s) for s in batch_b[-2:]], k, n)),
    )
    return one("MatMul", {"a": a}, {"b": b}), {"a": a}


@st.composite
def reduction(draw: Draw) -> Case:
    x = normal(draw, draw(shapes(1, 5, 1, 5)))
    axes = list(axes_of(draw, x.ndim, 1))
    operator = draw(st.sampled_from(("ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp")))
    return one(operator, {"x": x}, axes=axes, keepdims=draw(st.integers(0, 1))), {"x": x}


@st.composite
def along_an_axis(draw: Draw) -> Case:
    x = normal(draw, draw(shapes(1, 4, 1, 6)))
    axis = axis_of(draw, x.ndim)
    operator = draw(st.sampled_from(("Softmax", "LogSoftmax", "ArgMax", "LayerNormalization", "TopK", "CumSum")))
    if operator == "LayerNormalization":
        scale = normal(draw, x.shape[axis:])
        return one(operator, {"x": x}, {"s": scale, "b": scale * 0.5}, axis=axis, epsilon=1e-2), {"x": x}
    if operator == "TopK":
        k = ints(draw(st.integers(1, x.shape[axis])), dtype="int64")
        return one(operator, {"x": x}, {"k": k}, outputs=2, axis=axis), {"x": x}
    if operator == "CumSum":
        return one(operator, {"x": x}, {"axis": ints(axis)}, reverse=draw(st.integers(0, 1))), {"x": x}
    return one(operator, {"x": x}, axis=axis), {"x": x}


@st.composite
def movement(draw: Draw) -> Case:
    x = normal(draw, draw(shapes(1, 5, 1, 5)))
    inputs = {"x": x}
    operator = draw(st.sampled_from(("Transpose", "Concat", "Slice", "Pad", "Tile", "Gather", "Expand")))
    if operator == "Transpose":
        return one(operator, inputs, perm=draw(st.permutations(range(x.ndim)))), inputs
    if operator == "Concat":
        return one(operator, inputs, {"y": normal(draw, x.shape)}, axis=axis_of(draw, x.ndim)), inputs
    if operator == "Slice":
        axes = axes_of(draw, x.ndim, 1)
        bounds = [[draw(st.integers(-7, 7)) for _ in axes] for _ in range(2)]
        steps = [draw(st.sampled_from((1, 2, -1, -2))) for _ in axes]
        names = {"b": bounds[0], "e": bounds[1], "a": axes, "s": steps}
        return one(operator, inputs, {key: ints(*each, dtype="int64") for key, each in names.items()}), inputs
    if operator == "Pad":
        mode = draw(st.sampled_from(("constant", "reflect", "edge")))
        limits = [size - 1 if mode == "reflect" else 3 for size in x.shape] * 2
        pads = ints(*(draw(st.integers(0, limit)) for limit in limits), dtype="int64")
        return one(operator, inputs, {"p": pads}, mode=mode), inputs
    if operator == "Tile":
        return one(operator, inputs, {"r": ints(*(draw(st.integers(1, 3)) for _ in x.shape), dtype="int64")}), inputs
    if operator == "Expand":
        grown = [draw(st.integers(1, 3)) if size == 1 else size for size in x.shape]
        return one(operator, inputs, {"s": ints(draw(st.integers(1, 2)), *grown, dtype="int64")[x.ndim == 5 :]}), inputs
    axis = axis_of(draw, x.ndim)
    indices = [draw(st.integers(-x.shape[axis], x.shape[axis] - 1)) for _ in range(draw(st.integers(1, 4)))]
    return one(operator, inputs, {"i": ints(*indices, dtype="int64")}, axis=axis), inputs


@st.composite
def resizing(draw: Draw) -> Case:
    x = normal(draw, (1, draw(st.integers(1, 4)), draw(st.integers(1, 7)), draw(st.integers(1, 7))))
    sizes = ints(1, x.shape[1], draw(st.integers(1, 9)), draw(st.integers(1, 9)), dtype="int64")
    mode = draw(st.sampled_from(("nearest", "linear")))
    coordinates = draw(st.sampled_from(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")))
    empty = np.zeros(0, np.float32)
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": "floor"}
    return one("Resize", {"x": x}, {"roi": empty, "scales": empty, "sizes": sizes}, **attributes), {"x": x}


STRATEGIES = {
    "convolution": convolution(),
    "pooling": pooling(),
    "broadcast": broadcast(),
    "product": product(),
    "reduction": reduction(),
    "along_an_axis": along_an_axis(),
    "movement": movement(),
    "resizing": resizing(),
}


@pytest.mark.parametrize("family", STRATEGIES)
def test_family(family: str, tmp_path: Path) -> None:
    @BOUNDED
    @given(STRATEGIES[family])
    def run(case: Case) -> None:
        model, inputs = case
        check(model, inputs, tmp_path, tolerance=3e-5)

    run()
