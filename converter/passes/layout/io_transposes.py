"""Inserts Transposes at inputs and outputs of an NHWC graph."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.passes.layout.permutation import Perm, inverse, permuted


def transpose_input(graph: Graph, value: Value, perm: Perm) -> None:
    """Changes input `value` to layout `perm` and inserts a Transpose after it."""
    assert value.shape is not None
    inside = Value(f"{value.name}_nc2nh", value.dtype, value.shape, format=Format.NHWC, quant=value.quant)
    graph.replace_uses(value, inside)
    value.shape, value.format = permuted(value.shape, perm), Format.NCHW
    side = constant(f"{inside.name}_perm", np.array(inverse(perm), np.int32))
    graph.nodes.insert(0, Node(Transpose(), inside.name, (value, side), (inside,)))


def transpose_output(graph: Graph, value: Value, perm: Perm) -> Value:
    """Returns a new output with the name of `value`, in layout `perm`."""
    assert value.shape is not None
    name = value.name
    outside = Value(name, value.dtype, permuted(value.shape, perm), format=Format.NCHW, quant=value.quant)
    if value not in graph.inputs:
        value.name = f"{name}_nhwc"
    side = constant(f"{name}_perm", np.array(perm, np.int32))
    graph.nodes.append(Node(Transpose(), f"{name}_nh2nc", (value, side), (outside,)))
    return outside
