"""Copies parts of source graphs to functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mslite.converter.parsers.protobuf import Message

from .model import Ref, SourceGraph, SourceNode
from .protos import AttrValue


def function_attribute(*names: str) -> Message:
    """Returns an attribute with a function name, or with a list of several."""
    attribute = AttrValue()
    if len(names) == 1:
        attribute.func.name = names[0]
    for name in names if len(names) > 1 else ():
        attribute.list.func.add(name=name)
    return attribute


def unique(wish: str, taken: Iterable[str]) -> str:
    """Returns `wish`, with a number appended if it is taken."""
    known = set(taken)
    name, number = wish, 0
    while name in known:
        number += 1
        name = f"{wish}_{number}"
    return name


def slice_of(
    graph: SourceGraph, results: Iterable[Ref], argument: Callable[[Ref], Ref | None], follows: Callable[[str], bool]
) -> tuple[dict[str, SourceNode], list[Ref]]:
    """Returns copies of the nodes that results depend on, and the results as references to the copies.

    `argument` returns the reference inside the slice for a value from outside, and None for nodes that are copied.
    Control inputs are kept, and copied, if `follows` returns True.
    """
    copies: dict[str, SourceNode] = {}
    ends = list(results)
    pending = [ref.node for ref in ends if argument(ref) is None]
    while pending:
        name = pending.pop()
        if name in copies:
            continue
        node = graph.nodes[name]
        controls = tuple(control for control in node.controls if control in graph.nodes and follows(control))
        inputs = tuple(argument(ref) or ref for ref in node.inputs)
        copies[name] = SourceNode(name, node.operator, inputs, controls, node.attributes)
        pending.extend(ref.node for ref in node.inputs if argument(ref) is None)
        pending.extend(controls)
    return copies, [argument(ref) or ref for ref in ends]
