"""Finds the values that graphs of a loop or branch pass to each other: those that need memory, and those that are
aliases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mslite import _codegen
from mslite.codegen.lowering.liveness import reachable_branches, tail_of


def find_carried(
    plan: _codegen.CodegenPlan, call: _codegen.CodegenCall, region: list[int], needed: set[int]
) -> tuple[dict[int, int], list[int]]:
    """Divides the inputs of the graphs in a region into aliases and loop-carried values. Constants are in neither.

    Returns a dict of inputs that are always the same tensor of the caller, or always another input, with the number of
    that tensor; and a list of inputs whose value changes.
    """
    values: dict[int, set[int]] = {}
    computed: set[int] = set()
    """Tensors that are computed within the region: their memory is reused, so an input cannot be an alias of them."""

    def add(one: _codegen.CodegenCall) -> None:
        for branch in reachable_branches(one):
            graph, arguments = one.branches[branch]
            for given, argument in zip(plan.graphs[graph].inputs, arguments, strict=True):
                if given in needed and plan.tensors[given].data is None:
                    values.setdefault(given, set()).add(argument)

    add(call)
    outside = {argument for branch in reachable_branches(call) for argument in call.branches[branch][1]}
    for graph in region:
        tail = tail_of(plan, graph)
        if tail is not None:
            add(tail)
    inputs = {given for graph in region for given in plan.graphs[graph].inputs}
    computed = {value for found in values.values() for value in found} - inputs - outside
    names: dict[int, int] = {}

    def find(value: int) -> int:
        while value in names:
            value = names[value]
        return value

    changed = True
    while changed:
        changed = False
        for given, found in values.items():
            shown = {find(value) for value in found} - {given}
            if given not in names and len(shown) == 1:
                (one,) = shown
                if one not in computed:
                    names[given] = one
                    changed = True
    return {given: find(given) for given in names}, [given for given in values if given not in names]


def results_in_place(
    plan: _codegen.CodegenPlan,
    call: _codegen.CodegenCall,
    region: list[int],
    names: Mapping[int, int],
    carried: list[int],
    is_wanted: Callable[[int], bool],
) -> dict[int, int]:
    """Returns the loop-carried inputs that are a result of the call at every end of the region: input -> output of the
    call."""
    ends = [plan.graphs[graph].outputs for graph in region if tail_of(plan, graph) is None]
    found: dict[int, int] = {}
    for place, output in enumerate(call.outputs):
        shown = {names.get(results[place], results[place]) for results in ends}
        if is_wanted(output) and len(shown) == 1:
            (one,) = shown
            if one in carried and one not in found:
                found[one] = output
    return found
