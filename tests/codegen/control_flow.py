"""Small models with branches and loops, in all forms that generated C supports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, TensorProto, helper, numpy_helper

INT, BOOL, FLOAT = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
Info = tuple[str, int, list[int]]
node = helper.make_node
ITERATION: list[Info] = [("i", INT, []), ("go", BOOL, [])]

MODELS: dict[str, Callable[[], ModelProto]] = {}


def model(function: Callable[[], ModelProto]) -> Callable[[], ModelProto]:
    MODELS[function.__name__] = function
    return function


def part(name: str, nodes: Sequence[Any], inputs: Sequence[Info], outputs: Sequence[Info]) -> Any:
    infos = [[helper.make_tensor_value_info(*entry) for entry in entries] for entries in (inputs, outputs)]
    return helper.make_graph(nodes, name, *infos)


def whole(
    nodes: Sequence[Any], inputs: Sequence[Info], outputs: Sequence[Info], **constants: npt.ArrayLike
) -> ModelProto:
    graph = part("graph", nodes, inputs, outputs)
    graph.initializer.extend(numpy_helper.from_array(np.asarray(data), name) for name, data in constants.items())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def weight(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32) * np.float32(0.4)


@model
def nested_branches() -> ModelProto:
    """The inner branches return an input unchanged, a constant, and values that both branches compute in different orders."""
    inner = node(
        "If",
        ["second"],
        ["inner", "other"],
        then_branch=part("a", [node("Identity", ["x"], ["p"]), node("Neg", ["x"], ["q"])], [], [("p", FLOAT, [3]), ("q", FLOAT, [3])]),
        else_branch=part(
            "b", [node("Identity", ["fixed"], ["p2"]), node("Exp", ["x"], ["q2"])], [], [("p2", FLOAT, [3]), ("q2", FLOAT, [3])]
        ),
    )  # fmt: skip
    outer = node(
        "If",
        ["first"],
        ["y", "z"],
        then_branch=part("c", [inner, node("Add", ["inner", "x"], ["r"])], [], [("r", FLOAT, [3]), ("other", FLOAT, [3])]),
        else_branch=part("d", [node("Abs", ["x"], ["s"]), node("Mul", ["s", "x"], ["t"])], [], [("s", FLOAT, [3]), ("t", FLOAT, [3])]),
    )  # fmt: skip
    inputs: list[Info] = [("x", FLOAT, [3]), ("first", BOOL, []), ("second", BOOL, [])]
    outputs: list[Info] = [("y", FLOAT, [3]), ("z", FLOAT, [3])]
    return whole([outer], inputs, outputs, fixed=np.array([1, -2, 3], np.float32))


@model
def fibonacci() -> ModelProto:
    """Two values that are exchanged in each iteration, and one that never changes."""
    nodes = [
        node("Identity", ["go"], ["go_on"]),
        node("Add", ["a", "b"], ["sum"]),
        node("MatMul", ["sum", "w"], ["product"]),
        node("Identity", ["b"], ["next_a"]),
    ]
    body = part(
        "body",
        nodes,
        [*ITERATION, ("a", FLOAT, [2, 4]), ("b", FLOAT, [2, 4])],
        [("go_on", BOOL, []), ("next_a", FLOAT, [2, 4]), ("product", FLOAT, [2, 4])],
    )
    loop = node("Loop", ["count", "", "x", "y"], ["last_a", "last_b"], body=body)
    inputs: list[Info] = [("x", FLOAT, [2, 4]), ("y", FLOAT, [2, 4]), ("count", INT, [])]
    after = node("Sub", ["last_b", "x"], ["z"])
    return whole([loop, after], inputs, [("z", FLOAT, [2, 4]), ("last_a", FLOAT, [2, 4])], w=weight(4, 4))


@model
def swap() -> ModelProto:
    nodes = [node("Identity", ["go"], ["go_on"]), node("Identity", ["b"], ["c"]), node("Identity", ["a"], ["d"])]
    body = part(
        "body",
        nodes,
        [*ITERATION, ("a", FLOAT, [3]), ("b", FLOAT, [3])],
        [("go_on", BOOL, []), ("c", FLOAT, [3]), ("d", FLOAT, [3])],
    )
    loop = node("Loop", ["count", "", "x", "y"], ["p", "q"], body=body)
    inputs: list[Info] = [("x", FLOAT, [3]), ("y", FLOAT, [3]), ("count", INT, [])]
    return whole([loop], inputs, [("p", FLOAT, [3]), ("q", FLOAT, [3])])


@model
def nested_loops() -> ModelProto:
    """Nested loops; the inner loop ends when its sum is large enough, and contains a branch."""
    branch = node(
        "If",
        ["is_small"],
        ["grown"],
        then_branch=part("a", [node("Mul", ["v", "two"], ["p"])], [], [("p", FLOAT, [5])]),
        else_branch=part("b", [node("Add", ["v", "x"], ["q"])], [], [("q", FLOAT, [5])]),
    )
    inner_nodes = [
        node("Abs", ["v"], ["size"]),
        node("ReduceSum", ["size"], ["sum"], keepdims=0),
        node("Less", ["sum", "limit"], ["is_small"]),
        branch,
        node("Less", ["sum", "limit"], ["inner_go_on"]),
    ]
    inner = part(
        "inner",
        inner_nodes,
        [("j", INT, []), ("inner_go", BOOL, []), ("v", FLOAT, [5])],
        [("inner_go_on", BOOL, []), ("grown", FLOAT, [5])],
    )
    nodes = [
        node("Identity", ["go"], ["go_on"]),
        node("Loop", ["three", "", "u"], ["w"], body=inner),
        node("Sin", ["w"], ["next"]),
    ]
    outer = part("outer", nodes, [*ITERATION, ("u", FLOAT, [5])], [("go_on", BOOL, []), ("next", FLOAT, [5])])
    loop = node("Loop", ["count", "", "x"], ["y"], body=outer)
    inputs: list[Info] = [("x", FLOAT, [5]), ("count", INT, [])]
    constants = {"three": np.array(3), "two": np.float32(2), "limit": np.float32(4)}
    return whole([loop], inputs, [("y", FLOAT, [5])], **constants)


@model
def known_rounds() -> ModelProto:
    """Concatenates slices; the number of iterations is constant, so the result has a known size."""
    nodes = [
        node("Identity", ["go"], ["go_on"]),
        node("MatMul", ["a", "w"], ["next"]),
        node("Tanh", ["next"], ["slice"]),
    ]
    body = part(
        "body",
        nodes,
        [*ITERATION, ("a", FLOAT, [1, 4])],
        [("go_on", BOOL, []), ("next", FLOAT, [1, 4]), ("slice", FLOAT, [1, 4])],
    )
    loop = node("Loop", ["five", "", "x"], ["last", "slices"], body=body)
    outputs: list[Info] = [("last", FLOAT, [1, 4]), ("slices", FLOAT, [5, 1, 4])]
    return whole([loop], [("x", FLOAT, [1, 4])], outputs, w=weight(4, 4), five=np.array(5))


def unknown_rounds() -> ModelProto:
    """The same with the number of iterations as an input, and a Where node."""
    nodes = [node("Identity", ["go"], ["go_on"]), node("Neg", ["a"], ["next"]), node("Tanh", ["next"], ["slice"])]
    body = part(
        "body",
        nodes,
        [*ITERATION, ("a", FLOAT, [4])],
        [("go_on", BOOL, []), ("next", FLOAT, [4]), ("slice", FLOAT, [4])],
    )
    loop = node("Loop", ["count", "", "x"], ["last", "slices"], body=body, name="growing")
    infos = [helper.make_tensor_value_info("slices", FLOAT, ["n", 4])]
    made = whole([loop], [("x", FLOAT, [4]), ("count", INT, [])], [])
    made.graph.output.extend(infos)
    return made


_STORED = "quant {scale = 0.0625}"
TEXTS = {
    # A number selects one of three graphs; two of them continue with the third.
    "numbered": """
