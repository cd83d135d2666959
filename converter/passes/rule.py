"""The rewrite engine. A rule is a pattern, a check that says why it refuses, and a rewrite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mslite.converter.contradictions import contradictions_at
from mslite.converter.mindir.graph import Graph, Module, Node
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.pattern import Call, Match

Check = Callable[[Match, Context], str | None]
"""Why a match must be left alone, or None."""

Rewrite = Callable[[Match, Graph], None]

_MAX_ROUNDS = 8

OBFUSCATION = "obf_op-obf_mul"
"""Part of the names of nodes that MindSpore's obfuscation adds."""


@dataclass(frozen=True)
class Rule:
    """A local improvement of a graph.

    `patterns` are tried in order at every node; a match whose inner results are read elsewhere is refused before `check`
    is asked, unless `shared` allows it. `rewrite` makes the root's result differently; what becomes unused is removed.
    """

    name: str
    patterns: tuple[Call, ...]
    rewrite: Rewrite
    check: Check = lambda match, context: None
    shared: bool = False
    quantized: bool = False
    """Also applies to nodes with quantized weights and to moved integers: it does not look at what these stand for."""
    integers: bool = False
    """Also applies to nodes that compute on stored integers: not one bit of theirs changes."""

    def find(self, node: Node, graph: Graph, context: Context) -> Match | None:
        """The first match at `node` that may be rewritten; refusals are noted in the context."""
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
        """Stored integers stand for other numbers: few rules may touch them."""
        if self.integers:
            return None
        if any(node.quant_type not in (QuantType.QUANT_NONE, QuantType.QUANT_WEIGHT) for node in match.inner):
            return "a node computes on quantized integers"
        touched = any(value.quant for node in match.inner for value in (*node.inputs, *node.outputs))
        return "an operand is quantized" if touched and not self.quantized else None


def _obfuscated(match: Match) -> str | None:
    """Products with a constant that stands for what `obf_ratio` says when the model is built."""
    return "a node waits for obf_ratio" if any(OBFUSCATION in node.name for node in match.inner) else None


def apply_rule(rule: Rule, graph: Graph, context: Context) -> bool:
    """Applies a rule wherever it matches, from the inputs to the outputs. True when something changed."""
    changed = False
    names = {name for pattern in rule.patterns for name in pattern.names}
    alive = set(map(id, graph.nodes))
    for node in list(graph.nodes):
        if node.op.name not in names or not node.outputs or id(node) not in alive:
            continue
        with contradictions_at(node.name, node.op.name):
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
    """Applies a group of rules, in order, until none of them changes anything."""
    active = [rule for rule in rules if rule.name not in context.settings.disabled_fusions]
    for graph in module.graphs:
        for _ in range(_MAX_ROUNDS):
            changed = False
            for rule in active:
                changed |= apply_rule(rule, graph, context)
            if not changed:
                break
