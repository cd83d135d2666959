"""Adds the operator com.example.Maxout to converter_lite: a node parser, shape inference, and a pass that simplifies it."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.registry import (
    Custom,
    CustomAttributes,
    FmkType,
    ForeignNode,
    Graph,
    Module,
    Node,
    PassPosition,
    TensorType,
    custom,
    custom_operator,
    node_parser,
    scheduled_pass,
)


@node_parser(FmkType.ONNX, "com.example.Maxout")
def parse_maxout(node: ForeignNode) -> Custom:
    """Converts the source node to a Custom node with the same input and output."""
    pieces = node.attribute("pieces")
    if pieces < 1:
        raise node.block(f"{pieces} pieces are not supported", "Use 1 or more", "pieces")
    return custom("Maxout", pieces=pieces, scale=node.attribute("scale", 1.0))


@custom_operator("Maxout")
def maxout_shape(inputs: Sequence[TensorType], attributes: CustomAttributes) -> TensorType:
    """[..., channels] -> [..., channels / pieces]"""
    (x,) = inputs
    *batch, channels = x.shape
    pieces = attributes.integer("pieces")
    if channels % pieces:
        raise ValueError(f"{channels} channels cannot be divided into groups of {pieces}")
    return TensorType(x.dtype, (*batch, channels // pieces))


@scheduled_pass(PassPosition.BEGIN, "MaxoutScaleFusion")
def fold_factor(module: Module) -> None:
    """Fuses Maxout and a multiplication by a scalar constant to a Maxout with another scale."""
    for graph in module.graphs:
        for node in list(graph.nodes):
            if node.op.name == "MulFusion":
                fold_into_maxout(graph, node)


def fold_into_maxout(graph: Graph, product: Node) -> None:
    maxout, factor = product.inputs[0].producer, product.inputs[1].data
    if maxout is None or not isinstance(maxout.op, Custom) or maxout.op.type != "Maxout":
        return
    if factor is None or factor.size != 1 or len(maxout.output.users) > 1:
        return
    attributes = CustomAttributes(maxout.op)
    scale = attributes.real("scale") * float(factor.item())
    maxout.op = custom("Maxout", pieces=attributes.integer("pieces"), scale=scale)
    graph.replace_uses(product.output, maxout.output)  # unused nodes are removed afterwards