module "" version "MindSpore Lite 2.7.0" framework 2
graph "main" {
  input %x: FLOAT32[4]
  input %n: INT32[]
  node "p0" PartialFusion(%x) {sub_graph_index = 1} -> %p0: UNKNOWN[*]
  node "p1" PartialFusion(%x) {sub_graph_index = 2} -> %p1: UNKNOWN[*]
  node "choice" SwitchLayer(%n, %p0, %p1) -> %choice: UNKNOWN[*]
  node "call" Call(%choice) -> %y: FLOAT32[4]
  output %y
}
graph "zero" {
  input %a: FLOAT32[4]
  node "exp" ExpFusion(%a) {base = -1.0, scale = 1.0} -> %b: FLOAT32[4]
  node "q0" PartialFusion(%b) {sub_graph_index = 3} -> %q0: UNKNOWN[*]
  node "tail0" Call(%q0) {is_tail_call = true} -> %r0: FLOAT32[4]
  output %r0
}
graph "one" {
  input %c: FLOAT32[4]
  node "q1" PartialFusion(%c) {sub_graph_index = 3} -> %q1: UNKNOWN[*]
  node "tail1" Call(%q1) {is_tail_call = true} -> %r1: FLOAT32[4]
  output %r1
}
graph "both" {
  input %d: FLOAT32[4]
  node "abs" Abs(%d) -> %e: FLOAT32[4]
  output %e
}
""",
    # Nested loops by tail calls only: the exit of the inner loop continues with the outer one.
    "tails": """
