"""Copies modules: nodes and values are copied, arrays are shared."""

from __future__ import annotations

from .graph import Graph, Module, Node, Value


def copy_module(module: Module) -> Module:
    """Returns a copy of a module; arrays and operators are shared."""
    made: dict[int, Value] = {}

    def value(source: Value) -> Value:
        if id(source) not in made:
            made[id(source)] = Value(
                source.name,
                source.dtype,
                source.shape,
                data=source.data,
                format=source.format,
                quant=source.quant,
                raw=source.raw,
                encoding=source.encoding,
            )
        return made[id(source)]

    graphs = []
    for graph in module.graphs:
        copy = Graph(graph.name, [value(item) for item in graph.inputs])
        for node in graph.nodes:
            inputs = tuple(value(item) for item in node.inputs)
            outputs = tuple(value(item) for item in node.outputs)
            copy.nodes.append(Node(node.op, node.name, inputs, outputs, node.quant_type, node.source))
        copy.outputs = [value(item) for item in graph.outputs]
        graphs.append(copy)
    ends = None if module.outputs is None else [value(item) for item in module.outputs]
    return Module(
        graphs,
        module.name,
        module.version,
        module.framework,
        list(module.notes),
        outputs=ends,
        layout=module.layout,
        memory_pool=module.memory_pool,
    )
