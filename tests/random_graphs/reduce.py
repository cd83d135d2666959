"""Finds a smaller graph with the same problem: intermediate values become inputs, outputs are removed."""

from __future__ import annotations

from collections.abc import Callable, Collection

from onnx import helper

from .evaluate import operand_names
from .graphs import RandomGraph


def reduced(graph: RandomGraph, fails: Callable[[RandomGraph], bool]) -> RandomGraph:
    """Returns the smallest failing graph that was found by cutting the given one at many values, one at a time."""
    names = [output.name for output in graph.model.graph.output]
    for name in names if len(names) > 1 else []:
        if fails(smaller := part(graph, [name], [])):
            graph = smaller
            break
    cuts: list[str] = []
    outputs = [output.name for output in graph.model.graph.output]
    changed = True
    while changed:
        changed = False
        for node in list(graph.model.graph.node)[::-1]:
            made = [name for name in node.output if name in graph.values and not graph.values[name].constant]
            tries = [(outputs, [*cuts, *made])]
            tries += [([name], cuts) for name in made if [name] != outputs]
            tries += [([name for name in outputs if name not in made], cuts)]
            for wanted, removed in tries:
                if not wanted or set(wanted) & set(removed):
                    continue
                smaller = part(graph, wanted, removed)
                count = len(smaller.model.graph.node)
                if 0 < count < len(graph.model.graph.node) and fails(smaller):
                    graph, outputs, cuts, changed = smaller, list(wanted), list(removed), True
                    break
            if changed:
                break
    return graph


def part(graph: RandomGraph, outputs: Collection[str], cuts: Collection[str]) -> RandomGraph:
    """Returns the subgraph for the named outputs; the values in `cuts` become inputs."""
    whole = graph.model.graph
    needed, nodes = set(outputs) - set(cuts), []
    for node in reversed(whole.node):
        if needed & set(node.output) - set(cuts):
            nodes.append(node)
            needed |= operand_names(node)
    nodes.reverse()
    made = {name for node in nodes for name in node.output}
    tensors = [tensor for tensor in whole.initializer if tensor.name in needed]
    held = {tensor.name for tensor in tensors}
    inputs = [value for value in whole.input if value.name in needed]
    known = {value.name for value in inputs}
    for name in sorted((needed - made - held - known) & set(graph.values)) + sorted(set(cuts) & needed & made):
        value = graph.values[name]
        sizes = [size if value.fixed(axis) else "batch" if axis == 0 else None for axis, size in enumerate(value.shape)]
        inputs.append(helper.make_tensor_value_info(name, value.element, sizes))
    nodes = [node for node in nodes if not set(node.output) & set(cuts)]
    kept = [value for value in whole.output if value.name in outputs]
    there = {value.name for value in kept}
    for name in outputs:
        if name not in there:
            kept.append(helper.make_tensor_value_info(name, graph.values[name].element, None))
    made_graph = helper.make_graph(nodes, "reduced", inputs, kept, tensors)
    model = helper.make_model(made_graph, opset_imports=graph.model.opset_import, ir_version=graph.model.ir_version)
    return RandomGraph(model, graph.values, [node.op_type for node in nodes])
