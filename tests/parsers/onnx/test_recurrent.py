"""RNN, GRU and LSTM, and the graphs of If, Loop and Scan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from mslite.converter.mindir.ops.control_flow import Call, PartialFusion
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, make_model, node, operators, random

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("extras", [(), ("B",), ("B", "h"), ("h",), ("B", "lengths")])
def test_recurrent(kind: str, direction: str, extras: tuple[str, ...], tmp_path: Path) -> None:
    gates, directions, steps, batch, size, hidden = GATES[kind], 1 + (direction == "bidirectional"), 5, 2, 3, 4
    inputs = {"x": random(steps, batch, size)}
    constants = {
        "w": random(directions, gates * hidden, size, seed=1),
        "r": random(directions, gates * hidden, hidden, seed=2),
        "B": random(directions, 2 * gates * hidden, seed=3),
        "lengths": np.array([5, 3], np.int32),
        "h": random(directions, batch, hidden, seed=4),
        "c": random(directions, batch, hidden, seed=5),
    }
    names = ["x", "w", "r", *(name if name in extras else "" for name in ("B", "lengths", "h"))]
    if kind == "LSTM" and "h" in extras:
        names.append("c")
    outputs = ["y", "yh", "yc"][: 3 if kind == "LSTM" else 2]
    used = {name: array for name, array in constants.items() if name in names}
    attributes: dict[str, Any] = {"direction": direction, "hidden_size": hidden}
    model = make_model([node(kind, names, outputs, **attributes)], inputs, outputs, used)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("before", [0, 1])
def test_gru_reset_gate(before: int, tmp_path: Path) -> None:
    inputs = {"x": random(4, 2, 3)}
    constants = {"w": random(1, 12, 3), "r": random(1, 12, 4, seed=1), "b": random(1, 24, seed=2)}
    attributes = {"hidden_size": 4, "linear_before_reset": before}
    check(
        make_model([node("GRU", ["x", "w", "r", "b"], ["y", "h"], **attributes)], inputs, ["y", "h"], constants),
        inputs,
        tmp_path,
    )


def test_plain_lstm_is_mindirs_own_operator() -> None:
    constants = {"w": random(1, 16, 3), "r": random(1, 16, 4, seed=1)}
    plain = make_model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)], {"x": random(5, 2, 3)}, ["y"], constants)
    assert operators(parse(plain)) == ["LSTM"]
    clipped = make_model([node("LSTM", ["x", "w", "r"], ["y"], clip=1.0)], {"x": random(5, 2, 3)}, ["y"], constants)
    assert operators(parse(clipped)) == ["LSTMSequence"]


def _info(name: str, kind: int = TensorProto.FLOAT, shape: list[int] | None = None) -> Any:
    return helper.make_tensor_value_info(name, kind, shape if shape is not None else [3])


def _branch(name: str, operator: str) -> Any:
    return helper.make_graph([node(operator, ["x"], [f"{name}_y"])], name, [], [_info(f"{name}_y")])


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_if_runs_the_branch_that_the_condition_picks(value: float, tmp_path: Path) -> None:
    inputs = {"x": np.full(3, value, np.float32)}
    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["c"]),
        node("If", ["c"], ["r"], then_branch=_branch("then", "Exp"), else_branch=_branch("else", "Neg")),
        node("Add", ["r", "x"], ["y"]),
    ]
    model = make_model(nodes, inputs, ["y"], {"zero": np.array(0, np.float32)})
    module = parse(model)
    assert len(module.graphs) == 3
    assert [entry.op.sub_graph_index for entry in module.main.nodes if isinstance(entry.op, PartialFusion)] == [1, 2]
    assert [entry.op.is_tail_call for entry in module.main.nodes if isinstance(entry.op, Call)] == [False]
    check(model, inputs, tmp_path)


def test_if_with_a_known_condition_is_inlined() -> None:
    nodes = [node("If", ["c"], ["y"], then_branch=_branch("then", "Exp"), else_branch=_branch("else", "Neg"))]
    module = parse(make_model(nodes, {"x": random(3)}, ["y"], {"c": np.array(False)}))
    assert len(module.graphs) == 1
    assert operators(module) == ["Neg"]


def _loop_body() -> Any:
    nodes = [
        node("Mul", ["v", "half"], ["w"]),
        node("Add", ["w", "x"], ["v_out"]),
        node("ReduceSum", ["v_out"], ["total"], keepdims=0),
        node("Less", ["total", "limit"], ["go"]),
        node("Identity", ["v_out"], ["row"]),
    ]
    entries = [_info("i", TensorProto.INT64, []), _info("c", TensorProto.BOOL, []), _info("v")]
    return helper.make_graph(nodes, "body", entries, [_info("go", TensorProto.BOOL, []), _info("v_out"), _info("row")])


@pytest.mark.parametrize("trips", [0, 1, 4, 100])
def test_loop_collects_until_its_condition_or_count_ends_it(trips: int, tmp_path: Path) -> None:
    inputs = {"x": np.array([1, 2, 3], np.float32), "n": np.array(trips, np.int64)}
    constants = {
        "half": np.array(0.5, np.float32),
        "limit": np.array(11.5, np.float32),
        "yes": np.array(True),
    }
    nodes = [node("Loop", ["n", "yes", "x"], ["last", "rows"], body=_loop_body())]
    check(make_model(nodes, inputs, ["last", "rows"], constants), inputs, tmp_path)


@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scan(backwards: int, axis: int, tmp_path: Path) -> None:
    nodes = [node("Mul", ["s", "k"], ["t"]), node("Add", ["t", "e"], ["s_out"]), node("Neg", ["s_out"], ["o"])]
    body = helper.make_graph(nodes, "body", [_info("s"), _info("e")], [_info("s_out"), _info("o")])
    inputs: dict[str, Array] = {"s0": random(3), "x": random(5, 3, seed=1) if axis == 0 else random(3, 5, seed=1)}
    attributes = {
        "num_scan_inputs": 1,
        "scan_input_axes": [axis],
        "scan_input_directions": [backwards],
        "scan_output_axes": [axis],
        "scan_output_directions": [backwards],
    }
    nodes = [node("Scan", ["s0", "x"], ["s_end", "ys"], body=body, **attributes)]
    check(make_model(nodes, inputs, ["s_end", "ys"], {"k": np.array(0.5, np.float32)}), inputs, tmp_path)
