"""What is said of Custom nodes, whose kernels the user provides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mslite.check.facts import TargetFacts
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.custom import Custom

CPU = "CPU"
"""The runtime on this machine's processor."""

_OPEN = "leaves the shape of its output"
"""In the reason of a Custom node whose shapes are known at run time only."""

REMEDY_RUNTIME = "Register a kernel and its shape rule: RegisterKernel, RegisterKernelInterface (docs/extending.md)"
REMEDY_GENERATED = "Write CustomKernel for it in the generated project (docs/extending.md)"


def custom_types(module: Module) -> dict[str, str]:
    """Names of the Custom nodes that are not mslite's own -> their types."""
    return {
        node.name: node.op.type or "" for graph in module.graphs for node in graph.nodes if isinstance(node.op, Custom)
    }


def with_custom_kernels(facts: TargetFacts, types: Mapping[str, str], remedy: str) -> TargetFacts:
    """The same facts, which say that the kernels of these nodes are the user's: where the target runs the model, that it
    needs them; where it does not, how to bring them along. The runtime asks the user's rule for shapes that the file leaves
    open; generated C has none to ask."""
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
    return Blocker(one.node, f"Custom {kind}", f"no kernel of mslite's computes the Custom type '{kind}'", remedy)
