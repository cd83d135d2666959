"""Finds the tensors of a plan that are needed: for its outputs, for variables, and to select the graphs that run."""

from __future__ import annotations

from mslite import _codegen


def reachable_branches(call: _codegen.CodegenCall) -> list[int]:
    """Returns the indices of the branches that a call may take."""
    found: list[int] = []

    def visit(closure: int) -> None:
        if closure >= 0:
            if closure not in found:
                found.append(closure)
            return
        for target in call.choices[~closure][2]:
            visit(target)

    visit(call.closure)
    return found


def reachable_choices(call: _codegen.CodegenCall) -> list[int]:
    """Returns the indices of a call's choices that are made at run time."""
    found: list[int] = []
    todo = [call.closure]
    while todo:
        closure = todo.pop()
        if closure < 0 and ~closure not in found:
            found.append(~closure)
            todo += call.choices[~closure][2]
    return found


def region_of(plan: _codegen.CodegenPlan, call: _codegen.CodegenCall) -> list[int]:
    """Returns the indices of the graphs that a call may run, including those of tail calls."""
    found: list[int] = []
    todo = [call]
    while todo:
        one = todo.pop(0)
        for branch in reachable_branches(one):
            graph = one.branches[branch][0]
            if graph >= 0 and graph not in found:
                found.append(graph)
                if (tail := tail_of(plan, graph)) is not None:
                    todo.append(tail)
    return found


def tail_of(plan: _codegen.CodegenPlan, graph: int) -> _codegen.CodegenCall | None:
    """Returns the tail call of a graph, whose results are those of the graph; None if there is none."""
    items = plan.graphs[graph].items
    if not items or items[-1] >= 0:
        return None
    call = plan.calls[~items[-1]]
    return call if call.is_tail else None


def needed_tensors(plan: _codegen.CodegenPlan) -> set[int]:
    """Returns the numbers of the needed tensors. A call is needed if one of its outputs is, or if it assigns a
    variable."""
    graphs, calls, steps = plan.graphs, plan.calls, plan.steps  # each access makes a new list
    regions = {number: region_of(plan, call) for number, call in enumerate(calls) if not call.is_tail}
    needed = set(plan.outputs)
    needed |= {tensor for graph in graphs for _, tensor in graph.writes}

    def branches(call: _codegen.CodegenCall) -> None:
        needed.update(call.choices[number][0] for number in reachable_choices(call))
        for number in reachable_branches(call):
            graph, arguments = call.branches[number]
            needed.update(one for one, given in zip(arguments, graphs[graph].inputs, strict=True) if given in needed)

    before = -1
    while len(needed) != before:
        before = len(needed)
        for graph in reversed(graphs):
            for item in reversed(graph.items):
                if item >= 0:
                    step = steps[item]
                    if needed.intersection(step.outputs):
                        needed.update(step.inputs)
                elif calls[~item].is_tail:
                    branches(calls[~item])
                elif is_needed(plan, ~item, needed):
                    branches(calls[~item])
                    for number in regions[~item]:
                        if tail_of(plan, number) is None:
                            results = zip(calls[~item].outputs, graphs[number].outputs, strict=False)
                            needed.update(own for output, own in results if output in needed)
    return needed


def is_needed(plan: _codegen.CodegenPlan, number: int, needed: set[int]) -> bool:
    """Returns whether call `number`, which is not a tail call, must run."""
    call = plan.calls[number]
    return bool(needed.intersection(call.outputs)) or any(_writes(plan, graph) for graph in region_of(plan, call))


def _writes(plan: _codegen.CodegenPlan, graph: int) -> bool:
    """Returns whether a graph, or a graph that it calls, assigns a variable."""
    own = plan.graphs[graph]
    return bool(own.writes) or any(
        _writes(plan, inner)
        for item in own.items
        if item < 0 and not plan.calls[~item].is_tail
        for inner in region_of(plan, plan.calls[~item])
    )
