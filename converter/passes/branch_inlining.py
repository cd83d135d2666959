"""Inlines branches with a constant condition into the graph that calls them."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch
from mslite.converter.passes.context import Context
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.graph_edit import changed, live_nodes
from mslite.converter.passes.inference import infer_shapes


def inline_branches(module: Module, context: Context) -> None:
    """Inlines each subgraph with exactly one call, if the condition of the call is constant.

    An inlined branch can make further conditions constant, so inference and folding run after each.
    """
    while _inline_one(module):
        for graph in module.graphs:
            graph.nodes = live_nodes(graph)
        infer_shapes(module, context)
        fold_constants(module, context)
    _drop_unused(module)


def _inline_one(module: Module) -> bool:
    for graph in module.graphs:
        for node in graph.nodes:
            closure = _certain_closure(node)
            if closure is None:
                continue
            callee = module.graphs[closure.op.sub_graph_index]  # type: ignore[attr-defined]
            if callee is graph or callee is module.main or len(_callers(module, callee)) != 1:
                continue
            _inline(module, graph, node, closure, callee)
            return True
    return False


def _certain_closure(node: Node) -> Node | None:
    """Returns the PartialFusion that a Call always runs because its condition is constant, or None."""
    if not isinstance(node.op, Call):
        return None
    producer = node.inputs[0].producer
    if producer is None or not isinstance(producer.op, Switch) or producer.inputs[0].data is None:
        return None
    taken = producer.inputs[1 if bool(producer.inputs[0].data.reshape(-1)[0]) else 2].producer
    return taken if taken is not None and isinstance(taken.op, PartialFusion) else None


def _callers(module: Module, callee: Graph) -> list[Node]:
    return [
        node
        for graph in module.graphs
        for node in graph.nodes
        if isinstance(node.op, PartialFusion) and module.graphs[node.op.sub_graph_index] is callee
    ]


def _inline(module: Module, graph: Graph, call: Node, closure: Node, callee: Graph) -> None:
    assert isinstance(call.op, Call)
    for parameter, argument in zip(callee.inputs, closure.inputs, strict=True):
        callee.replace_uses(parameter, argument)
    for node in callee.nodes:
        if isinstance(node.op, Call):
            node.op = changed(node.op, is_tail_call=node.op.is_tail_call and call.op.is_tail_call)
    graph.insert_before(call, *callee.nodes)
    ends_here = module.outputs is not None and module.outputs == callee.outputs
    for mine, result in zip(call.outputs, callee.outputs, strict=True):
        _take_over(graph, mine, result, ends_here)
    graph.remove(call)
    if ends_here:
        module.outputs = None if graph is module.main else list(graph.outputs)
    callee.nodes, callee.inputs, callee.outputs = [], [], []


def _take_over(graph: Graph, mine: Value, result: Value, keeps_name: bool) -> None:
    """Replaces an output of the call by `result`; an output of the graph keeps its name."""
    if mine in graph.outputs and result not in graph.outputs and result not in graph.inputs and not keeps_name:
        mine.name, result.name = result.name, mine.name
    graph.replace_uses(mine, result)


def _drop_unused(module: Module) -> None:
    """Removes graphs that nothing calls, and renumbers the others."""
    while True:
        used = {id(module.main)} | {
            id(module.graphs[node.op.sub_graph_index])
            for graph in module.graphs
            for node in graph.nodes
            if isinstance(node.op, PartialFusion)
        }
        kept = [graph for graph in module.graphs if id(graph) in used]
        if len(kept) == len(module.graphs):
            return
        number = {id(graph): index for index, graph in enumerate(kept)}
        for graph in kept:
            for node in graph.nodes:
                if isinstance(node.op, PartialFusion):
                    target = number[id(module.graphs[node.op.sub_graph_index])]
                    node.op = changed(node.op, sub_graph_index=target)
        for graph in module.graphs:
            if id(graph) not in used:
                for node in graph.nodes:
                    node.set_inputs(())
        module.graphs = kept
