"""Custom nodes in the report: they run if the user provides a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mslite.check.results import TargetFacts
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.custom import Custom

CPU = "CPU"
"""Name of the target that is the runtime on this machine's processor."""

_OPEN = "leaves the shape of its output"
"""Part of the reason for a Custom node whose output shape is known only at run time."""

REMEDY_RUNTIME = "Register a kernel and its shape rule: RegisterKernel, RegisterKernelInterface (docs/extending.md)"
REMEDY_GENERATED = "Write CustomKernel for it in the generated project (docs/extending.md)"


def custom_types(module: Module) -> dict[str, str]:
    """Returns node name -> Custom type, for Custom nodes that mslite does not define."""
    return {
        node.name: node.op.type or "" for graph in module.graphs for node in graph.nodes if isinstance(node.op, Custom)
    }


def with_custom_kernels(facts: TargetFacts, types: Mapping[str, str], remedy: str) -> TargetFacts:
    """Returns `facts` with the remark that the user provides the kernels of the Custom nodes in `types`.

    If the target runs the model, the remark says which kernels it needs. If not, `remedy` says how to add them. An
    unknown output shape does not prevent the runtime from running the node, because the user's kernel can infer it. In
    generated C it does.
    """
    if not types:
        return facts
    blockers = tuple(
        _blocker(one, types[one.node], remedy) if one.node in types else one
        for one in facts.blockers
        if one.node not in types or not (facts.name == CPU and _OPEN in one.reason)
    )
    runs = facts.runs or bool(facts.blockers and not blockers)
    problem = facts.problem
    if runs:
        names = ", ".join(sorted(set(types.values())))
        own = f"with your kernel for {names}"
        problem = f"{own}; {problem}" if problem else own
    return replace(facts, runs=runs, blockers=blockers, problem=problem)


def _blocker(one: Blocker, kind: str, remedy: str) -> Blocker:
    if _OPEN in one.reason:
        return replace(one, operator=f"Custom {kind}")
    return Blocker(one.node, f"Custom {kind}", f"mslite has no kernel for the Custom type '{kind}'", remedy)
