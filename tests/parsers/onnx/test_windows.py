"""Convolutions, pooling and resizing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, NearestMode
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.parsers.onnx import parse

from .helper import check, make_model, node, one, operators, random


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 1], "pads": [1, 0, 2, 1]},
        {"dilations": [2, 2], "pads": [2, 2, 2, 2]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID"},
    ],
)
@pytest.mark.parametrize("group", [1, 2, 4])
def test_conv(attributes: dict[str, Any], group: int, tmp_path: Path) -> None:
    inputs = {"x": random(2, 4, 8, 9)}
    constants = {"w": random(8, 4 // group, 3, 2, seed=1), "b": random(8, seed=2)}
    check(one("Conv", inputs, constants, group=group, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"strides": [2], "pads": [1, 2]}, {"dilations": [3]}])
def test_conv_1d(attributes: dict[str, Any], tmp_path: Path) -> None:
    inputs = {"x": random(2, 4, 17)}
    check(one("Conv", inputs, {"w": random(6, 4, 3, seed=1)}, **attributes), inputs, tmp_path)


@pytest.mark.parametrize(
    "attributes", [{}, {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 2, 1]}, {"dilations": [2, 1, 1]}]
)
def test_conv_3d(attributes: dict[str, Any], tmp_path: Path) -> None:
    inputs = {"x": random(2, 4, 6, 5, 7)}
    constants = {"w": random(6, 2, 2, 3, 2, seed=1), "b": random(6, seed=2)}
    check(one("Conv", inputs, constants, group=2, **attributes), inputs, tmp_path)


def test_conv_with_a_computed_weight(tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 5, 5), "w": random(4, 3, 2, 2, seed=1)}
    nodes = [node("Neg", ["w"], ["v"]), node("Conv", ["x", "v"], ["y"])]
    check(make_model(nodes, inputs, ["y"]), inputs, tmp_path)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 0]},
        {"dilations": [2, 1]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [3, 2], "output_shape": [14, 11]},
    ],
)
@pytest.mark.parametrize("group", [1, 2])
def test_conv_transpose(attributes: dict[str, Any], group: int, tmp_path: Path) -> None:
    inputs = {"x": random(1, 4, 5, 6)}
    constants = {"w": random(4, 3, 3, 3, seed=1), "b": random(3 * group, seed=2)}
    check(one("ConvTranspose", inputs, constants, group=group, **attributes), inputs, tmp_path)


def test_weights_are_in_mindir_layout_and_shared() -> None:
    weight = random(8, 4, 3, 2)
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "w"], ["b"]), node("Add", ["a", "b"], ["y"])]
    module = parse(make_model(nodes, {"x": random(1, 4, 8, 8)}, ["y"], {"w": weight}))
    first, second = module.main.nodes[0], module.main.nodes[1]
    assert isinstance(first.op, Conv2DFusion)
    assert first.inputs[1] is second.inputs[1]
    np.testing.assert_array_equal(first.inputs[1].array(), weight.transpose(0, 2, 3, 1))
    assert first.op.kernel_size == (3, 2)
    assert (first.op.in_channel, first.op.out_channel) == (4, 8)


def test_pads_are_top_bottom_left_right() -> None:
    module = parse(one("Conv", {"x": random(1, 1, 8, 8)}, {"w": random(1, 1, 3, 3)}, pads=[1, 2, 3, 4]))
    op = module.main.nodes[0].op
    assert isinstance(op, Conv2DFusion)
    assert op.pad_list == (1, 3, 2, 4)


POOLS: list[dict[str, Any]] = [
    {"kernel_shape": [2, 3]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    {"kernel_shape": [3, 2], "strides": [3, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1},
    {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    {"kernel_shape": [2, 2], "dilations": [2, 3]},
]


@pytest.mark.parametrize("attributes", POOLS)
def test_max_pool(attributes: dict[str, Any], tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 10, 9)}
    check(one("MaxPool", inputs, opset=19, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("attributes", POOLS)
@pytest.mark.parametrize("include", [0, 1])
def test_average_pool(attributes: dict[str, Any], include: int, tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 10, 9)}
    check(one("AveragePool", inputs, opset=19, count_include_pad=include, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("name", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(("shape", "kernel"), [((2, 3, 11), [3]), ((2, 3, 6, 5, 7), [2, 3, 2])])
def test_pools_of_other_ranks(name: str, shape: tuple[int, ...], kernel: list[int], tmp_path: Path) -> None:
    inputs = {"x": random(*shape)}
    attributes = {"kernel_shape": kernel, "strides": [2] * len(kernel), "pads": [1] * (2 * len(kernel))}
    check(one(name, inputs, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("name", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("shape", [(2, 3, 7), (2, 3, 4, 5), (2, 3, 2, 3, 4)])
def test_global_pool(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": random(*shape)}
    check(one(name, inputs), inputs, tmp_path)


def test_lp_pool(tmp_path: Path) -> None:
    inputs = {"x": random(1, 2, 6, 6)}
    check(one("LpPool", inputs, opset=11, kernel_shape=[2, 2], strides=[2, 2], p=3), inputs, tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize("size", [(10, 14), (3, 4), (5, 7)])
def test_resize(mode: str, coordinates: str, size: tuple[int, int], tmp_path: Path) -> None:
    inputs = {"x": random(1, 2, 5, 7)}
    constants = {"sizes": np.array((1, 2, *size), np.int64)}
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], mode=mode, coordinate_transformation_mode=coordinates)]
    check(make_model(nodes, inputs, ["y"], constants), inputs, tmp_path)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize(
    ("coordinates", "size", "repeats"),
    [("half_pixel", (10, 21), True), ("half_pixel", (10, 20), False), ("asymmetric", (9, 21), False)],
)
def test_nearest(nearest: str, coordinates: str, size: tuple[int, int], repeats: bool, tmp_path: Path) -> None:
    """To MindSpore Lite's kernel, NEAREST with ASYMMETRIC is floor: nothing else is written so."""
    inputs = {"x": random(1, 2, 5, 7)}
    constants = {"sizes": np.array((1, 2, *size), np.int64)}
    attributes = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
    model = make_model([node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)], inputs, ["y"], constants)
    (op,) = (found.op for found in parse(model).main.nodes)
    if coordinates == "asymmetric":
        assert isinstance(op, Resize) == (nearest == "floor")
    elif repeats and nearest.startswith("round"):
        assert isinstance(op, Resize)
        assert op.coordinate_transform_mode is CoordinateTransformMode.ASYMMETRIC
        assert op.nearest_mode is NearestMode.FLOOR
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 1.7, 0.6)])
def test_resize_by_scales(scales: tuple[float, ...], tmp_path: Path) -> None:
    inputs = {"x": random(1, 2, 5, 7)}
    constants = {"scales": np.array(scales, np.float32)}
    nodes = [node("Resize", ["x", "", "scales"], ["y"], mode="linear")]
    check(make_model(nodes, inputs, ["y"], constants), inputs, tmp_path)


def test_upsample_of_opset_9_maps_asymmetrically(tmp_path: Path) -> None:
    inputs = {"x": random(1, 2, 3, 3)}
    constants = {"s": np.array([1, 1, 2, 2], np.float32)}
    model = one("Upsample", inputs, constants, opset=9, mode="nearest")
    assert operators(parse(model)) == ["Resize"]
    check(model, inputs, tmp_path)
