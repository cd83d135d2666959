"""Sequences and optional values, converted from tensors and back to tensors."""

from __future__ import annotations

from onnx import NodeProto, helper

from ..builder import Builder
from ..evaluate import Rejected
from .reductions import axis_of
from .registry import operator

_HELD = ("float32", "int64", "float32", "int32")


def read(g: Builder, nodes: list[NodeProto], held: str, count: int, name: str) -> None:
    """Adds the nodes, and one that converts the sequence `held` with the given number of elements to a tensor."""
    kinds = ["SequenceAt", "SequenceLength", "ConcatFromSequence"]
    kind = name if name in kinds else g.choose(kinds)
    result = g.name("v")
    if kind == "SequenceAt":
        if count < 1:
            raise Rejected("nothing to take")
        place = g.constant(g.integer(-count, count - 1), g.choose(("int64", "int32")))
        nodes.append(helper.make_node(kind, [held, place.name], [result]))
    elif kind == "SequenceLength":
        nodes.append(helper.make_node(kind, [held], [result]))
    else:
        stacked = g.choose((None, 0, 1))
        nodes.append(helper.make_node(kind, [held], [result], axis=g.choose((0, -1, 1)), new_axis=stacked))
    g.together(nodes, [result])


@operator("SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceEmpty", "SequenceAt", "SequenceLength")
def listed(g: Builder, name: str) -> None:
    x = g.pick(_HELD, low=1)
    fits = [v for v in reversed(g.values) if v.dtype == x.dtype and v.shape == x.shape]
    elements = [x, *(g.choose(fits) for _ in range(g.integer(0, 2)))]
    held = g.name("s")
    count = len(elements)
    nodes = [helper.make_node("SequenceConstruct", [v.name for v in elements], [held])]
    if name == "SequenceEmpty":
        count = 0
        nodes = [helper.make_node(name, [], [held], dtype=x.element)]
    for change in (name, *(g.choose(("SequenceInsert", "SequenceErase")) for _ in range(g.integer(0, 2)))):
        insert = change in ("SequenceInsert", "SequenceEmpty")
        if not insert and (change != "SequenceErase" or count < 2):
            continue
        place = [g.constant(g.integer(-count, count - (0 if insert else 1)), "int64").name] if g.maybe() else []
        changed = g.name("s")
        if insert:
            nodes.append(helper.make_node("SequenceInsert", [held, g.choose(fits).name, *place], [changed]))
        else:
            nodes.append(helper.make_node("SequenceErase", [held, *place], [changed]))
        held, count = changed, count + (1 if insert else -1)
    read(g, nodes, held, count, name)


@operator("SplitToSequence", "ConcatFromSequence")
def split_and_joined(g: Builder, name: str) -> None:
    # The number of parts must be known, which ONNX's inference cannot determine for every value.
    x = (
        g.choose([v for v in g.inputs if v.dtype in _HELD and v.rank])
        if g.maybe()
        else g.input("float32", g.shape(low=1))
    )
    axis = axis_of(g, x)
    size = x.shape[axis]
    if not x.fixed(axis):
        raise Rejected("an open axis")
    if x.size == 0:
        raise Rejected("onnxruntime does not look at the sizes of what is empty")
    held, keep, sizes = g.name("s"), g.choose((None, 0, 1)), g.integer(1, size)
    operands: list[str] = []
    count = size
    if g.maybe():
        keep = None  # only used without sizes; onnxruntime also uses it for sizes of 1
        operands, count = [g.constant(sizes, "int64").name], -(-size // sizes)
        if g.maybe() and sizes < size:
            operands, count = [g.constant([sizes, size - sizes], "int64").name], 2
    node = helper.make_node("SplitToSequence", [x.name, *operands], [held], axis=axis, keepdims=keep)
    nodes = [node]
    read(g, nodes, held, count, name)


@operator("Optional", "OptionalGetElement", "OptionalHasElement", since=15)
def perhaps(g: Builder, name: str) -> None:
    x = g.pick(_HELD)
    held, result = g.name("o"), g.name("v")
    reader = "OptionalHasElement" if name == "OptionalHasElement" else "OptionalGetElement"
    if g.opset >= 18 and g.maybe():  # both also accept tensors
        g.node(reader, x)
        return
    nodes = [helper.make_node("Optional", [x.name], [held]), helper.make_node(reader, [held], [result])]
    g.together(nodes, [result])
