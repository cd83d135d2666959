"""Rules about called subgraphs. The table lists them by name; `file_rules.py` has the others."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType

from .file_rules import CLOSURES, Found, file_rule
from .view import View


@file_rule
def partial_fills_its_graph(view: View) -> Found:
    """A PartialFusion has as many arguments as its subgraph has inputs."""
    for node in view.nodes:
        target = view.target(node)
        if target is not None and len(node.inputs) != len(target.inputIndices or ()):
            yield (
                node.name,
                f"it binds {len(node.inputs)} arguments, {target.name} has {len(target.inputIndices or ())}",
            )


@file_rule
def calls_take_closures(view: View) -> Found:
    """A Call has one input, which is the output of a PartialFusion or a Switch; the condition of a Switch is bool."""
    makers = _makers(view)
    for node in view.nodes:
        if node.operator == "Call" and (len(node.inputs) != 1 or makers.get(node.inputs[0].index) not in CLOSURES):
            yield node.name, "it calls what no PartialFusion or Switch makes"
        if node.operator == "Switch" and node.inputs and node.inputs[0].dtype not in (DataType.BOOL, DataType.UNKNOWN):
            yield node.name, f"its condition is {node.inputs[0].dtype.name}"


@file_rule
def branches_are_bound(view: View) -> Found:
    """The branches of a Switch are outputs of PartialFusions."""
    makers = _makers(view)
    for node in view.nodes:
        branches = [makers.get(operand.index) for operand in node.inputs[1:]]
        if node.operator == "Switch" and branches != ["PartialFusion", "PartialFusion"]:
            yield node.name, "its branches are not two PartialFusions"


def _makers(view: View) -> dict[int, str]:
    return {operand.index: node.operator for node in view.nodes for operand in node.outputs}


@file_rule
def calls_come_last(view: View) -> Found:
    """No node of a subgraph reads the output of a Call of this subgraph, and there is one Call."""
    for each in view.graphs:
        returned = {operand.index for node in each.nodes if node.operator == "Call" for operand in node.outputs}
        for node in each.nodes:
            if any(operand.index in returned for operand in node.inputs):
                yield node.name, "it reads what a Call returns"
        if sum(node.operator == "Call" for node in each.nodes) > 1:
            yield each.graph.name or "subgraph", "it has several Calls"


@file_rule
def conditions_are_computed(view: View) -> Found:
    """The condition of a Switch is a constant, or computed in the same subgraph."""
    for each in view.graphs:
        own = {index for node in each.nodes for index in node.node.outputIndex or ()}
        for node in each.nodes:
            if node.operator == "Switch" and node.inputs:
                condition = node.inputs[0]
                if condition.index not in own and not condition.is_constant:
                    yield node.name, f"no node of its graph makes the condition {condition.name}"
