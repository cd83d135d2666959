"""Replaces Custom nodes that earlier versions of mslite wrote by operators of MindSpore Lite."""

from __future__ import annotations

import dataclasses

from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DAddFusion, Conv2DFusion
from mslite.converter.passes.context import Context


def replace_legacy_operators(module: Module, context: Context) -> None:
    """Replaces Conv2DAddFusion by Conv2DFusion and AddFusion, which the runtime fuses when it loads the file."""
    for graph in module.graphs:
        for node in list(graph.nodes):
            if isinstance(node.op, Conv2DAddFusion) and (len(node.inputs), len(node.outputs)) == (4, 1):
                _split(graph, node, node.op)


def _split(graph: Graph, node: Node, op: Conv2DAddFusion) -> None:
    """Splits a node; the convolution gets its name, and the node itself becomes the residual add."""
    attributes = {field.name: getattr(op, field.name) for field in dataclasses.fields(op)}
    activation = attributes.pop("activation_type")
    x, weight, bias, residual = node.inputs
    y = node.outputs[0]
    convolved = Value(f"{node.name}_convolved", y.dtype, y.shape, format=y.format)
    if weight.is_static and weight.shape is not None and len(weight.shape) == 4:
        attributes |= {"out_channel": weight.shape[0], "in_channel": weight.shape[3] * op.group}
    convolution = Conv2DFusion(**attributes, mode=1)
    first = Node(convolution, node.name, (x, weight, bias), (convolved,), node.quant_type, node.source)
    graph.insert_before(node, first)
    node.name = f"{node.name}_sum"
    node.op = AddFusion(activation_type=activation)
    node.set_inputs((convolved, residual))
