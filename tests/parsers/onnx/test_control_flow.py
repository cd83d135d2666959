"""If, Loop and Scan in the forms that the tests of other files do not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, TensorProto, helper

from .helper import Array, check, make_model, node, random

INT, BOOL, FLOAT = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
Info = tuple[str, int, list[int | str] | None]


def body(name: str, nodes: list[object], inputs: list[Info], outputs: list[Info]) -> GraphProto:
    infos = [[helper.make_tensor_value_info(*entry) for entry in entries] for entries in (inputs, outputs)]
    return helper.make_graph(nodes, name, *infos)  # type: ignore[arg-type]


ITERATION: list[Info] = [("i", INT, []), ("go", BOOL, [])]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_loop_with_a_computed_trip_count_and_scan_outputs_of_unknown_size(count: int, tmp_path: Path) -> None:
    """Each slice has the shape of the carried value, which onnx does not infer inside of a body."""
    nodes = [
        node("Identity", ["go"], ["go_on"]),
        node("Mul", ["x", "x"], ["next"]),
        node("Add", ["x", "outer"], ["slice"]),
    ]
    graph = body(
        "body",
        nodes,
        [*ITERATION, ("x", FLOAT, None)],
        [("go_on", BOOL, []), ("next", FLOAT, None), ("slice", FLOAT, None)],
    )
    inputs: dict[str, Array] = {"count": np.array(count), "start": random(2, 3), "outer": random(3, seed=1)}
    loop = node("Loop", ["count", "", "start"], ["last", "slices"], body=graph)
    model = make_model([loop], inputs, ["last", "slices"])
    if count == 0:  # without a slice nothing tells its shape
        model = make_model([loop], inputs, ["last"])
    check(model, inputs, tmp_path, tolerance=1e-4)


def test_loop_that_its_condition_ends(tmp_path: Path) -> None:
    nodes = [
        node("Add", ["total", "x"], ["next"]),
        node("ReduceSum", ["next"], ["sum"], keepdims=0),
        node("Less", ["sum", "limit"], ["go_on"]),
    ]
    graph = body(
        "body",
        nodes,
        [*ITERATION, ("total", FLOAT, [2])],
        [("go_on", BOOL, []), ("next", FLOAT, [2]), ("sum", FLOAT, [])],
    )
    loop = node("Loop", ["", "yes", "zeros"], ["last", "sums"], body=graph)
    inputs = {"x": np.array([1.5, 2], np.float32), "limit": np.array(20, np.float32)}
    constants = {"yes": np.array(True), "zeros": np.zeros(2, np.float32)}
    check(make_model([loop], inputs, ["last", "sums"], constants), inputs, tmp_path)


def test_nested_loops(tmp_path: Path) -> None:
    """The inner body reads the counter of the outer one and a value from outside of both."""
    inner_nodes = [
        node("Identity", ["inner_go"], ["inner_go_on"]),
        node("Cast", ["i"], ["outer_float"], to=FLOAT),
        node("Add", ["inner_x", "outer_float"], ["shifted"]),
        node("Mul", ["shifted", "factor"], ["inner_next"]),
    ]
    inner = body(
        "inner",
        inner_nodes,
        [("inner_i", INT, []), ("inner_go", BOOL, []), ("inner_x", FLOAT, [3])],
        [("inner_go_on", BOOL, []), ("inner_next", FLOAT, [3])],
    )
    nodes = [
        node("Identity", ["go"], ["go_on"]),
        node("Loop", ["two", "", "x"], ["next"], body=inner),
        node("ReduceMax", ["next"], ["slice"], keepdims=0),
    ]
    graph = body(
        "outer",
        nodes,
        [*ITERATION, ("x", FLOAT, [3])],
        [("go_on", BOOL, []), ("next", FLOAT, [3]), ("slice", FLOAT, [])],
    )
    inputs = {"start": random(3), "factor": np.array([0.5, -0.5, 1], np.float32)}
    constants = {"two": np.array(2), "three": np.array(3)}
    loop = node("Loop", ["three", "", "start"], ["last", "slices"], body=graph)
    check(make_model([loop], inputs, ["last", "slices"], constants), inputs, tmp_path)


@pytest.mark.parametrize("condition", [True, False])
def test_if_whose_branches_give_different_shapes(condition: bool, tmp_path: Path) -> None:
    then_branch = body("then", [node("Identity", ["x"], ["a"])], [], [("a", FLOAT, None)])
    else_branch = body("else", [node("Concat", ["x", "x", "y"], ["b"], axis=0)], [], [("b", FLOAT, None)])
    choice = node("If", ["condition"], ["z"], then_branch=then_branch, else_branch=else_branch)
    inputs = {"condition": np.array(condition), "x": random(2, 3), "y": random(1, 3, seed=1)}
    check(make_model([choice, node("Neg", ["z"], ["w"])], inputs, ["w"]), inputs, tmp_path)


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scan(direction: int, axis: int, tmp_path: Path) -> None:
    """Two scan inputs, one of them backwards, and two scan outputs along different axes."""
    nodes = [
        node("Add", ["state", "a"], ["sum"]),
        node("Mul", ["sum", "b"], ["product"]),
        node("Identity", ["sum"], ["next"]),
        node("Identity", ["sum"], ["copy"]),
    ]
    graph = body(
        "body",
        nodes,
        [("state", FLOAT, [3]), ("a", FLOAT, [3]), ("b", FLOAT, [3])],
        [("next", FLOAT, [3]), ("product", FLOAT, [3]), ("copy", FLOAT, [3])],
    )
    scan = node(
        "Scan",
        ["start", "x", "y"],
        ["last", "products", "sums"],
        body=graph,
        num_scan_inputs=2,
        scan_input_axes=[0, 1],
        scan_input_directions=[direction, 1],
        scan_output_axes=[axis, 0],
        scan_output_directions=[0, direction],
    )
    inputs = {"start": random(3), "x": random(4, 3, seed=1), "y": random(3, 4, seed=2)}
    check(make_model([scan], inputs, ["last", "products", "sums"]), inputs, tmp_path)


@pytest.mark.parametrize("direction", [0, 1])
def test_scan_of_opset_8_has_a_batch(direction: int, tmp_path: Path) -> None:
    nodes = [node("Add", ["state", "a"], ["next"]), node("Mul", ["next", "next"], ["square"])]
    inner = body(
        "body", nodes, [("state", FLOAT, [3]), ("a", FLOAT, [3])], [("next", FLOAT, [3]), ("square", FLOAT, [3])]
    )
    attributes = {"body": inner, "num_scan_inputs": 1, "directions": [direction]}
    scan = node("Scan", ["", "start", "x"], ["last", "squares"], **attributes)
    inputs = {"start": random(2, 3), "x": random(2, 4, 3, seed=1)}
    model = make_model([scan], inputs, ["last", "squares"], opset=8)
    slices = inputs["x"][:, ::-1] if direction else inputs["x"]
    sums = inputs["start"][:, None] + np.cumsum(slices, axis=1)
    check(model, inputs, tmp_path, wanted=[sums[:, -1], sums * sums])
