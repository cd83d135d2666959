"""Branches whose condition is known are inlined; others stay calls."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs, Neg, Square
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.branch_inlining import inline_branches
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes
from tests.passes.builder import numbers, operators, run


def _branch(name: str, op: Operator) -> Graph:
    x = Value(f"{name}_x", DataType.UNKNOWN)
    y = Value(f"{name}_y", DataType.UNKNOWN)
    return Graph(name, [x], [y], [Node(op, f"{name}_op", (x,), (y,))])


def conditional(condition: Value, extra_input: bool = False) -> Module:
    """y = (neg(|x|) if condition else square(|x|))."""
    x = Value("x", DataType.FLOAT32, (2, 3))
    a, true, false, chosen, y = (Value(name, DataType.UNKNOWN) for name in ("a", "true", "false", "chosen", "y"))
    nodes = [
        Node(Abs(), "abs", (x,), (a,)),
        Node(PartialFusion(sub_graph_index=1), "then", (a,), (true,)),
        Node(PartialFusion(sub_graph_index=2), "else", (a,), (false,)),
        Node(Switch(), "switch", (condition, true, false), (chosen,)),
        Node(Call(is_tail_call=True), "call", (chosen,), (y,)),
    ]
    inputs = [x, condition] if extra_input else [x]
    return Module(
        [Graph("main_graph", inputs, [y], nodes), _branch("then_branch", Neg()), _branch("else_branch", Square())]
    )


@pytest.mark.parametrize(("known", "left"), [(True, ["Abs", "Neg"]), (False, ["Abs", "Square"])])
def test_a_known_condition(known: bool, left: list[str]) -> None:
    module = conditional(constant("condition", np.array(known)))
    infer_shapes(module, Context())
    inline_branches(module, Context())
    verify(module)
    assert operators(module) == left
    assert len(module.graphs) == 1
    assert [value.name for value in module.main.outputs] == ["y"]
    x = np.abs(numbers(2, 3, seed=1))
    np.testing.assert_array_equal(run(module)[0], -x if known else x * x)


def test_an_unknown_condition_stays() -> None:
    module = conditional(Value("condition", DataType.BOOL, ()), extra_input=True)
    infer_shapes(module, Context())
    inline_branches(module, Context())
    verify(module)
    assert operators(module) == ["Abs", "PartialFusion", "PartialFusion", "Switch", "Call"]
    assert len(module.graphs) == 3
    assert module.main.outputs[0].shape == (2, 3)
    assert module.main.outputs[0].dtype is DataType.FLOAT32


def test_the_models_outputs_move_with_their_graph() -> None:
    module = conditional(constant("condition", np.array(True)))
    module.outputs = list(module.graphs[1].outputs)
    infer_shapes(module, Context())
    inline_branches(module, Context())
    assert module.outputs is None
    assert [value.name for value in module.main.outputs] == ["then_branch_y"]
