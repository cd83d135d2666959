"""Rearranging, joining, cutting, padding and indexing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.mindir.graph import is_symbol
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, make_model, node, one, operators, random

LONG = np.int64


def ints(*values: int) -> Array:
    return np.array(values, LONG)


@pytest.mark.parametrize(
    ("name", "constants", "attributes", "opset"),
    [
        ("Reshape", {"s": ints(0, -1)}, {}, 17),
        ("Reshape", {"s": ints(4, 3, 2)}, {"allowzero": 1}, 17),
        ("Flatten", {}, {"axis": 2}, 17),
        ("Flatten", {}, {"axis": 0}, 17),
        ("Flatten", {}, {"axis": -1}, 17),
        ("Transpose", {}, {}, 17),
        ("Transpose", {}, {"perm": [1, 2, 0]}, 17),
        ("Unsqueeze", {"a": ints(-1, 0)}, {}, 17),
        ("Unsqueeze", {}, {"axes": [0, 3]}, 11),
        ("Tile", {"r": ints(1, 2, 3)}, {}, 17),
        ("Expand", {"s": ints(5, 1, 3, 1)}, {}, 17),
        ("Shape", {}, {"start": 1}, 17),
        ("Shape", {}, {"start": -2, "end": -1}, 17),
        ("Size", {}, {}, 17),
        ("Slice", {}, {"starts": [1, -2], "ends": [1000, -1], "axes": [1, 2]}, 9),
        ("Slice", {"b": ints(0, 1), "e": ints(2, 2**62)}, {}, 17),
        ("Slice", {"b": ints(-1), "e": ints(-(2**62)), "a": ints(2), "s": ints(-2)}, {}, 17),
        ("Pad", {}, {"pads": [0, 1, 0, 2, 0, 1], "value": 1.5}, 10),
        ("Pad", {"p": ints(0, 1, 0, 2, 0, 1), "v": np.array(0.5, np.float32)}, {}, 17),
        ("Pad", {"p": ints(0, 1, 1, 0, 2, 2)}, {"mode": "reflect"}, 17),
        ("Pad", {"p": ints(1, 0, 2, 0, 2, 1)}, {"mode": "edge"}, 17),
        ("Pad", {"p": ints(1, 0, 2, 0, 2, 1)}, {"mode": "wrap"}, 19),
        ("Pad", {"p": ints(0, -1, 0, 0, 0, 2)}, {}, 17),
        ("Trilu", {}, {}, 17),
        ("Trilu", {"k": np.array(1, LONG)}, {"upper": 0}, 17),
        ("Gather", {"i": ints(0, -1, 1)}, {"axis": 2}, 17),
        ("GatherND", {"i": np.array([[0, 1], [1, -1]], LONG)}, {}, 17),
        ("GatherND", {"i": np.array([[[0]], [[2]]], LONG)}, {"batch_dims": 1}, 17),
        ("GatherElements", {"i": np.array([[[0, 1, -1, 2]]] * 2, LONG)}, {"axis": 1}, 17),
        ("Identity", {}, {}, 17),
    ],
)
def test_one_node(
    name: str, constants: dict[str, Array], attributes: dict[str, Any], opset: int, tmp_path: Path
) -> None:
    inputs = {"x": random(2, 3, 4)}
    check(one(name, inputs, constants, opset=opset, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("axes", [None, [0], [-1, 0]])
@pytest.mark.parametrize("opset", [11, 17])
def test_squeeze(axes: list[int] | None, opset: int, tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 1)}
    constants = {"a": ints(*axes)} if axes is not None and opset >= 13 else {}
    attributes = {"axes": axes} if axes is not None and opset < 13 else {}
    check(one("Squeeze", inputs, constants, opset=opset, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("name", ["Squeeze", "Unsqueeze"])
def test_axes_known_only_when_running(name: str, tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 1, 4), "a": ints(2, 0)}
    check(one(name, inputs), inputs, tmp_path)


@pytest.mark.parametrize(
    ("opset", "sizes", "attributes"),
    [(11, None, {}), (11, None, {"split": [2, 4]}), (17, [1, 5], {}), (18, None, {"num_outputs": 2})],
)
def test_split(opset: int, sizes: list[int] | None, attributes: dict[str, Any], tmp_path: Path) -> None:
    inputs = {"x": random(2, 6)}
    constants = {"s": ints(*sizes)} if sizes else {}
    check(one("Split", inputs, constants, opset=opset, outputs=2, axis=1, **attributes), inputs, tmp_path)


def test_split_of_an_odd_length_leaves_a_short_part(tmp_path: Path) -> None:
    inputs = {"x": random(7, 2)}
    check(one("Split", inputs, opset=18, outputs=3, num_outputs=3), inputs, tmp_path)


def test_split_by_computed_sizes(tmp_path: Path) -> None:
    inputs = {"x": random(2, 6), "s": ints(2, 3, 1)}
    check(one("Split", inputs, outputs=3, axis=1), inputs, tmp_path)


def test_pad_of_chosen_axes(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 4)}
    constants = {"p": ints(1, 2), "v": np.array(0, np.float32), "a": ints(-1)}
    check(one("Pad", inputs, constants, opset=18), inputs, tmp_path)
    check(
        one("Pad", inputs | {"p": ints(1, 2)}, {"v": constants["v"], "a": ints(1)}, opset=18),
        inputs | {"p": ints(1, 2)},
        tmp_path,
    )


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("name", ["ScatterElements", "ScatterND"])
def test_scatter(name: str, reduction: str, tmp_path: Path) -> None:
    inputs = {"x": random(4, 3)}
    indices = np.array([[0, 2, 1]], LONG) if name == "ScatterElements" else np.array([[2], [0]], LONG)
    updates = random(1, 3, seed=1) if name == "ScatterElements" else random(2, 3, seed=1)
    check(one(name, inputs, {"i": indices, "u": updates}, opset=18, reduction=reduction), inputs, tmp_path)


@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot_counts_negative_indices_from_the_end(axis: int, tmp_path: Path) -> None:
    inputs = {"i": np.array([0, 2, -1, 5], LONG)}
    constants = {"d": np.array(4, LONG), "v": np.array([-1, 3], np.float32)}
    check(one("OneHot", inputs, constants, axis=axis), inputs, tmp_path)


def test_results_whose_size_depends_on_values(tmp_path: Path) -> None:
    inputs = {"x": np.array([[0, 1, 2], [3, 0, 0]], np.float32), "c": np.array([True, False, True])}
    nodes = [node("NonZero", ["x"], ["n"]), node("Compress", ["x", "c"], ["y"], axis=1)]
    check(make_model(nodes, inputs, ["n", "y"]), inputs, tmp_path)


def test_created_tensors(tmp_path: Path) -> None:
    inputs = {"n": np.array(5, LONG), "s": ints(2, 3)}
    nodes = [
        node("ConstantOfShape", ["s"], ["c"]),
        node("Constant", [], ["zero"], value_int=0),
        node("Constant", [], ["two"], value_int=2),
        node("Range", ["zero", "n", "two"], ["r"]),
        node("EyeLike", ["c"], ["e"], k=1),
    ]
    check(make_model(nodes, inputs, ["c", "r", "e"]), inputs, tmp_path)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str, tmp_path: Path) -> None:
    inputs = {"x": random(1, 8, 2, 3)}
    check(one("DepthToSpace", inputs, blocksize=2, mode=mode), inputs, tmp_path)
    check(one("SpaceToDepth", {"x": random(1, 2, 4, 6)}, blocksize=2), {"x": random(1, 2, 4, 6)}, tmp_path)


def test_equal_dimension_names_are_equal_symbols() -> None:
    inputs = {"a": random(2, 3), "b": random(2, 4)}
    module = parse(make_model([node("Neg", ["a"], ["y"])], inputs, ["y"], shapes={"a": ["n", 3], "b": ["n", "m"]}))
    first, second = module.main.inputs
    assert first.shape is not None
    assert second.shape is not None
    assert is_symbol(first.shape[0])
    assert first.shape[0] == second.shape[0] != second.shape[1]
    fixed = parse(make_model([node("Neg", ["a"], ["y"])], inputs, ["y"], shapes={"a": ["n", 3]}), {"a": (7, 3)})
    assert fixed.main.inputs[0].shape == (7, 3)


def test_fixed_shape_chains_are_constants() -> None:
    """The way exporters spell x.view(x.size(0), -1)."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Unsqueeze", ["n"], ["u"], axes=[0]),
        node("Concat", ["u", "rest"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["y"]),
    ]
    constants = {"zero": np.array(0, LONG), "rest": ints(-1)}
    module = parse(make_model(nodes, {"x": random(2, 3, 4)}, ["y"], constants, opset=11))
    assert operators(module) == ["Reshape"]
    np.testing.assert_array_equal(module.main.nodes[0].inputs[1].array(), [2, -1])


def test_an_output_that_is_an_input_has_its_own_name() -> None:
    module = parse(make_model([node("Identity", ["x"], ["y"])], {"x": random(2)}, ["y"]))
    assert [value.name for value in module.main.outputs] == ["y"]
    assert [value.name for value in module.main.inputs] == ["x"]
