"""Lowers a model for a version of MindSpore Lite, and checks that the version supports the result."""

from __future__ import annotations

from mslite.converter.compatibility import Version, refusals
from mslite.converter.compatibility.check import refusal
from mslite.converter.errors import Blocked, Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node
from mslite.converter.passes.cleanup import remove_dead_code, remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.target import decompositions as decompositions
from mslite.converter.passes.target.constant_layouts import set_constant_layouts
from mslite.converter.passes.target.dequantize import (
    dequantize_constants,
    dequantize_nodes,
    note_rounding_differences,
    remove_dynamic_quantization,
    split_requantizations,
)
from mslite.converter.passes.target.element_types import insert_type_casts
from mslite.converter.passes.target.graph_outputs import add_output_nodes
from mslite.converter.passes.target.writer import DECOMPOSITIONS, Writer

_MAX_ROUNDS = 6
_REMEDY = "Leave out --targetVersion, or choose a version that runs it"
_NAME = "target version"
"""The rule name of refused decompositions in the context."""


def lower(module: Module, context: Context) -> None:
    """Replaces nodes that the target version does not support by nodes that it supports, if possible."""
    version = context.settings.target
    if version is None:
        return
    for _ in range(_MAX_ROUNDS):
        changed = remove_dynamic_quantization(module, context, version)
        changed |= _decompose(module, context, version)
        changed |= dequantize_constants(module, context, version)
        changed |= split_requantizations(module, version)
        changed |= dequantize_nodes(module, context, version)
        changed |= insert_type_casts(module, context, version)
        if not changed:
            break
        infer_shapes(module, context)
        fold_constants(module, context)
        remove_identities(module, context)
        remove_dead_code(module, context)
    set_constant_layouts(module, version)
    add_output_nodes(module, version)
    note_rounding_differences(module, context, version)


def check_target(module: Module, context: Context) -> None:
    """Raises ConversionError with all nodes that the target version does not support."""
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
    """Returns the blocker with the reason why the node cannot be lowered, and the remedy."""
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
