"""The rewrite engine. A rule consists of patterns, a check that returns a reason against a match, and a rewrite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mslite.converter.mindir.graph import Graph, Module, Node
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.pattern import Call, Match
from mslite.converter.unexpected_errors import unexpected_errors_at_node

Check = Callable[[Match, Context], str | None]
"""A function that returns why a match must not be rewritten, or None."""

Rewrite = Callable[[Match, Graph], None]

_MAX_ROUNDS = 8

OBFUSCATION = "obf_op-obf_mul"
"""Part of the names of nodes that MindSpore's obfuscation inserts."""


@dataclass(frozen=True)
class Rule:
    """A local rewrite of a graph.

    `patterns` are tried in order at every node. A match is refused if nodes outside of it read its inner values,
    unless `shared` allows it; then `check` is called. `rewrite` replaces the root; unused nodes are removed.
    """

    name: str
    patterns: tuple[Call, ...]
    rewrite: Rewrite
    check: Check = lambda match, context: None
    shared: bool = False
    quantized: bool = False
    """Also applies to nodes with quantized weights and to moved quantized tensors: the rule does not use their float
    values."""
    integers: bool = False
    """Also applies to quantized nodes: their results keep all bits."""

    def find(self, node: Node, graph: Graph, context: Context) -> Match | None:
        """Returns the first match at `node` that may be rewritten, or None; adds refused matches to the context."""
        context.graph_outputs = graph.outputs
        for pattern in self.patterns:
            for match in pattern.match_node(node, Match()):
                if not self.shared and not match.is_private(graph):
                    context.refuse(self.name, node, "an inner result is used elsewhere")
                    continue
                reason = _obfuscated(match) or self._quantized(match) or self.check(match, context)
                if reason is None:
                    return replace(match, training=context.settings.training)
                context.refuse(self.name, node, reason)
        return None

    def _quantized(self, match: Match) -> str | None:
        """Returns why a match with quantized tensors is refused, or None."""
        if self.integers:
            return None
        if any(node.quant_type not in (QuantType.QUANT_NONE, QuantType.QUANT_WEIGHT) for node in match.inner):
            return "a node is quantized"
        touched = any(value.quant for node in match.inner for value in (*node.inputs, *node.outputs))
        return "an operand is quantized" if touched and not self.quantized else None


def _obfuscated(match: Match) -> str | None:
    """Returns a reason for nodes of MindSpore's obfuscation, whose constant is replaced by `obf_ratio` when the model
    is built."""
    return "a node waits for obf_ratio" if any(OBFUSCATION in node.name for node in match.inner) else None


def apply_rule(rule: Rule, graph: Graph, context: Context) -> bool:
    """Applies a rule to all matches, from the inputs to the outputs. Returns whether the graph changed."""
    changed = False
    names = {name for pattern in rule.patterns for name in pattern.names}
    alive = set(map(id, graph.nodes))
    for node in list(graph.nodes):
        if node.op.name not in names or not node.outputs or id(node) not in alive:
            continue
        with unexpected_errors_at_node(node.name, node.op.name):
            match = rule.find(node, graph, context)
            if match is None:
                continue
            weights = next((inner.quant_type for inner in match.inner if inner.quant_type), QuantType.QUANT_NONE)
            rule.rewrite(match, graph)
            match.root.quant_type = weights
        graph.nodes = live_nodes(graph)
        alive = set(map(id, graph.nodes))
        context.applied[rule.name] = context.applied.get(rule.name, 0) + 1
        changed = True
    return changed


def apply_rules(rules: Sequence[Rule], module: Module, context: Context) -> None:
    """Applies a group of rules, in order, until the graph does not change."""
    active = [rule for rule in rules if rule.name not in context.settings.disabled_fusions]
    for graph in module.graphs:
        for _ in range(_MAX_ROUNDS):
            changed = False
            for rule in active:
                changed |= apply_rule(rule, graph, context)
            if not changed:
                break
