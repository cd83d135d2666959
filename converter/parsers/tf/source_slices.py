"""Parts of source graphs that become functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mslite.converter.parsers.protobuf import Message

from .model import Ref, SourceGraph, SourceNode
from .protos import AttrValue


def function_attribute(*names: str) -> Message:
    """An attribute that names a function, or a list of several."""
    attribute = AttrValue()
    if len(names) == 1:
        attribute.func.name = names[0]
    for name in names if len(names) > 1 else ():
        attribute.list.func.add(name=name)
    return attribute


def unique(wish: str, taken: Iterable[str]) -> str:
    """`wish`, with a number where it is taken."""
    known = set(taken)
    name, number = wish, 0
    while name in known:
        number += 1
        name = f"{wish}_{number}"
    return name


def slice_of(
    graph: SourceGraph, results: Iterable[Ref], argument: Callable[[Ref], Ref | None], follows: Callable[[str], bool]
) -> tuple[dict[str, SourceNode], list[Ref]]:
    """Copies of the nodes that some results need, and the results as references among them.

    `argument` gives the name inside of the slice to what enters from outside, None to what is copied. Control inputs
    are kept, and copied, where `follows` says so.
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
