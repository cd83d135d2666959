"""Parts are connected, as large as can be, and never wait for their own results."""

from __future__ import annotations

import random

import pytest

from mslite.converter.ethosu.partitions import find_partitions
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.tflite_writer import refusal

from .graphs import RECORD, SHAPE, Builder, names


def _takes(node: Node) -> bool:
    return not refusal(node)


def test_a_chain_is_one_part() -> None:
    made = Builder()
    y = made.add(made.convolution(made.input(), "a"), made.input("z"), "b")
    (part,) = find_partitions(made.module(y).main, _takes)
    assert names(part.nodes) == ["a_node", "b_node"]
    assert [value.name for value in part.inputs] == ["x", "z"]
    assert part.outputs == (y,)


def test_what_is_in_between_divides() -> None:
    """a -> foreign -> c, and a -> c: c must wait for what waits for a."""
    made = Builder()
    a = made.convolution(made.input(), "a")
    c = made.add(made.foreign(a, "f"), a, "c")
    d = made.leaky(c, "d")
    first, second = find_partitions(made.module(d).main, _takes)
    assert (names(first.nodes), names(second.nodes)) == (["a_node"], ["c_node", "d_node"])
    assert first.outputs == (a,)
    assert {value.name for value in second.inputs} == {"a", "f"}


def test_a_value_that_the_model_gives_leaves_the_part() -> None:
    made = Builder()
    a = made.convolution(made.input(), "a")
    b = made.leaky(a, "b")
    (part,) = find_partitions(made.module(b, a).main, _takes)
    assert part.outputs == (a, b)


def test_moves_alone_are_no_part() -> None:
    x = Value("x", DataType.INT8, SHAPE, quant=(RECORD,))
    y = Value("y", DataType.INT8, SHAPE, quant=(RECORD,))
    shape = Value("shape", DataType.INT32, (4,))
    graph = Graph("main", [x], [y], [Node(Reshape(), "move", (x, shape), (y,))])
    assert find_partitions(graph, lambda node: True) == []


@pytest.mark.parametrize("seed", range(40))
def test_parts_of_random_graphs(seed: int) -> None:
    """Convex: no way leads from a part out of it and back. Maximal: no two parts with an edge between them could be one."""
    chance = random.Random(seed)
    made = Builder()
    values = [made.input()]
    for number in range(24):
        a, b = chance.choice(values[-6:]), chance.choice(values)
        maker = made.foreign if chance.random() < 0.3 else made.leaky
        values.append(maker(a, f"v{number}") if chance.random() < 0.4 else made.add(a, b, f"v{number}"))
    graph = made.module(*(value for value in values if not value.users)).main
    parts = find_partitions(graph, _takes)
    assert sum(len(part.nodes) for part in parts) == sum(map(_takes, graph.nodes))
    for part in parts:
        assert not _returns({id(node) for node in part.nodes}, part.nodes)
    for first in parts:
        for second in parts:
            if first is second or not any(value.producer in first.nodes for value in second.inputs):
                continue
            assert _returns({id(node) for node in (*first.nodes, *second.nodes)}, first.nodes)


def _returns(inside: set[int], nodes: tuple[Node, ...]) -> bool:
    """Whether a way leads out of the nodes and into them again."""
    todo = [user for node in nodes for value in node.outputs for user in value.users if id(user) not in inside]
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for user in (user for value in node.outputs for user in value.users):
            if id(user) in inside:
                return True
            todo.append(user)
    return False
