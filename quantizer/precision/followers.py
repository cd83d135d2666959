"""Gives nodes that only move or select values (Reshape, MaxPool) the precision of the nodes around them."""

from __future__ import annotations

from collections.abc import Mapping

from mslite.converter.mindir.graph import Module, Node, Value
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.operators import Kind, rule_of

_RANKS = {Precision.INT8: 0, Precision.INT16: 1, Precision.FLOAT: 2}
_PRECISIONS = {rank: precision for precision, rank in _RANKS.items()}


def follows(node: Node) -> bool:
    """Whether a node only moves or selects values."""
    rule = rule_of(node)
    return rule is not None and rule.kind in (Kind.MOVE, Kind.SAME)


def with_followers(module: Module, choices: Choices) -> dict[str, Precision]:
    """Returns the choices with the precision of followers changed.

    A follower gets the highest precision among its producers or the highest among its consumers, whichever is lower.
    Nodes in float are left out.
    """
    followers = {node.name for node in module.main.nodes if node.name in choices and follows(node)}
    offered: dict[str, int] = {}
    for node in module.main.nodes:
        offered[node.name] = (
            max((_offered(value, offered) for value in node.inputs if not value.is_constant), default=2)
            if node.name in followers
            else _RANKS[choices.get(node.name, Precision.FLOAT)]
        )
    leaving = {id(value) for value in module.main.outputs}
    wanted: dict[str, int] = {}
    for node in reversed(module.main.nodes):
        wanted[node.name] = (
            max((_wanted(value, wanted, leaving) for value in node.outputs), default=2)
            if node.name in followers
            else _RANKS[choices.get(node.name, Precision.FLOAT)]
        )
    found = dict(choices)
    for name in followers:
        found[name] = _PRECISIONS[min(offered[name], wanted[name])]
    return {name: precision for name, precision in found.items() if precision is not Precision.FLOAT}


def _offered(value: Value, offered: Mapping[str, int]) -> int:
    return 2 if value.producer is None else offered[value.producer.name]


def _wanted(value: Value, wanted: Mapping[str, int], leaving: set[int]) -> int:
    """Returns the rank of the highest precision of the consumers. An output of the model counts as float."""
    return max([2 if id(value) in leaving else 0, *(wanted.get(user.name, 2) for user in value.users)])
