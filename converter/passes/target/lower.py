"""The pass that rewrites a model for a version of MindSpore Lite, and says what is unsupported."""

from __future__ import annotations

from mslite.converter.compatibility import Version, refusals
from mslite.converter.compatibility.judge import refusal
from mslite.converter.errors import Blocked, Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node
from mslite.converter.passes.cleanup import remove_dead_code, remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.target import decompositions as decompositions
from mslite.converter.passes.target.element_types import compute_in_other_types
from mslite.converter.passes.target.integers import (
    compute_on_reals,
    leave_activations_real,
    note_roundings,
    requantize_through_reals,
    restate_channels,
)
from mslite.converter.passes.target.layouts import state_layouts
from mslite.converter.passes.target.results import compute_results
from mslite.converter.passes.target.writer import DECOMPOSITIONS, Writer

_MAX_ROUNDS = 6
_REMEDY = "Leave --targetVersion out, or name a version that runs it"
_NAME = "target version"
"""Under which the context keeps why a node is not decomposed."""


def lower(module: Module, context: Context) -> None:
    """Writes every node that the target version refuses in what it has, as far as that can be done."""
    version = context.settings.target
    if version is None:
        return
    for _ in range(_MAX_ROUNDS):
        changed = leave_activations_real(module, context, version)
        changed |= _decompose(module, context, version)
        changed |= restate_channels(module, context, version)
        changed |= requantize_through_reals(module, version)
        changed |= compute_on_reals(module, context, version)
        changed |= compute_in_other_types(module, context, version)
        if not changed:
            break
        infer_shapes(module, context)
        fold_constants(module, context)
        remove_identities(module, context)
        remove_dead_code(module, context)
    state_layouts(module, version)
    compute_results(module, version)
    note_roundings(module, context, version)


def check_target(module: Module, context: Context) -> None:
    """Raises ConversionError with everything for which the target version does not run the model."""
    version = context.settings.target
    if version is None:
        return
    blockers = refusals(module, version)
    if blockers:
        reasons = {name: reason for rule, name, reason in context.refusals if rule == _NAME}
        known = tuple(_explained(one, reasons.get(one.node)) for one in blockers)
        raise ConversionError(
            f"MindSpore Lite {version.label} cannot run the model", known, ReturnCode.NOT_SUPPORTED, module
        )


def _explained(one: Blocker, reason: str | None) -> Blocker:
    """With why it is not written in other operators, and what to do now."""
    whole = one.reason if reason is None else f"{one.reason}; {reason}"
    return Blocker(one.node, one.operator, whole, _REMEDY, one.attribute)


def _decompose(module: Module, context: Context, version: Version) -> bool:
    found = False
    for graph in module.graphs:
        for node in list(graph.nodes):
            if node.op.name in DECOMPOSITIONS and refusal(node, version) is not None:
                found |= _decompose_node(graph, node, context, version)
    return found


def _decompose_node(graph: Graph, node: Node, context: Context, version: Version) -> bool:
    operator = node.op.name
    for decomposition in DECOMPOSITIONS[operator]:
        writer = Writer(graph, node, context)
        try:
            results = decomposition(node, writer, version)
        except Blocked as error:
            context.refuse(_NAME, node, error.reason)
            results = None
        if results is None:
            writer.drop()
            continue
        writer.finish(results)
        context.applied[f"{operator}Decomposition"] = context.applied.get(f"{operator}Decomposition", 0) + 1
        return True
    return False
