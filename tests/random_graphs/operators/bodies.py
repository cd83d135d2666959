"""Branches and loops with random graphs as bodies, which read outer values."""

from __future__ import annotations

from onnx import GraphProto, helper

from ..builder import Builder
from ..evaluate import Rejected
from ..values import Value
from .registry import OPERATORS, operator

_DEEPEST = 2
_STEPS = 3


def grown_nodes(g: Builder, first: Value | None = None) -> Value:
    """Adds a few nodes. Returns one of their outputs, usually the last one. Raises Rejected if no node was added."""
    before = len(g.values)
    if first is not None:
        g.values.append(first)
        before += 1
    names = [name for name, entry in OPERATORS.items() if entry.there(g.opset)]
    for _ in range(g.integer(1, _STEPS)):
        name = g.choose(names)
        g.attempt(OPERATORS[name].add, name)
    inner = {name for node in g.nodes for name in node.output}
    made = [v for v in reversed(g.values[before:]) if v.name in inner and not v.constant]
    return g.choose(made[:3])


def body(g: Builder, like: Value | None, same_shape: bool, first: Value | None = None) -> tuple[GraphProto, Value]:
    """Returns a graph without inputs that computes a value, with the data type (and shape) of another value if it is given."""
    if g.depth >= _DEEPEST:
        raise Rejected("deep enough")
    values, nodes, constants = list(g.values), list(g.nodes), list(g.initializers)
    g.nodes, g.initializers = [], []
    g.depth += 1
    try:
        value = grown_nodes(g, first)
        if like is not None and value.dtype != like.dtype:
            if value.dtype == "bool" or like.dtype == "bool" or like.array.dtype.kind == "f":
                value = g.node("Cast", value, to=like.element)
            else:
                raise Rejected("another type")
        if same_shape and like is not None and value.shape != like.shape:
            value = g.node(g.choose(("Add", "Sub")), like, g.node("ReduceMax", value, keepdims=0))
        result = g.node("Identity", value)
        info = helper.make_tensor_value_info(result.name, result.element, None)
        return helper.make_graph(g.nodes, g.name("body"), [], [info], g.initializers), result
    finally:
        g.depth -= 1
        inputs = {v.name for v in g.inputs}
        known = {v.name for v in values}
        g.values = values + [v for v in g.values if v.name in inputs and v.name not in known]
        g.nodes, g.initializers = nodes, constants


@operator("If of graphs")
def branches(g: Builder, name: str) -> None:
    test = g.pick(("bool",), 0, 0) if g.maybe() else g.operand("bool", ())
    one, result = body(g, None, same_shape=False)
    other, _ = body(g, result, same_shape=not g.maybe(3) or g.opset < 11)  # before opset 11 they have one shape
    if g.maybe():
        one, other = other, one
    g.node("If", test, then_branch=one, else_branch=other)


@operator("Loop of graphs")
def rounds(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int64", "float16"), where=lambda v: 0 < v.size < 200)
    carried = Value(g.name("v"), x.worlds)
    g.known[carried.name] = carried
    graph, result = body(g, x, same_shape=True, first=carried)
    shape = [size if x.fixed(axis) else None for axis, size in enumerate(x.shape)]
    tag = graph.name
    still, go = f"{tag}_still", f"{tag}_go"
    graph.node.append(helper.make_node("Identity", [go], [still]))
    graph.input.extend(
        [
            helper.make_tensor_value_info(f"{tag}_i", 7, ()),
            helper.make_tensor_value_info(go, 9, ()),
            helper.make_tensor_value_info(carried.name, x.element, shape),
        ]
    )
    del graph.output[:]
    graph.output.extend(
        [
            helper.make_tensor_value_info(still, 9, ()),
            helper.make_tensor_value_info(result.name, x.element, shape),
        ]
    )
    g.node("Loop", g.operand("int64", (), 0, 3), None, x, body=graph)