module "" version "MindSpore Lite 2.7.0" framework 2
graph "main" {
  input %x: FLOAT32[4]
  input %n: INT32[]
  const %zero: INT32[] = [0]
  node "p" PartialFusion(%zero, %x, %n) {sub_graph_index = 1} -> %p: UNKNOWN[*]
  node "call" Call(%p) {is_tail_call = true} -> %y: FLOAT32[4]
  output %y
}
graph "outer" {
  input %i: INT32[]
  input %v: FLOAT32[4]
  input %n1: INT32[]
  const %start: INT32[] = [0]
  node "less" Less(%i, %n1) -> %go: BOOL[]
  node "pi" PartialFusion(%i, %v, %n1, %start) {sub_graph_index = 2} -> %pi: UNKNOWN[*]
  node "pe" PartialFusion(%v) {sub_graph_index = 4} -> %pe: UNKNOWN[*]
  node "switch" Switch(%go, %pi, %pe) -> %s: UNKNOWN[*]
  node "tail" Call(%s) {is_tail_call = true} -> %r: FLOAT32[4]
  output %r
}
graph "inner" {
  input %i2: INT32[]
  input %v2: FLOAT32[4]
  input %n2: INT32[]
  input %j: INT32[]
  const %three: INT32[] = [3]
  node "less2" Less(%j, %three) -> %go2: BOOL[]
  node "pb" PartialFusion(%i2, %v2, %n2, %j) {sub_graph_index = 3} -> %pb: UNKNOWN[*]
  const %one: INT32[] = [1]
  node "add" AddFusion(%i2, %one) -> %i3: INT32[]
  node "po" PartialFusion(%i3, %v2, %n2) {sub_graph_index = 1} -> %po: UNKNOWN[*]
  node "switch2" Switch(%go2, %pb, %po) -> %s2: UNKNOWN[*]
  node "tail2" Call(%s2) {is_tail_call = true} -> %r2: FLOAT32[4]
  output %r2
}
graph "body" {
  input %i4: INT32[]
  input %v4: FLOAT32[4]
  input %n4: INT32[]
  input %j4: INT32[]
  const %one4: INT32[] = [1]
  node "sin" Sin(%v4) -> %v5: FLOAT32[4]
  node "sum" AddFusion(%v4, %v5) -> %v6: FLOAT32[4]
  node "add4" AddFusion(%j4, %one4) -> %j5: INT32[]
  node "pp" PartialFusion(%i4, %v6, %n4, %j5) {sub_graph_index = 2} -> %pp: UNKNOWN[*]
  node "tail4" Call(%pp) {is_tail_call = true} -> %r4: FLOAT32[4]
  output %r4
}
graph "end" {
  input %e: FLOAT32[4]
  output %e
}
""",
    # A branch reads and assigns a variable; the main graph reads it before and uses that value afterwards.
    "variable": """
module "" version "MindSpore Lite 2.7.0" framework 2
graph "main" {
  input %x: FLOAT32[4]
  input %go: BOOL[]
  const %first: FLOAT32[4] = [1.0, 2.0, 3.0, 4.0]
  node "read" ReadVariable(%first) {variable = "state"} -> %s: FLOAT32[4]
  node "p0" PartialFusion(%x) {sub_graph_index = 1} -> %p0: UNKNOWN[*]
  node "p1" PartialFusion(%x) {sub_graph_index = 2} -> %p1: UNKNOWN[*]
  node "switch" Switch(%go, %p0, %p1) -> %c: UNKNOWN[*]
  node "call" Call(%c) -> %y: FLOAT32[4]
  node "both" AddFusion(%y, %s) -> %z: FLOAT32[4]
  output %z
}
graph "changes" {
  input %a: FLOAT32[4]
  const %first1: FLOAT32[4] = [1.0, 2.0, 3.0, 4.0]
  node "read1" ReadVariable(%first1) {variable = "state"} -> %s1: FLOAT32[4]
  node "sum" AddFusion(%a, %s1) -> %t: FLOAT32[4]
  node "assign" AssignVariable(%t) {variable = "state"} -> %u: FLOAT32[4]
  node "neg" MulFusion(%u, %s1) -> %b: FLOAT32[4]
  output %b
}
graph "leaves" {
  input %d: FLOAT32[4]
  node "abs" Abs(%d) -> %e: FLOAT32[4]
  output %e
}
""",
}
